"""How long a client that costs everybody much has to wait, by what was spent on it and what is still to come.

A message is handled in one go, and meanwhile nobody else is served. Most take microseconds and are not even counted.
A client may send a few that take long, as a picture of many megabytes does; if it sends one after the other, it has
the hundredth part of the time, so that its neighbours hardly ever meet one.
"""

import time

HEAVY_S = 0.002  # of the processor for one message; less is not counted
LARGE = 2 * 1024 * 1024  # bytes of one message; an import comes in smaller ones, which are not counted
BYTE_S = 6e-9  # of the processor for each of them, once it is read: it is encoded, stored, and read again
AT_ONCE_S = 0.25  # a handful of large pictures
SHARE = 0.01
LONGEST_S = 10.0  # clients give up after 30


class Patience:
    """Pure: it is told what was spent, and when."""

    def __init__(self) -> None:
        self._left = AT_ONCE_S
        self._seen = 0.0

    def pause_after(self, spent_s: float, now: float) -> float:
        """Seconds until the next message of this client is looked at; 0 nearly always."""
        if spent_s < HEAVY_S:
            return 0.0
        self._left = min(AT_ONCE_S, self._left + (now - self._seen) * SHARE) - spent_s
        self._seen = now
        return min(LONGEST_S, -self._left / SHARE) if self._left < 0 else 0.0


class Stopwatch:
    """What a message took of the processor, as far as it matters: a busy machine is nobody's fault.

    The processor's clock takes longer than many a message, so it is asked once in a while, and when one took long.
    """

    def __init__(self) -> None:
        self._began = self._asked = 0.0
        self._spent = 0.0

    def begin(self) -> float:
        """The time now."""
        began = self._began = time.perf_counter()
        if began - self._asked > HEAVY_S / 2:
            self._asked, self._spent = began, time.thread_time()
        return began

    def heavy_s(self) -> float:
        """0.0 for a message that is light."""
        took = time.perf_counter() - self._began
        return min(took, time.thread_time() - self._spent) if took >= HEAVY_S else 0.0
