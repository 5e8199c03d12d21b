"""Pauses for a client that costs much processor time, spent or still to come.

A message is handled in one go, and no other client is served meanwhile. Most take microseconds and are not even
counted. A client may send a few expensive messages, such as pictures of many megabytes; if it sends one after the
other, it gets a hundredth of the time, so that other clients hardly notice.
"""

import time

HEAVY_S = 0.002  # processor time of one message; less is not counted
LARGE = 2 * 1024 * 1024  # bytes of one message; an import comes in smaller messages, which are not counted
BYTE_S = 6e-9  # processor time still to come for each byte: it is encoded, stored and read again
ALLOWANCE_S = 0.25  # the free allowance: a handful of large pictures
SHARE = 0.01
LONGEST_S = 10.0  # a pause; clients give up after 30


class Throttle:
    """The account of one client. Pure: told the time that was spent, and when."""

    def __init__(self) -> None:
        self._left = ALLOWANCE_S
        self._seen = 0.0

    def pause_after(self, spent_s: float, now: float) -> float:
        """Seconds until the next message of this client is read; nearly always 0."""
        if spent_s < HEAVY_S:
            return 0.0
        self._left = min(ALLOWANCE_S, self._left + (now - self._seen) * SHARE) - spent_s
        self._seen = now
        return min(LONGEST_S, -self._left / SHARE) if self._left < 0 else 0.0


class Stopwatch:
    """The processor time of a long message. Not wall time: a busy machine is no client's fault.

    Reading the processor's clock takes longer than many a message, so it is read rarely, and after a long message.
    """

    def __init__(self) -> None:
        self._began = self._asked = 0.0
        self._spent = 0.0

    def begin(self) -> None:
        """Begin a message."""
        began = self._began = time.perf_counter()
        if began - self._asked > HEAVY_S / 2:
            self._asked, self._spent = began, time.thread_time()

    def took_s(self) -> float:
        """The wall time since the message began."""
        return time.perf_counter() - self._began

    def heavy_s(self) -> float:
        """The processor time of the message; 0.0 for a short one."""
        took = self.took_s()
        return min(took, time.thread_time() - self._spent) if took >= HEAVY_S else 0.0
