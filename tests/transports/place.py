"""A listener with its partners, and clients that dial its real socket."""

import errno
import json
import socket
from pathlib import Path
from typing import Any

from actors.runtime.shared import SharedThread
from actors.vocabulary.ids import ConnectionId
from tests.fakes.dialect import EchoDialect, Script, echo_all
from tests.transports.doors import Reading, SocketPeer
from tests.transports.house import PATIENCE_S, LoopThread, ManualClock, Probe, eventually
from transports.address import use_short_path
from transports.connection import ConnectionDeps
from transports.dialect import Dialect
from transports.greeting import GreetingDeps
from transports.hello import Identity
from transports.listener import Listener, ListenerLimits
from transports.switchboard import Switchboard

HELLO = b'{"greenroom":{"protocol":1,"dialect":"echo","client":{"name":"test","cwd":"/src"}}}\n'
WELCOME = {"greenroom": {"protocol": 1, "version": "0.1", "instance": "i"}}


class Guests:
    """Clients of a listener."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dialled: list[SocketPeer] = []

    def dial(self) -> tuple[SocketPeer, Reading]:
        peer, reads = dial(self.path)
        self._dialled.append(peer)
        return peer, reads

    def enter(self) -> tuple[SocketPeer, Reading]:
        peer, reads = self.dial()
        peer.send(HELLO)
        assert json.loads(reads.line()) == WELCOME
        return peer, reads

    def leave(self) -> None:
        for peer in self._dialled:
            peer.close()


class Place(Guests):
    """A listener and its partners."""

    def __init__(
        self,
        loop: LoopThread,
        path: Path,
        limits: ListenerLimits,
        hello_s: float = PATIENCE_S,
        script: Script = echo_all,
    ) -> None:
        super().__init__(path)
        self.loop = loop
        self.registry, self.switchboard = Probe(), Switchboard()
        self.made: list[EchoDialect] = []
        self._script = script
        self._ids = iter(range(1_000_000))
        connecting = ConnectionDeps(
            self.registry, Probe(), self.switchboard, ManualClock(), SharedThread(loop.loop).start
        )
        self.deps = GreetingDeps(
            Identity("0.1", "i"),
            {"echo": self._make, "broken": _break, "unloaded": _find_no_descriptor},
            connecting,
            lambda: ConnectionId(f"c{next(self._ids)}"),
            hello_s,
        )
        self.listener = Listener(path, self.deps, loop.loop, limits)

    def _make(self, client: Any, _: Any) -> EchoDialect:
        self.made.append(EchoDialect(client, self._script))
        return self.made[-1]

    def open(self, *, lock_held: bool = True) -> None:
        self.loop.call(lambda: self.listener.open(lock_held=lock_held))

    def close(self) -> None:
        self.leave()
        self.loop.call(self.listener.close)
        self.switchboard.dismiss_all("over")
        eventually(lambda: self.listener.clients == 0 and not self.switchboard.clients(), "somebody would not leave")


def dial(path: Path) -> tuple[SocketPeer, Reading]:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    use_short_path(str(path), sock.connect)
    peer = SocketPeer(sock)
    return peer, Reading(peer)


def error_of(reads: Reading) -> dict[str, Any]:
    """The error in the one line of a refusal, after which the connection ends."""
    (line,) = reads.end().splitlines()
    body = json.loads(line)
    assert body["id"] is None
    error: dict[str, Any] = body["error"]
    return error


def _break(*_: object) -> Dialect:
    raise ZeroDivisionError


def _find_no_descriptor(*_: object) -> Dialect:
    raise OSError(errno.EMFILE, "Too many open files")
