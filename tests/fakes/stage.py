"""Runs real actors without threads: every message is delivered when, and in the order, that a test decides.

Each actor has its real host, mailbox and address, so a failure, a stop and a closed mailbox mean what they mean on
threads; only the thread is missing. `Stage.start` stands in for `actors.base.start`.
"""

import contextvars
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pykka._envelope import Envelope

from actors.base import Actor, Host, Message, Ref
from actors.errors import TooManySessions
from actors.mailbox import Mailbox

RESTLESS = 200_000  # so many messages in one go: the actors keep each other busy for nothing


class Stage:
    """First come, first served by default; `shuffle` picks anybody who has mail."""

    def __init__(self, shuffle: random.Random | None = None) -> None:
        self.delivered = 0
        self.room = True  # False: no thread can be started
        self.cast: list[Ref[Any]] = []
        self._hosts: dict[int, _StagedHost] = {}
        self._due: deque[_StagedHost] = deque()
        self._held: set[_StagedHost] = set()
        self._shuffle = shuffle

    def start(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        if not self.room:
            raise TooManySessions(f"no thread for {actor.name}: the stage is full")
        host = _StagedHost(actor, context)
        host.mailbox_of_stage.noticed = lambda: self._due.append(host)
        ref = actor.address = _StagedRef(self, host, actor.name)
        self.cast.append(ref)
        self._hosts[id(ref)] = host
        self._due.append(host)  # its on_start
        return ref

    def run(self, until: Callable[[], bool] | None = None) -> None:
        """Deliver until nobody who may act has mail, or until something is so."""
        for _ in range(RESTLESS):
            if (until is not None and until()) or not self.step():
                return
        raise AssertionError("the actors don't come to rest")

    def step(self) -> bool:
        """Deliver one message. False if there is none for anybody who is not held back."""
        host = self._next()
        if host is None:
            return False
        self._deliver(host)
        return True

    def deliver(self, ref: Ref[Any], count: int = 1) -> None:
        """The next messages go to this one, held back or not."""
        host = self._hosts[id(ref)]
        for _ in range(count):
            assert host in self._due, f"no mail for {ref}"
            self._due.remove(host)
            self._deliver(host)

    @contextmanager
    def holding(self, *refs: Ref[Any]) -> Iterator[None]:
        """These get nothing meanwhile; their mail waits."""
        hosts = {self._hosts[id(ref)] for ref in refs}
        self._held |= hosts
        yield
        self._held -= hosts

    def run_until_ended(self, host: "_StagedHost") -> bool:
        while not host.gone.is_set() and host in self._due:
            self._due.remove(host)
            self._deliver(host)
        return host.gone.is_set()

    def _next(self) -> "_StagedHost | None":
        if self._shuffle is not None and len(self._due) > 1:
            self._due.rotate(-self._shuffle.randrange(len(self._due)))
        for _ in range(len(self._due)):
            host = self._due.popleft()
            if host not in self._held:
                return host
            self._due.append(host)
        return None

    def _deliver(self, host: "_StagedHost") -> None:
        if host.take_one():
            self.delivered += 1


class _StagedMailbox(Mailbox):
    def __init__(self) -> None:
        super().__init__()
        self.noticed: Callable[[], None] = lambda: None

    def put(self, envelope: Envelope[object]) -> None:
        super().put(envelope)
        self.noticed()


class _StagedHost(Host):
    """pykka's loop, one turn of it at a time."""

    def __init__(self, actor: Actor[Any], context: dict[str, str]) -> None:
        super().__init__(actor, context)
        self._logging = contextvars.copy_context()
        self._started = False

    @staticmethod
    def _create_actor_inbox() -> Any:
        return _StagedMailbox()

    @property
    def mailbox_of_stage(self) -> _StagedMailbox:
        mailbox = self.mailbox
        assert isinstance(mailbox, _StagedMailbox)
        return mailbox

    def take_one(self) -> bool:
        """False if what was to be delivered is gone: taken together with another, or with its actor."""
        thread = threading.current_thread()
        name = thread.name
        try:
            return self._logging.copy().run(self._take_one)
        finally:
            thread.name = name
            if self.actor_stopped.is_set():
                self.gone.set()

    def _take_one(self) -> bool:
        if self.actor_stopped.is_set():
            return False
        if not self._started:
            self._started = True
            self._actor_loop_setup()
            return True
        if self.mailbox.empty():
            return False
        self.handle(self.mailbox.get())
        return True


class _StagedRef(Ref[Any]):
    __slots__ = ("_stage", "_staged")

    def __init__(self, stage: Stage, host: _StagedHost, name: str) -> None:
        super().__init__(host, name)
        self._stage = stage
        self._staged = host

    def ended(self, timeout_s: float) -> bool:
        """There is nothing to wait for: what it has in its mailbox is delivered instead."""
        del timeout_s
        return self._stage.run_until_ended(self._staged)
