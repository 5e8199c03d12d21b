"""Starting the daemon from outside: standard library only, because the bridge and everyday verbs import it.

The daemon reports over a pipe: while it starts, each second, the work that takes so long; then once `ready` or the
reason of its failure. After that it is on its own: its own session, working directory and descriptors, no parent.
"""

# ruff: noqa: PTH208 # pathlib alone takes a third of the time that the bridge may take

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from actors.vocabulary.errors import GreenroomError

START_S = 20.0  # of silence: an ordinary start takes a fraction of a second
READY = b"ready\n"
BUSY = b"busy: "  # begins a line about the work that takes so long
READY_FD = 3
PROGRAM: tuple[str, ...] = ("-P", "-m", "supervisor")  # -P: import nothing from the working directory
SAY_LIMIT = 1 << 16  # bytes of a reason
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE)  # nohup ignores some


class StartFailed(GreenroomError):
    """The daemon did not start. The text is the daemon's own reason, for the person who started it."""

    code = "start_failed"


class Launch:
    """A daemon that is starting. No method waits; `fileno` is readable when there is a report from the daemon."""

    def __init__(self, arguments: tuple[str, ...] = ()) -> None:
        self._heard = b""
        self._over = False
        self.busy_with = ""  # in the daemon's words; "" until its first report
        self._reader, writer = os.pipe()
        try:
            self._child = _spawn(writer, arguments)
        except BaseException:
            os.close(self._reader)
            raise
        finally:
            os.close(writer)

    def fileno(self) -> int:
        return self._reader

    def outcome(self) -> str | None:
        """Read the pipe: the reason of the failure, "" when ready, None while busy or the message is incomplete."""
        piece = os.read(self._reader, SAY_LIMIT)
        self._heard = (self._heard + piece)[-SAY_LIMIT:]
        while self._heard.startswith(BUSY) and b"\n" in self._heard:
            line, _, self._heard = self._heard.partition(b"\n")
            self.busy_with = line.removeprefix(BUSY).decode(errors="replace")
        self._over = not piece or self._heard == READY
        if not self._over:
            return None
        if self._heard == READY:
            return ""
        return self._heard.decode(errors="replace").strip() or "the daemon ended without a message; see its log"

    def close(self) -> None:
        """Leave the daemon running, and reap the spawned parent, which ends at the daemon's first report."""
        os.close(self._reader)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._child, 0 if self._over else os.WNOHANG)


def launch(
    arguments: tuple[str, ...] = (), timeout_s: float = START_S, busy: Callable[[str], None] = lambda _: None
) -> None:
    """Start a daemon and return when it is ready; a daemon that ran before counts too. Raises StartFailed.

    `timeout_s` is the longest silence: a daemon that reports its work (`busy`) is waited for.
    """
    deadline = time.monotonic() + timeout_s
    try:
        start = Launch(arguments)
    except OSError as error:
        raise StartFailed(f"the daemon can't be started: {error}") from error
    try:
        outcome, shown = None, ""
        while outcome is None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([start], [], [], left)[0]:
                raise StartFailed("the daemon was not ready in time; see its log")
            outcome = start.outcome()
            if start.busy_with != shown:
                shown = start.busy_with
                deadline = time.monotonic() + timeout_s
                busy(shown)
    finally:
        start.close()
    if outcome:
        raise StartFailed(outcome)


def _spawn(writer: int, arguments: tuple[str, ...]) -> int:
    """Spawn, never fork: the caller may have threads."""
    if writer == READY_FD:  # a duplicate onto itself would stay closed on exec
        spare = os.dup(writer)
        try:
            return _spawn(spare, arguments)
        finally:
            os.close(spare)
    command = [sys.executable, *PROGRAM, "--detach", "--ready-fd", str(READY_FD), *arguments]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
        (os.POSIX_SPAWN_DUP2, writer, READY_FD),
    ]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setsigmask=(), setsigdef=SIGNALS)


# --- in the daemon --------------------------------------------------------------------------------------------------


def detach() -> None:
    """Leave the parent's session and close the descriptors inherited from it. In the new process, before any thread.

    The second process does not lead its session, so opening a terminal cannot make that its controlling terminal.
    """
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    for name in os.listdir("/dev/fd"):
        if int(name) > READY_FD:
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                os.close(int(name))
