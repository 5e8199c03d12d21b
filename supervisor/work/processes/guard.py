"""The daemon's end of the pipe to the guard program, which ends the commands of a killed daemon.

The program is started with the first command. It runs in the daemon's session, like everything that is not a command,
so that it is not taken for a command's orphan.
"""

import contextlib
import os
import subprocess
import sys

import structlog

from supervisor.work.processes import guard_program
from supervisor.work.processes.platform import LINUX
from supervisor.work.processes.tags import WIDTH, Span

LEAVES_S = 1.0  # for the program's exit: it only has to read a byte
ALL_IS_WELL = b"."

log = structlog.get_logger()


class Guard:
    """The daemon's side. Loop thread only. Without it a killed daemon's commands run until the next one starts."""

    def __init__(self, mark: str, grace_s: float, span: Span | None) -> None:
        self._words = (mark, str(grace_s), str(span.top if span else 0), str(WIDTH))
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self) -> None:
        """Start the program, unless it runs."""
        if not LINUX or (self._process is not None and self._process.poll() is None):
            return
        self.close()
        argv = [sys.executable, "-I", "-S", guard_program.__file__, *self._words]
        try:
            self._process = subprocess.Popen(  # noqa: S603  # a program of ours
                argv,
                bufsize=0,
                cwd="/",
                env={},  # no mark of a command, and nothing of the user's environment
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:  # no process left: the next command tries again
            log.warning("guard.failed", error=str(error))

    def close(self) -> None:
        """End the program: no command is left."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(OSError):
            os.write(process.stdin.fileno(), ALL_IS_WELL)
        process.stdin.close()
        try:
            process.wait(LEAVES_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
