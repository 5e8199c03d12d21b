"""Settings of the C library's allocator: keep little freed memory, as the daemon runs for months.

By default glibc keeps large freed blocks, a heap for each thread, and the gaps between blocks in use. After one large
patch or answer in each of a few workers that is hundreds of MiB of unused memory, and after hours of work some tens
more. With another C library nothing here has any effect.
"""

import ctypes
import platform
from collections.abc import Callable
from functools import partial

from actors.runtime.clock import Clock

MMAP_THRESHOLD, ARENA_MAX = -3, -8  # names of mallopt(3)
LARGE = 256 * 1024  # bytes; such a block has its own pages, which are returned when it is freed
ARENAS = 1  # shared, so that any thread can use memory that another has freed; each further heap keeps its own gaps
TRIM_EVERY_S = 60.0  # half a millisecond each time


def keep_little() -> None:
    """Set the allocator up for the whole process, before its threads are started."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(MMAP_THRESHOLD, LARGE)
        libc.mallopt(ARENA_MAX, ARENAS)


class MemoryTrimming:
    """A timer that returns unused pages to the system every minute. On the loop; a worker does the work."""

    def __init__(
        self, clock: Clock, in_worker: Callable[[Callable[[], object]], object], every_s: float = TRIM_EVERY_S
    ) -> None:
        self._clock = clock
        self._in_worker = in_worker
        self._every_s = every_s
        self._libc = _glibc()

    def begin(self) -> None:
        """Trim now, as the start itself leaves unused pages, and then every minute."""
        self.tell(_TRIM)

    def tell(self, _: str) -> None:
        if self._libc is not None:
            self._in_worker(partial(self._libc.malloc_trim, 0))
            self._clock.tell_later(self._every_s, self, _TRIM)


def _glibc() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


_TRIM = "trim"
