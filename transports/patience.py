"""How long a client that costs everybody much has to wait. Pure: it is told what was spent, and when.

A message is handled in one go, and meanwhile nobody else is served. Most take microseconds and are not even counted.
A client may send a few that take long, as a picture of many megabytes does; if it sends one after the other, it has
the hundredth part of the time, so that its neighbours hardly ever meet one.
"""

HEAVY_S = 0.002  # of the processor for one message; less is not counted
AT_ONCE_S = 0.25  # a handful of large pictures
SHARE = 0.01
LONGEST_S = 10.0  # clients give up after 30


class Patience:
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
