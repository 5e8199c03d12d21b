"""The daemon of this home, from outside: whether it answers, its start, and connections to it.

Blocking. Standard library only: the command line starts it by the same code.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial

from greenroom import errors
from greenroom.connection import DaemonConnection, connect
from greenroom.wire import ControlWire

RECONNECT_S = 30.0  # for a lost daemon to come back: a restart takes seconds, the repair of a journal longer
AGAIN_S = 0.1  # between two looks for a daemon that is to come back


def dialler(start: bool, name: str, env: Mapping[str, str] | None) -> Callable[[ControlWire], DaemonConnection]:
    """A function that makes a greeted connection, with the present environment and umask of this process."""
    from supervisor.disk.umask import own_umask

    dial = partial(connect, name, env=os.environ if env is None else env, umask=own_umask())

    def dial_or_start(wire: ControlWire) -> DaemonConnection:
        try:
            return dial(wire)
        except errors.DaemonDown:
            start_daemon()
        return dial(wire)

    return dial_or_start if start else dial


def daemon_answers() -> bool:
    """Whether a daemon listens and greets us."""
    try:
        connect("greenroom up", ControlWire(print)).close()
    except errors.DaemonDown:
        return False
    return True


def start_daemon(arguments: tuple[str, ...] = (), busy: Callable[[str], None] = lambda _: None) -> None:
    """Return when a daemon answers, even if another program has started it. Raises StartFailed.

    `busy` gets a text for people where a start takes long.
    """
    from supervisor.daemon.launch import launch

    try:
        launch(arguments, busy=busy)
    except errors.StartFailed as error:
        text = error.message.removeprefix("greenroom: the daemon could not start: ")
        raise errors.StartFailed(f"the daemon could not start: {text}") from error
