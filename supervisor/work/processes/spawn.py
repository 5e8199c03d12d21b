"""Starts a process in a session and group of its own; it inherits only descriptors that the command names.

Never `preexec_fn`, which would copy the daemon's memory maps. Loop thread only: a sandbox's keeper dies with the
thread that spawned it.
"""

import os
import subprocess
from collections.abc import Mapping
from io import FileIO
from typing import cast

from supervisor.work.processes.command import Command
from supervisor.work.processes.exits import Exit


class ChildProcess:
    """A process of ours. Until `status` is read its pid, and with it group and session, belong to it alone."""

    def __init__(self, popen: subprocess.Popen[bytes], command: Command, run: str) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.run = run  # the mark of this run
        self.turn = command.turn
        self.keeper = command.keeper
        self.stdout = cast("FileIO", popen.stdout)  # unbuffered, so it is the file itself
        self.stderr = cast("FileIO", popen.stderr)
        self.stdin = cast("FileIO | None", popen.stdin)
        self.exit = Exit(popen.pid)

    def status(self) -> int | None:
        """Return the exit status as in a shell; None if the process lives and can't be ended."""
        code = self._popen.poll()
        if code is None:
            self._popen.returncode = -1  # else its garbage collection would wait again, and warn
            return None
        return 128 - code if code < 0 else code

    def close(self) -> None:
        self.exit.close()


def spawn(command: Command, run: str, marks: Mapping[str, str], *, stdin: bool = False) -> ChildProcess:
    """Start a process that reads nothing, or from a pipe if `stdin`.

    Raises OSError or ValueError if it can't be started; then no process is left.
    """
    popen = subprocess.Popen(  # noqa: S603 - to run commands is the purpose; they are judged before
        command.argv,
        bufsize=0,
        cwd=command.cwd,
        env={**command.env, **marks},
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=command.pass_fds,
        start_new_session=True,
        umask=command.umask,
    )
    try:
        return ChildProcess(popen, command, run)
    except BaseException:
        os.killpg(popen.pid, 9)
        popen.communicate()
        raise


def reason(error: OSError | ValueError) -> str:
    """Return the system's message: `No such file or directory: 'x'`."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror
    return str(error)
