"""A program that ends the commands of a killed daemon at once, and not at the next start. Linux only.

It reads from a pipe that only the daemon holds. A byte means an orderly end; an end of the pipe without a byte means
that the daemon was killed. Then every process that has the mark of that daemon's life, or has inherited a number of
its commands, is ended with its descendants; the next daemon's marks are others, so the two don't meet. Standard
library only, no package: it is kept small.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

LOOK_AGAIN_S = 0.02  # listing all processes takes some milliseconds
GIVE_UP_S = 5.0  # after the grace; a process that still lives is another user's, or stuck in the kernel
IGNORED_SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGTERM,
)  # signals to the whole group are meant for the daemon


def main(mark: str, grace_s: float, top: int, width: int) -> None:
    """Wait for the daemon's end. `top` and `width`: the numbers that commands of its life inherit, see tags.py."""
    for signum in IGNORED_SIGNALS:
        signal.signal(signum, signal.SIG_IGN)
    if not os.read(0, 1):
        _end(lambda pid: _is_ours(pid, os.fsencode(mark), top, width), time.monotonic() + grace_s)


def _is_ours(pid: int, mark: bytes, top: int, width: int) -> bool:
    """Tell whether a process belongs to that life: it has its mark, or a number of its commands."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  # the same
            if any(entry.startswith(mark) for entry in file.read().split(b"\0")):
                return True
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123  # the same
            hard = next((line.split()[4] for line in file if line.startswith(b"Max file locks")), b"")
    except OSError:
        return False  # another user's, or gone
    below = top - int(hard) if hard.isdigit() else -1
    return 0 <= below < width and below % 2 == 1


def _end(ours: Callable[[int], bool], deadline: float) -> None:
    """Send TERM once to each process, and after the grace KILL until none is found."""
    asked: set[int] = set()
    while (found := _find(ours)) and (now := time.monotonic()) < deadline + GIVE_UP_S:
        for pid in found:
            if now >= deadline:
                _signal(pid, signal.SIGKILL)
            elif pid not in asked:
                asked.add(pid)
                _signal(pid, signal.SIGTERM)
                _signal(pid, signal.SIGCONT)  # a stopped process would not receive it
        time.sleep(LOOK_AGAIN_S)


def _find(ours: Callable[[int], bool]) -> set[int]:
    parents = dict(_living())
    found = {pid for pid in parents if ours(pid)}
    while below := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= below
    return found


def _living() -> Iterator[tuple[int, int]]:
    """Yield all living processes, each with its parent."""
    for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib takes as long to load as everything else here
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  # the same
                state, parent, *_ = file.read().rpartition(b")")[2].split()
                if state not in b"ZX":
                    yield int(name), int(parent)


def _signal(pid: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
