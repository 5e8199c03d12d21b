"""Actors that share one thread, that of an event loop. They never wait, so none of them needs a thread of its own.

No thread has to be woken between the loop and its actors: between threads of one interpreter a hand-over costs more
than most of what is handed over.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, Generic

from actors.runtime.base import Actor, Message, Ref

IN_A_ROW = 16  # messages of one actor, then it is another's turn
A_TURN_S = 0.0005  # after so long it is another's turn, too; a message that takes longer is its actor's to divide
A_ROUND_S = 0.0005  # for those who go first, then for the others; then the loop looks at its sockets


class SharedThread:
    """Starts actors on the thread of `loop`, which runs already, and serves those that have mail in turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._first: deque[_Place] = deque()  # their mail can't wait
        self._due: deque[_Place] = deque()
        self._coming = False  # a round is scheduled; an actor that becomes due is served by it
        self._all_gone = threading.Condition()
        self._places: set[_Place] = set()

    def start(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        """Start an actor here, as actors.runtime.base.start does on a thread of its own."""
        return actor.launch(context, lambda: self._take_in(_Place(actor, self._notice)))

    def wait_for_actors(self, timeout_s: float) -> list[str]:
        """The names of the actors that have not ended in this time. Called from another thread."""
        with self._all_gone:
            self._all_gone.wait_for(lambda: not self._places, timeout_s)
            return sorted(place.actor.name for place in self._places)

    def _take_in(self, place: "_Place") -> None:
        with self._all_gone:
            self._places.add(place)
        self._notice(place)

    def _notice(self, place: "_Place") -> None:
        """Schedule an actor that has mail. Called from any thread.

        It may be in both lines. A flag is set before the append: no entry lacks it.
        """
        if place.mailbox.is_urgent:
            if not place.is_first:
                place.is_first = True
                self._first.append(place)
        elif not place.is_due:
            place.is_due = True
            self._due.append(place)
        if not self._coming:
            self._coming = True
            call_on_loop(self._loop, self._go_round)

    def _go_round(self) -> None:
        """Serve the actors that are due or become due, for a bounded time, because the loop has other work.

        At least one of the others has a turn, however many go first.
        """
        now = perf_counter()
        try:
            over = now + A_ROUND_S
            while self._first and now < over:
                now = self._serve_first(now)
            over = now + A_ROUND_S
            while self._due and now < over:
                place = self._due.popleft()
                place.is_due = False
                now = self._serve(place, now)
                if self._first:
                    now = self._serve_first(now)
        finally:
            self._coming = False
            if self._first or self._due:  # after `_coming`: a thread that saw it set did not schedule
                self._coming = True
                self._loop.call_soon(self._go_round)

    def _serve_first(self, now: float) -> float:
        place = self._first.popleft()
        place.is_first = False
        return self._serve(place, now)

    def _serve(self, place: "_Place", now: float) -> float:
        """Give an actor its turn; returns the time after it."""
        more, now = place.logging.run(place.take_turn, now)
        if more:
            self._notice(place)
        elif place.ended:
            self._forget(place)
        return now

    def _forget(self, place: "_Place") -> None:
        with self._all_gone:
            self._places.discard(place)
            self._all_gone.notify_all()


def call_on_loop(loop: asyncio.AbstractEventLoop, do: Callable[..., object], *what: object) -> None:
    """Call this soon on the loop, from any thread. Its own thread needs no wake-up; a closed loop is ignored."""
    if asyncio._get_running_loop() is loop:  # noqa: SLF001  # the public one raises where there is none, which is slow
        loop.call_soon(do, *what)
    else:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(do, *what)


class LoopAddress(Generic[Message]):
    """An address that any thread may tell; the messages arrive on the loop."""

    __slots__ = ("_loop", "_take")

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[Message], object]) -> None:
        self._loop = loop
        self._take = take

    def tell(self, message: Message) -> None:
        call_on_loop(self._loop, self._take, message)


class _Place:
    """An actor among those that share the thread, and the lines it is in."""

    __slots__ = ("_started", "actor", "ended", "is_due", "is_first", "logging", "mailbox")

    def __init__(self, actor: Actor[Any], notice: "Callable[[_Place], None]") -> None:
        self.actor = actor
        self.mailbox = actor.mailbox
        self.is_first = self.is_due = False  # it is in that line
        self.logging = contextvars.copy_context()
        self.ended = False
        self._started = False
        actor.mailbox.patient = actor.patient
        actor.mailbox.ring = actor.mailbox.hurry = partial(notice, self)

    def take_turn(self, began: float) -> tuple[bool, float]:
        """Handle some messages; returns whether there may be more, and the time. `began`: the time now."""
        actor, now, more = self.actor, began, True
        if not self._started:
            self._started = True
            actor._actor_loop_setup()  # noqa: SLF001  # one of the points that base.py lists
        next_one, handle, over = self.mailbox.get_now, actor.handle, began + A_TURN_S
        for _ in range(IN_A_ROW):
            if (envelope := next_one()) is None:
                more = False
                break
            handle(envelope)
            now = perf_counter()
            if now > over:
                break
        if not more and actor.actor_stopped.is_set():  # its mailbox is closed, and so it is empty
            actor.address.close()
            self.ended = True
        return more, now
