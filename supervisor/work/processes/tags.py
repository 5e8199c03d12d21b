"""A number for each command, which its processes inherit and can't raise again: the limit of file locks.

No kernel since 2.4.25 uses that limit, but each passes it on by fork and exec, and only root may raise it. The daemon
lowers its own by one before each command and by one after it, so no two commands share a number; other children of
the daemon have the numbers in between. Linux only, loop thread only.
"""

import resource
from pathlib import Path
from random import SystemRandom

from msgspec import Struct

LIMIT_LOCKS = 10  # RLIMIT_LOCKS, on every processor
WIDTH = 1 << 32  # numbers of a daemon's life: two for each command
INFINITE = 1 << 62
SPAN = "span"


class Span(Struct, frozen=True):
    """The numbers of a daemon's life. From the top down every second number belongs to a command."""

    top: int

    def holds(self, tag: int | None) -> bool:
        """Tell whether a command of that life has the number; the daemon's other children have an even distance."""
        return tag is not None and self.top - WIDTH < tag <= self.top and (self.top - tag) % 2 == 1


class Tags:
    """The numbers of the running process; a lowered limit can't be raised again."""

    def __init__(self) -> None:
        hard = resource.getrlimit(LIMIT_LOCKS)[1]
        ceiling = INFINITE if hard == resource.RLIM_INFINITY else min(hard, INFINITE)
        places = (ceiling >> 6) // WIDTH
        # Below all numbers that our ancestors may still use; another daemon's are the same only by a chance of one in
        # millions.
        top = ceiling - (1 + SystemRandom().randrange(places)) * WIDTH if places else 0
        self.span = Span(top) if top else None  # an ancestor has left no room
        self._last = top

    def lower(self) -> int | None:
        """Lower the limit, and return the number that is inherited from now on."""
        if self.span is None or self._last <= self.span.top - WIDTH + 2:
            return None
        self._last -= 1
        resource.setrlimit(LIMIT_LOCKS, (self._last, self._last))
        return self._last


class ProcessLedger:
    """The numbers on disk, for the daemon that starts after a kill: an empty file for each life, named by them.

    An empty file can't be torn and needs no repair. Nothing is synced: after a kill the kernel still has the page
    cache, and after a power cut no process runs any more.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def claim(self, boot: str, top: int) -> None:
        """Record the numbers of this life's commands."""
        (self._directory / f"{SPAN}.{top}.{boot}").touch()

    def claims(self) -> list[tuple[str, int]]:
        """Read the numbers; other files are left alone."""
        names = (path.name.split(".", 2) for path in self._directory.glob(f"{SPAN}.*.*"))
        return [(boot, int(top)) for _, top, boot in names if top.isdigit()]

    def withdraw(self, boot: str, top: int) -> None:
        (self._directory / f"{SPAN}.{top}.{boot}").unlink(missing_ok=True)
