"""Ends what a test run leaves when it is killed: daemons are nobody's children, and would live for ever.

Everything that a run starts inherits a mark in its environment. A process of its own waits for the end of a pipe that
only the run holds, whichever way the run ends, and then ends whatever still bears the mark, by its pid.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

MARK = "RUN_OF_TESTS"
SWEEP_S = 10.0  # what is being ended may start something meanwhile
_pipes: list[int] = []  # held until the run is over, however it is


def watch() -> None:
    """Start the warden once for a run; its workers are part of the run."""
    if MARK in os.environ or not Path("/proc/self/environ").exists():
        return
    mark = uuid.uuid4().hex
    reader, writer = os.pipe()
    command = [sys.executable, "-S", "-E", str(Path(__file__).resolve()), mark]
    subprocess.Popen(  # not waited for: it outlives us
        command, stdin=reader, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    os.close(reader)
    _pipes.append(writer)
    os.environ[MARK] = mark  # after it was started, so that it does not bear the mark itself


def wait_and_sweep(mark: str) -> None:
    while os.read(0, 4096):
        pass
    deadline = time.monotonic() + SWEEP_S
    while (found := marked(mark)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def marked(mark: str) -> list[int]:
    """Pids of the processes with this mark. A zombie has no environment any more."""
    sought, found = f"{MARK}={mark}".encode(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if sought in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


if __name__ == "__main__":
    wait_and_sweep(sys.argv[1])
