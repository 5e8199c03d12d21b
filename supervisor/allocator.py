"""How the C library keeps memory that was freed: as little as it can, for the daemon lives for months.

Its own way is to keep large blocks for whoever wants them next, and a heap for each thread: after one large patch or
answer in each of a few workers that is hundreds of MiB which nobody uses.
"""

import ctypes
import platform

MMAP_THRESHOLD, ARENA_MAX = -3, -8  # names of mallopt(3)
LARGE = 256 * 1024  # bytes; such a block has pages of its own, which go back when it is freed
ARENAS = 2  # the loop computes, and workers one at a time: the interpreter's lock sees to that


def give_back() -> None:
    """For the whole process; before its threads are started. Nothing where the C library is another one."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(MMAP_THRESHOLD, LARGE)
        libc.mallopt(ARENA_MAX, ARENAS)
