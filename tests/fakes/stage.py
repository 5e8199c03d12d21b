"""Runs real actors without threads: every message is delivered when, and in the order, that a test decides.

Each actor has its real part, mailbox and address, so a failure, a stop and a closed mailbox mean what they mean on
threads; only the thread is missing. `Stage.start` stands in for `actors.runtime.base.start`.
"""

import contextvars
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pykka._envelope import Envelope

from actors.runtime.base import Actor, Message, Ref

RESTLESS = 200_000  # so many messages in one go: the actors keep each other busy for nothing


class Stage:
    """Delivers in order of arrival by default; `shuffle` picks any actor that has mail."""

    def __init__(self, shuffle: random.Random | None = None) -> None:
        self.delivered = 0
        self.cast: list[Ref[Any]] = []
        self._parts: dict[int, _Part] = {}
        self._due: deque[_Part] = deque()
        self._held: set[_Part] = set()
        self._shuffle = shuffle

    def start(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        del context
        part = _Part(actor, self._due.append)
        ref = actor.address = actor._actor_ref = _StagedRef(self, part)
        self.cast.append(ref)
        self._parts[id(ref)] = part
        self._due.append(part)  # its on_start
        return ref

    def run(self, until: Callable[[], bool] | None = None) -> None:
        """Deliver until no actor that may act has mail, or until a condition holds."""
        for _ in range(RESTLESS):
            if (until is not None and until()) or not self.step():
                return
        raise AssertionError("the actors don't come to rest")

    def step(self) -> bool:
        """Deliver one message. False if there is none for anybody who is not held back."""
        part = self._next()
        if part is None:
            return False
        self._deliver(part)
        return True

    def deliver(self, ref: Ref[Any], count: int = 1) -> None:
        """The next messages go to this one, held back or not."""
        part = self._parts[id(ref)]
        for _ in range(count):
            assert part in self._due, f"no mail for {ref}"
            self._due.remove(part)
            self._deliver(part)

    @contextmanager
    def holding(self, *refs: Ref[Any]) -> Iterator[None]:
        """These get nothing meanwhile; their mail waits."""
        parts = {self._parts[id(ref)] for ref in refs}
        self._held |= parts
        yield
        self._held -= parts

    def run_until_ended(self, part: "_Part") -> bool:
        while not part.actor.address.has_ended and part in self._due:
            self._due.remove(part)
            self._deliver(part)
        return part.actor.address.has_ended

    def _next(self) -> "_Part | None":
        if self._shuffle is not None and len(self._due) > 1:
            self._due.rotate(-self._shuffle.randrange(len(self._due)))
        for _ in range(len(self._due)):
            part = self._due.popleft()
            if part not in self._held:
                return part
            self._due.append(part)
        return None

    def _deliver(self, part: "_Part") -> None:
        if part.take_one():
            self.delivered += 1


class _Part:
    """An actor on the stage: its own loop, one message of it at a time."""

    def __init__(self, actor: Actor[Any], noticed: "Callable[[_Part], None]") -> None:
        self.actor = actor
        self._logging = contextvars.copy_context()
        self._started = False
        put = actor.mailbox.put

        def put_and_notice(envelope: Envelope[object]) -> None:
            put(envelope)
            noticed(self)

        actor.mailbox.put = put_and_notice  # type: ignore[method-assign]  # one entry for each message, not one ring

    def take_one(self) -> bool:
        """Handle one message. False if it is gone: taken together with another, or with its actor."""
        thread = threading.current_thread()
        name = thread.name
        try:
            return self._logging.copy().run(self._take_one)
        finally:
            thread.name = name
            if self.actor.actor_stopped.is_set():
                self.actor.address.close()

    def _take_one(self) -> bool:
        actor = self.actor
        if actor.actor_stopped.is_set():
            return False
        if not self._started:
            self._started = True
            actor._actor_loop_setup()
            return True
        if actor.mailbox.empty():
            return False
        actor.handle(actor.mailbox.get())
        return True


class _StagedRef(Ref[Any]):
    def __init__(self, stage: Stage, part: _Part) -> None:
        super().__init__(part.actor)
        self._stage = stage
        self._part = part

    def wait_for_end(self, timeout: float | None) -> bool:
        """Deliver what is in its mailbox, as there is nothing to wait for."""
        del timeout
        return self._stage.run_until_ended(self._part)
