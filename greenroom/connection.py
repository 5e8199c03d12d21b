"""A connection to the daemon over a blocking socket, for one thread at a time. Standard library only.

Everything that waits has a limit. Finds a daemon, never starts one.
"""

import select
import socket
import time
from collections.abc import Mapping
from typing import Any

import greenroom  # its errors are loaded when one is raised: the everyday verbs import this
from greenroom.wire import AnswerHandler, ControlWire, Json, hello

CONNECT_S = 5.0
CHUNK = 1 << 16
DAEMON_LOST = "the daemon went away; every conversation is kept"
VERSIONS_DIFFER = "the running daemon has another version; run `greenroom down && greenroom up` to start this version"


class DaemonConnection:
    """A greeted connection: `welcome` is the daemon's answer to the hello. Bytes that arrive are fed to `wire`."""

    def __init__(
        self, found: socket.socket, greeting: bytes, wire: ControlWire, timeout_s: float = CONNECT_S
    ) -> None:
        """`found` is closed if the daemon does not welcome us."""
        self.socket = found
        self._wire = wire
        try:
            self._greet(greeting, time.monotonic() + timeout_s)
            self.welcome = _read_welcome(wire.welcome or {})
        except BaseException:
            found.close()
            raise

    def _greet(self, greeting: bytes, deadline: float) -> None:
        try:  # noqa: SIM105  # the error is loaded if it is needed
            self.write(greeting)
        except greenroom.errors.ConnectionLost:
            pass  # refused before it could write; the reason can be read
        while self._wire.welcome is None:
            if not self.receive(deadline):
                raise greenroom.errors.TimedOut("the daemon did not answer in time")

    def close(self) -> None:
        self.socket.close()

    def send(self, method: str, params: Mapping[str, Any], answered: AnswerHandler) -> int:
        """Send a request without waiting. Returns its number."""
        number, data = self._wire.request(method, params, answered)
        self.write(data)
        return number

    def write(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except TimeoutError as error:
            raise greenroom.errors.TimedOut("the daemon does not read requests") from error
        except OSError as error:
            raise greenroom.errors.ConnectionLost(DAEMON_LOST) from error

    def receive(self, deadline: float | None) -> bool:
        """Read the bytes that have come, or wait for some until the deadline (None: for ever). False if none came."""
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            if not select.select([self.socket], [], [], wait)[0]:
                return False
            data = self.socket.recv(CHUNK)
        except OSError as error:
            raise greenroom.errors.ConnectionLost(DAEMON_LOST) from error
        if not data:
            raise greenroom.errors.ConnectionLost(DAEMON_LOST)
        self._wire.feed(data)
        return True


def connect(
    name: str,
    wire: ControlWire,
    *,
    env: Mapping[str, str] | None = None,
    umask: int | None = None,
    timeout_s: float = CONNECT_S,
) -> DaemonConnection:
    """A connection to the daemon of this home, which GREENROOM_HOME or HOME names.

    Raises DaemonDown if there is none. `env` and `umask` are for the commands of this client's conversations.
    """
    from supervisor.paths import working_directory
    from supervisor.version import VERSION

    return DaemonConnection(
        _dial_daemon(timeout_s), hello(name, VERSION, working_directory(), env, umask), wire, timeout_s
    )


def _dial_daemon(timeout_s: float) -> socket.socket:
    from supervisor.daemon.connecting import dial
    from supervisor.paths import UnsafePath, locate

    def make() -> socket.socket:
        fresh = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        fresh.settimeout(timeout_s)
        return fresh

    try:
        found = dial(locate(), make)
    except UnsafePath as error:
        raise greenroom.errors.NotAllowed(str(error)) from error
    except (TimeoutError, BlockingIOError) as error:  # its backlog is full
        raise greenroom.errors.TimedOut("the daemon accepts no more clients") from error
    except OSError as error:
        raise greenroom.errors.Unreachable(f"the daemon's socket can't be reached: {error}") from error
    if found is None:
        raise greenroom.errors.DaemonDown("the daemon is not running; run `greenroom up`, or say Client(start=True)")
    return found


def _read_welcome(answer: Json) -> Json:
    if "greenroom" not in answer:
        refused = greenroom.errors.error_of(answer.get("error") or {})
        raise (
            greenroom.errors.OtherVersion(VERSIONS_DIFFER)
            if refused.code == greenroom.errors.OtherVersion.code
            else refused
        )
    welcome: Json = answer["greenroom"]
    return welcome
