"""Actors that share one thread, that of an event loop. They never wait, so none of them needs a thread of its own.

Whoever shares the loop's thread is told what the loop read, and tells it what to do, without anybody being woken:
between threads of one interpreter a hand-over costs more than most of what is handed over.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any, Generic

from actors.base import Actor, Host, Message, Ref

IN_A_ROW = 16  # messages of one actor, then it is another's turn
A_ROUND = 64  # turns, then the loop looks at its sockets again
A_TURN_S = 0.0005  # after so long it is another's turn, too; a message that takes longer is its actor's to divide
A_ROUND_S = 0.0005  # for those who go first, then for the others; then the loop looks at its sockets
QUIET_S = 0.002  # of the thread's time that an actor may take at once and still go first
QUIET_SHARE = 0.25  # of the thread's time, the same for good


class SharedThread:
    """Starts actors on the thread of `loop`, which runs already, and goes round those that have mail."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._first: deque[_Sharer] = deque()  # somebody waits for them, and they have taken little time lately
        self._due: deque[_Sharer] = deque()
        self._coming = False  # a round is scheduled; whoever becomes due is seen by it
        self._all_gone = threading.Condition()
        self._sharers: set[_Sharer] = set()

    def start(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        """Stands in for actors.base.start. `context` is bound to everything the actor logs."""
        sharer = _Sharer(actor, context, self._notice, self._forget)
        ref = actor.address
        with self._all_gone:
            self._sharers.add(sharer)
        sharer.enrol()
        self._notice(sharer)
        return ref

    def left(self, timeout_s: float) -> list[str]:
        """Who has not ended in this time, by name. From another thread."""
        with self._all_gone:
            self._all_gone.wait_for(lambda: not self._sharers, timeout_s)
            return sorted(sharer.name for sharer in self._sharers)

    def _notice(self, sharer: "_Sharer") -> None:
        """From any thread: it has mail."""
        self._enlist(sharer)
        if not self._coming:
            self._coming = True
            soon(self._loop, self._go_round)

    def _enlist(self, sharer: "_Sharer") -> None:
        """It may stand in both lines. Said before it is done, so that no entry goes without its word."""
        if sharer.goes_first:
            if not sharer.is_first:
                sharer.is_first = True
                self._first.append(sharer)
        elif not sharer.is_due:
            sharer.is_due = True
            self._due.append(sharer)

    def _go_round(self) -> None:
        """Whoever is due has a turn, and whoever becomes due by that; but the loop has more to do than this."""
        now = perf_counter()
        try:
            if self._first:
                now = self._serve_first(now, A_ROUND)
            if self._due:
                self._serve_others(now)
        finally:
            self._coming = False
            if self._first or self._due:  # looked at after that: who saw us coming a moment ago relied on it
                self._coming = True
                self._loop.call_soon(self._go_round)

    def _serve_first(self, now: float, turns: int) -> float:
        over = now + A_ROUND_S
        while self._first and turns and now < over:
            turns -= 1
            sharer = self._first.popleft()
            if sharer.is_first:
                sharer.is_first = False
                now = self._serve(sharer, now)
        return now

    def _serve_others(self, now: float) -> None:
        """At least one of them, however many go first; and who goes first does so here, too."""
        turns, over = A_ROUND, now + A_ROUND_S
        while self._due and turns and now < over:
            turns -= 1
            sharer = self._due.popleft()
            if sharer.is_due:
                sharer.is_due = False
                now = self._serve(sharer, now)
            if self._first:
                now = self._serve_first(now, 1)

    def _serve(self, sharer: "_Sharer", now: float) -> float:
        """The time when it had its turn."""
        more, now = sharer.take_turn(IN_A_ROW, now)
        if more:
            self._enlist(sharer)
        return now

    def _forget(self, sharer: "_Sharer") -> None:
        with self._all_gone:
            self._sharers.discard(sharer)
            self._all_gone.notify_all()


def soon(loop: asyncio.AbstractEventLoop, do: Callable[..., object], *what: object) -> None:
    """From any thread. Who is on the loop already need not wake it; a loop that is closed does nothing more."""
    if asyncio._get_running_loop() is loop:  # noqa: SLF001  # the public one raises where there is none, which is slow
        loop.call_soon(do, *what)
    else:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(do, *what)


class LoopAddress(Generic[Message]):
    """An address that any thread may tell; what it is told arrives on the loop."""

    __slots__ = ("_loop", "_take")

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[Message], object]) -> None:
        self._loop = loop
        self._take = take

    def tell(self, message: Message) -> None:
        soon(self._loop, self._take, message)


class _Sharer(Host):
    """pykka's loop, a few messages of it at a time."""

    def __init__(
        self,
        actor: Actor[Any],
        context: dict[str, str],
        notice: "Callable[[_Sharer], None]",
        forget: "Callable[[_Sharer], None]",
    ) -> None:
        super().__init__(actor, context)
        self._logging = contextvars.copy_context()
        self._started = False
        self._forget = forget
        self.is_first = self.is_due = False  # it stands there
        self._allowed_s = QUIET_S
        self._served = 0.0
        mailbox = self._mail = self.mailbox  # which is looked up otherwise, each time
        mailbox.patient = actor.patient
        mailbox.ring = mailbox.hurry = lambda: notice(self)

    @property
    def name(self) -> str:
        return self._actor.name

    @property
    def goes_first(self) -> bool:
        if not self._mail.hurried:
            return False
        return self._allowed_s > 0.0 or self._allowed_s + (perf_counter() - self._served) * QUIET_SHARE > 0.0

    def take_turn(self, limit: int, began: float) -> tuple[bool, float]:
        """True if there may be more to do, and the time. `began`: the time now."""
        more, now = self._logging.run(self._take_turn, limit, began)
        allowed_s = self._allowed_s + (began - self._served) * QUIET_SHARE
        allowed_s = (min(QUIET_S, allowed_s)) - (now - began)
        self._allowed_s, self._served = max(-QUIET_S, allowed_s), now
        return more, now

    def _take_turn(self, limit: int, now: float) -> tuple[bool, float]:
        if not self._started:
            self._started = True
            self._actor_loop_setup()
        mailbox, stopped, over = self._mail, self.actor_stopped.is_set, now + A_TURN_S
        for _ in range(limit):
            if stopped():
                self._actor_loop_teardown()
                self.end()
                self._forget(self)
                return False, perf_counter()
            envelope = mailbox.get_now()
            if envelope is None:
                return False, now
            self.handle(envelope)
            now = perf_counter()
            if now > over:
                break
        return True, now
