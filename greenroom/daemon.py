"""The daemon of this home, from outside: whether it answers, how it is started, and how it is dialled again.

Blocking. Standard library only: the command line starts it by the same code.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from greenroom import errors
from greenroom.connection import DaemonConnection, connected
from greenroom.wire import ControlWire

ANSWERS_S = 20.0  # from a start to an answer: a repair of the journal is the longest
POLL_S = 0.02
RECONNECT_S = 30.0  # for a lost daemon to come back: a restart takes seconds, the repair of a journal longer
AGAIN_S = 0.1  # between two looks for a daemon that is to come back


def dialler(start: bool, name: str, env: Mapping[str, str] | None) -> "Dialler":
    from supervisor.daemon.umask import own_umask

    return Dialler(start, name, os.environ if env is None else env, own_umask())


class Dialler(NamedTuple):
    """Parameters with which a client connects, and reconnects."""

    start: bool
    name: str
    env: Mapping[str, str]
    umask: int

    def dial(self, wire: ControlWire) -> DaemonConnection:
        """A greeted connection."""
        try:
            return connected(self.name, wire, env=self.env, umask=self.umask)
        except errors.DaemonDown:
            if not self.start:
                raise
        start_daemon()
        return connected(self.name, wire, env=self.env, umask=self.umask)


def daemon_answers() -> bool:
    """Whether a daemon listens and greets us."""
    try:
        connected("greenroom up", ControlWire(print)).close()
    except errors.DaemonDown:
        return False
    return True


def start_daemon(arguments: tuple[str, ...] = (), busy: Callable[[str], None] = lambda _: None) -> None:
    """Return when a daemon answers, even if another program has started it. Raises StartFailed.

    `busy` is told what a start does that takes long.
    """
    from supervisor.daemon.launch import StartFailed, launch
    from supervisor.paths import UnsafePath, locate, private_directory

    try:
        paths = locate()
        private_directory(paths.state)
        private_directory(paths.run)
        with _turn_to_start(f"{paths.state}/starting.lock"):
            if not daemon_answers():
                launch(arguments, busy=busy)
                _wait_for_an_answer()
    except (StartFailed, UnsafePath) as error:
        text = str(error).removeprefix("greenroom: the daemon could not start: ")
        raise errors.StartFailed(f"the daemon could not start: {text}") from error


@contextmanager
def _turn_to_start(path: str) -> Iterator[None]:
    """Take turns, so that twenty programs that want a daemon start one process and not twenty. Only a courtesy: after
    a while each goes ahead, and the daemon's own lock decides.
    """
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + ANSWERS_S
    try:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(POLL_S)
        yield
    finally:
        os.close(handle)


def _wait_for_an_answer() -> None:
    """Wait for a daemon that holds the lock already and may not listen yet."""
    deadline = time.monotonic() + ANSWERS_S
    while not daemon_answers():
        if time.monotonic() > deadline:
            raise errors.TimedOut("the daemon does not answer")
        time.sleep(POLL_S)
