"""The daemon of this home, from outside: whether it answers, how it is started, and how it is dialled again.

Blocking. Standard library only: the command line starts it by the same code.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from greenroom import errors
from greenroom.connection import DaemonConnection, connected
from greenroom.wire import ControlWire

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


def start_daemon(arguments: tuple[str, ...] = ()) -> None:
    """Return when a daemon answers, even if another program has started it. Raises StartFailed."""
    from supervisor.daemon.launch import launch

    try:
        launch(arguments)
    except errors.StartFailed as error:
        text = error.message.removeprefix("greenroom: the daemon could not start: ")
        raise errors.StartFailed(f"the daemon could not start: {text}") from error
