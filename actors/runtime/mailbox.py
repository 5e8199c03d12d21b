"""The mailbox of an actor: two lanes, bounded, and closed for good when the actor ends.

pykka's own inbox is an unbounded queue without priorities that swallows what is told to a dying actor. Here the first
lane goes before the second, a full first lane refuses its sender, and `close` returns the unhandled messages.
"""

import threading
from collections import deque
from collections.abc import Callable

from pykka import Future
from pykka._envelope import Envelope  # the inbox is pykka's own hook, and this is what passes through it

from actors.runtime.lanes import FIRST_LANE, makes_work
from actors.vocabulary.errors import ActorGone, MailboxFull

CAPACITY = 1024  # commands that may wait; each client has far fewer in flight
IN_A_ROW = 32  # so many of the first lane, then one of the second, so that a busy client starves nobody


class Mailbox:
    """Two lanes of messages. Any thread puts, one thread gets; `ring` wakes it, once until it has come."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._first: deque[Envelope[object]] = deque()
        self._second: deque[Envelope[object]] = deque()
        self._guard = threading.Lock()
        self._bell = threading.Lock()  # free when it has rung: half the price of a Condition, for one sleeper
        self._bell.acquire()
        self.ring: Callable[[], None] = self._bell.release  # wakes the owner; one that shares a thread passes its own
        self.patient: frozenset[type] = frozenset()  # kinds of messages that can wait
        self.hurry: Callable[[], None] = _nothing  # called when an urgent message comes to an owner that is awake
        self.is_urgent = False  # such a message has come since the mailbox was empty
        self._asleep = False
        self._capacity = capacity
        self._counted = 0  # messages of the first lane that could have been refused
        self._closed = False
        self._in_a_row = 0

    def put(self, envelope: Envelope[object]) -> None:
        kind = type(envelope.message)
        with self._guard:
            if self._closed:
                raise ActorGone("the actor has ended")
            if kind not in FIRST_LANE:
                self._second.append(envelope)
            elif not makes_work(envelope.message):
                self._first.append(envelope)
            elif self._counted < self._capacity:
                self._counted += 1
                self._first.append(envelope)
            else:
                raise MailboxFull(f"{self._capacity} commands wait already")
            if not self.is_urgent and kind not in self.patient:
                self.is_urgent = True
                if not self._asleep:
                    self.hurry()
            if self._asleep:
                self._asleep = False
                self.ring()

    def get(self) -> Envelope[object]:
        """The next message, for an owner with a thread of its own, which sleeps meanwhile."""
        while (envelope := self.get_now()) is None:
            self._bell.acquire()
        return envelope

    def get_now(self) -> Envelope[object] | None:
        """The next message, for an owner that shares its thread; None means that `ring` will be called again."""
        with self._guard:
            first, second = self._first, self._second
            if first and (self._in_a_row < IN_A_ROW or not second):
                self._in_a_row += 1
                envelope = first.popleft()
                self._counted -= makes_work(envelope.message)
                return envelope
            self._in_a_row = 0
            if second:
                return second.popleft()
            self._asleep, self.is_urgent = True, False
            return None

    def take(self, kind: type, limit: int) -> list[object]:
        """Take the next messages, without waiting, as long as they are of this kind and need no reply."""
        taken: list[object] = []
        with self._guard:
            while len(taken) < limit and not self._first and self._second:
                envelope = self._second[0]
                if not isinstance(envelope.message, kind) or envelope.reply_to is not None:
                    break
                taken.append(self._second.popleft().message)
        return taken

    @property
    def commands_wait(self) -> bool:
        return bool(self._first)

    def empty(self) -> bool:
        return not (self._first or self._second)

    def close(self) -> tuple[object, ...]:
        """Refuse messages from now on. Returns the unhandled ones; an `ask` among them is refused now."""
        with self._guard:
            self._closed = True
            left = (*self._first, *self._second)
            self._first.clear()
            self._second.clear()
            self.ring = self.hurry = _nothing  # they know the owner, which would never be freed in that circle
        for envelope in left:
            _tell_gone(envelope.reply_to)
        return tuple(envelope.message for envelope in left if envelope.reply_to is None)

    def __len__(self) -> int:
        return len(self._first) + len(self._second)


def _nothing() -> None:
    """The hurry of an owner with a thread of its own, which comes to everything as soon as it can, or has ended."""


def _tell_gone(reply_to: "Future[object] | None") -> None:
    if reply_to is not None:
        error = ActorGone("the actor ended before it came to this")
        reply_to.set_exception((ActorGone, error, None))
