"""A process that stands still for as long as a test looks at it.

A signal is only an intention: on a busy machine a process goes on for tens of milliseconds after SIGSTOP was sent,
long enough to answer what must find it silent.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 10.0


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """Stop all threads of a process before the block begins; let it go on after the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _stands(pid):
            assert time.monotonic() < deadline, "SIGSTOP did not stop it"
            time.sleep(0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _stands(pid: int) -> bool:
    stats = [stat.read_text(encoding="ascii") for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    return bool(stats) and all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)
