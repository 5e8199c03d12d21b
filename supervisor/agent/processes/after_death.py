"""A program that ends the commands of a daemon that was killed, at once and not at the next start. Linux only.

It reads from a pipe that only the daemon holds. A word means that all is in order; an end without a word means that
nobody is left to end what runs. Whatever bears the mark of that one life, and what descends from it, is ended then;
the next life has a mark of its own, so the two never meet. Standard library only, no package: it is kept small.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator

LOOK_AGAIN_S = 0.02  # to look at everybody takes some milliseconds
GIVE_UP_S = 5.0  # after the grace: what still lives is another user's, or stuck in the kernel
DEAF_TO = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)  # what is said to the whole group is meant for the daemon


def main(mark: str, grace_s: float) -> None:
    for signum in DEAF_TO:
        signal.signal(signum, signal.SIG_IGN)
    if not os.read(0, 1):
        _end(os.fsencode(mark), time.monotonic() + grace_s)


def _end(mark: bytes, deadline: float) -> None:
    """TERM once to each, and when the grace is over KILL until nothing is found."""
    asked: set[int] = set()
    while (found := _found(mark)) and (now := time.monotonic()) < deadline + GIVE_UP_S:
        for pid in found:
            if now >= deadline:
                _signal(pid, signal.SIGKILL)
            elif pid not in asked:
                asked.add(pid)
                _signal(pid, signal.SIGTERM)
                _signal(pid, signal.SIGCONT)  # what is stopped would not hear it
        time.sleep(LOOK_AGAIN_S)


def _found(mark: bytes) -> set[int]:
    parents = dict(_living())
    found = {pid for pid in parents if _bears(pid, mark)}
    while below := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= below
    return found


def _living() -> Iterator[tuple[int, int]]:
    """Each with its parent."""
    for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib takes as long to load as all the rest
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  # the same
                state, parent, *_ = file.read().rpartition(b")")[2].split()
                if state not in b"ZX":
                    yield int(name), int(parent)


def _bears(pid: int, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123  # the same
            return any(entry.startswith(mark) for entry in file.read().split(b"\0"))
    except OSError:
        return False  # another user's, or gone


def _signal(pid: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signum)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
