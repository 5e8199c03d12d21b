"""The process table of Linux, read a process at a time. Reads the whole of /proc only at the daemon's start.

The daemon is a sub-reaper: every process that a command leaves becomes its child, however it forked. So every root of
a tree is in its own list of children, and the kernel appends to that in the same step in which a parent dies.
"""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from supervisor.work.processes.command import MARKS
from supervisor.work.processes.table import Process

PR_SET_CHILD_SUBREAPER = 36
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
CLOCK_BOOTTIME = 7  # time.CLOCK_BOOTTIME exists on Linux only, for type checkers too
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def gather_orphans(on: bool) -> None:
    """Make processes that a command leaves become children of this process, if the system can."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot become a sub-reaper")


class ProcTable:
    def __init__(self) -> None:
        self.boot = BOOT_ID.read_text(encoding="ascii").strip()

    def now(self) -> int:
        return int(time.clock_gettime(CLOCK_BOOTTIME) * TICKS_PER_S)

    def refresh(self) -> None:
        pass  # nothing is kept

    def candidates(self) -> list[int]:
        """Read the children of two threads only: orphans come to the main thread, and we spawn from this one."""
        me = os.getpid()
        return [pid for tid in {me, threading.get_native_id()} for pid in _children_of_thread(me, tid)]

    def all_pids(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - far faster than Path

    def look(self, pid: int) -> Process | None:
        line = _glance(f"/proc/{pid}/stat")
        if not line:
            return None
        field = line[line.rindex(b")") + 2 :].split()  # the name before may hold brackets and blanks
        state, threads = field[0], int(field[17])
        dead = state in b"ZX" and threads <= 1  # a main thread may end before the others: that process lives
        return Process(pid, int(field[1]), int(field[2]), int(field[3]), int(field[19]), dead)

    def children(self, pid: int) -> list[int]:
        try:
            tids = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - far faster than Path
        except OSError:
            return []
        return [child for tid in tids for child in _children_of_thread(pid, int(tid))]

    def tag(self, pid: int) -> int | None:
        for line in _glance(f"/proc/{pid}/limits").splitlines():
            if line.startswith(b"Max file locks"):
                hard = line.split()[4]
                return int(hard) if hard.isdigit() else None
        return None

    def marks(self, pid: int) -> Mapping[str, str]:
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()  # may have to wait for the process
        except OSError:
            return {}
        pairs = (entry.partition(b"=") for entry in environ.split(b"\0") if entry.startswith(b"GREENROOM_"))
        named = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        return {mark: named[mark] for mark in MARKS if mark in named}


def _children_of_thread(pid: int, tid: int) -> Sequence[int]:
    return [int(child) for child in _glance(f"/proc/{pid}/task/{tid}/children").split()]


_libc = ctypes.PyDLL(None)  # calls made through it keep the interpreter's lock


def _glance(path: str) -> bytes:
    """Read a file that the kernel writes at once, without waiting for its process; empty if there is none.

    Keeps the interpreter's lock for these microseconds: to release it would mean to wait for it again, after every
    busy conversation, three times a file.
    """
    page = ctypes.create_string_buffer(4096)
    fd = _libc.open(path.encode(), os.O_RDONLY | os.O_CLOEXEC)
    if fd < 0:
        return b""
    parts = []
    while (size := _libc.read(fd, page, len(page))) > 0:
        parts.append(page.raw[:size])
    _libc.close(fd)
    return b"".join(parts)
