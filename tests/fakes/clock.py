"""A clock that stands still until a test moves it."""

import contextlib
import heapq
import itertools
from typing import Any

from actors.messages.conversation import Address
from actors.runtime.clock import Message
from actors.vocabulary.errors import GreenroomError


class ManualClock:
    def __init__(self, now: float = 1_000_000.0) -> None:
        self._now = now
        self._due: list[tuple[float, int, Address[Any], Any]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    def tell_later(self, delay_s: float, address: Address[Message], message: Message) -> None:
        heapq.heappush(self._due, (self._now + delay_s, next(self._order), address, message))

    def advance(self, seconds: float) -> None:
        """Let time pass; every timer that is due fires, oldest first."""
        self._now += seconds
        while self._due and self._due[0][0] <= self._now:
            _, _, address, message = heapq.heappop(self._due)
            with contextlib.suppress(GreenroomError):  # as with the real one: gone is gone
                address.tell(message)
