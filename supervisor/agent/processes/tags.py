"""A number for each command that all it starts inherits, and that nobody can raise again: its limit of file locks.

No kernel since 2.4.25 looks at that limit, but each passes it on by fork and exec, and only root may raise it. A
daemon lowers its own by one before each command and by one after it, so a command's numbers are its alone; what the
daemon starts besides has one in between. Linux only, loop thread only.
"""

import resource
import secrets
from dataclasses import dataclass

LIMIT_LOCKS = 10  # RLIMIT_LOCKS, on every processor
WIDTH = 1 << 32  # numbers of one life: two for each command
INFINITE = 1 << 62


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers of one life of a daemon. From the top down every second one is a command's."""

    top: int

    def holds(self, tag: int | None) -> bool:
        """Whether it is the number of a command of that life; what else the daemon started has an even distance."""
        return tag is not None and self.top - WIDTH < tag <= self.top and (self.top - tag) % 2 == 1


class Tags:
    """One per process, as its limits are: what was lowered once stays so."""

    def __init__(self) -> None:
        hard = resource.getrlimit(LIMIT_LOCKS)[1]
        ceiling = INFINITE if hard == resource.RLIM_INFINITY else min(hard, INFINITE)
        places = (ceiling >> 6) // WIDTH
        # Below all that whoever started us may still give out, and nobody else's but by a chance of one in millions.
        top = ceiling - (1 + secrets.randbelow(places)) * WIDTH if places else 0
        self.span = Span(top) if top else None  # somebody has left us no room
        self._last = top

    def lower(self) -> int | None:
        """The number that is inherited from now on."""
        if self.span is None or self._last <= self.span.top - WIDTH + 2:
            return None
        self._last -= 1
        resource.setrlimit(LIMIT_LOCKS, (self._last, self._last))
        return self._last
