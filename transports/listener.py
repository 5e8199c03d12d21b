"""The unix socket: accepts clients, up to a limit, and says so where no descriptor is left. Loop thread.

Knows nothing of the clients' lines; a greeting takes over each accepted client.
"""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path

import structlog
from msgspec import Struct

from actors.vocabulary.errors import ConfigError, GreenroomError, NotAllowed, Overloaded
from transports import jsonrpc, socket_directory
from transports.descriptors import DescriptorWire
from transports.framing import LINE_LIMIT, VALUES_LIMIT
from transports.greeting import Greeting, GreetingDeps
from transports.peer_credentials import Peer, peer_of

log = structlog.get_logger()

ACCEPT_AT_ONCE = 64  # clients accepted in a row; then the loop serves others
EXHAUSTED_PAUSE_S = 0.2  # pause without accepting when not even the reserve helps; the clients wait
NO_DESCRIPTOR = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class ListenerLimits(Struct, frozen=True):
    clients: int = 512  # an editor has one or two
    line: int = LINE_LIMIT
    values: int = VALUES_LIMIT
    watch_s: float = 2.0  # interval of the check that the socket's path exists


class Listener:
    """Listens on the socket. Opened and closed on the loop thread."""

    def __init__(
        self,
        path: Path,
        deps: GreetingDeps,
        loop: asyncio.AbstractEventLoop,
        limits: ListenerLimits | None = None,
        at_home: Callable[[], bool] = lambda: True,
    ) -> None:
        """`at_home`: whether the path is still ours; only then is a deleted socket made again."""
        self.path = path
        self._at_home = at_home
        self._deps = deps
        self._loop = loop
        self._limits = limits or ListenerLimits()
        self._uid = os.geteuid()
        self._wires: set[DescriptorWire] = set()
        self._greetings: set[Greeting] = set()  # clients before their hello
        self._sock: socket.socket | None = None
        self._inode: socket_directory.Inode | None = None
        self._reserve: socket.socket | None = None  # its descriptor is given up to refuse a client
        self._exhausted = False
        self._troubled = False
        self._watch: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None

    @property
    def clients(self) -> int:
        """The number of clients, including those before their hello."""
        return len(self._wires)

    def open(self, *, lock_held: bool) -> None:
        """Raises ConfigError. `lock_held`: no other daemon of this home lives, so an old socket can be removed."""
        socket_directory.prepare(self.path.parent)
        socket_directory.clear(self.path, lock_held=lock_held)
        self._bind()
        self._keep_reserve()
        self._watch = self._loop.call_later(self._limits.watch_s, self._look)

    def close(self) -> None:
        """Stop accepting, refuse clients before their hello, unlink our socket. The other clients stay."""
        for timer in (self._watch, self._pause):
            if timer is not None:
                timer.cancel()
        self._unbind()
        for greeting in tuple(self._greetings):
            greeting.turn_away(Overloaded("the daemon is stopping; try again"))
        if self._inode is not None and socket_directory.inode_of(self.path) == self._inode:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        self._inode = None
        self._drop_reserve()

    # --- the socket -----------------------------------------------------------------------------------------------

    def _bind(self) -> None:
        self._sock, self._inode = socket_directory.bind(self.path)
        self._loop.add_reader(self._sock, self._accept)

    def _unbind(self) -> None:
        if self._sock is not None:
            self._loop.remove_reader(self._sock)
            self._sock.close()
            self._sock = None

    def _look(self) -> None:
        """Check that the socket's path is still there: anybody may delete it. No disk error stops the loop."""
        check = self._loop.run_in_executor(None, lambda: (socket_directory.inode_of(self.path), self._at_home()))
        check.add_done_callback(self._finish_look)

    def _finish_look(self, check: asyncio.Future[tuple[socket_directory.Inode | None, bool]]) -> None:
        if self._sock is None:
            return  # closed meanwhile
        self._watch = self._loop.call_later(self._limits.watch_s, self._look)
        if check.cancelled() or check.exception() is not None:
            return  # an unreadable disk does not mean that the socket is gone
        inode, at_home = check.result()
        if inode not in {None, self._inode}:
            self._complain(ConfigError(f"{self.path} was replaced by something that is not ours"))
        if inode is not None or not at_home:
            return
        try:
            socket_directory.prepare(self.path.parent)
            self._unbind()
            self._bind()
        except ConfigError as error:
            self._complain(error)
        else:
            self._troubled = False
            log.warning("listener.recreated", path=str(self.path))

    def _complain(self, error: ConfigError) -> None:
        if not self._troubled:
            self._troubled = True
            log.error("listener.lost", reason=error.message)

    # --- clients --------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        for _ in range(ACCEPT_AT_ONCE):
            if self._sock is None:
                return
            try:
                sock, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in NO_DESCRIPTOR:
                    self._refuse_without_descriptor()
                else:
                    log.warning("listener.accept_failed", reason=error.strerror)
                    self._look_away()
                return
            if self._exhausted:
                self._exhausted = False
                log.info("listener.recovered", clients=len(self._wires))
            self._receive(sock)

    def _receive(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        try:
            peer = peer_of(sock)
        except OSError:
            sock.close()  # the client has left already
            return
        refusal = self._judge(peer)
        if refusal is not None:
            _turn_away(sock, refusal)
            return
        limits = self._limits
        wire = DescriptorWire(SocketEnd(sock), self._loop, self._wires.discard, limits.line, limits.values)
        self._wires.add(wire)
        self._greetings.add(Greeting(wire, peer, self._deps, self._loop.call_later, self._greetings.discard))

    def _judge(self, peer: Peer) -> GreenroomError | None:
        if peer.uid != self._uid:
            log.warning("listener.foreign", uid=peer.uid, pid=peer.pid)
            return NotAllowed(f"this daemon serves uid {self._uid}, you are uid {peer.uid}")
        most = self._limits.clients
        if len(self._wires) >= most:
            log.warning("listener.full", clients=len(self._wires))
            return Overloaded(f"{most} clients are connected (greenroom.limits.connections); try again later")
        return None

    # --- no descriptors left --------------------------------------------------------------------------------------

    def _refuse_without_descriptor(self) -> None:
        """Accept one client with the reserve, to refuse it. Without a reserve, stop accepting for a while.

        The kernel looks for a descriptor before it looks for a client, so there may be no client to refuse.
        """
        self._drop_reserve()
        if self._sock is not None:
            with contextlib.suppress(OSError):
                sock, _ = self._sock.accept()
                _turn_away(sock, Overloaded("the daemon has no file descriptors left; try again"))
                self._note_exhaustion()
        if not self._keep_reserve():
            self._note_exhaustion()
            self._look_away()

    def _keep_reserve(self) -> bool:
        if self._reserve is None:
            with contextlib.suppress(OSError):
                self._reserve = socket.socket(socket.AF_UNIX)
        return self._reserve is not None

    def _drop_reserve(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
            self._reserve = None

    def _note_exhaustion(self) -> None:
        if not self._exhausted:
            self._exhausted = True
            log.error("listener.exhausted", clients=len(self._wires))

    def _look_away(self) -> None:
        if self._sock is not None:
            self._loop.remove_reader(self._sock)
            self._pause = self._loop.call_later(EXHAUSTED_PAUSE_S, self._look_back)

    def _look_back(self) -> None:
        self._keep_reserve()
        if self._sock is not None:
            self._loop.add_reader(self._sock, self._accept)


class SocketEnd:
    """A connected socket as the end of a wire. After a half-close, answers are delivered without a time limit."""

    linger_s: float | None = None

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.reads_from = self.writes_to = sock.fileno()

    def read(self, size: int) -> bytes:
        return self._sock.recv(size)

    def write(self, data: memoryview) -> int:
        return self._sock.send(data)

    def close(self) -> None:
        self._sock.close()


def _turn_away(sock: socket.socket, error: GreenroomError) -> None:
    """Refuse with one line, if it can be written at once, and close."""
    sock.setblocking(False)
    with contextlib.suppress(OSError):
        sock.send(jsonrpc.refusal_line(None, error))
    sock.close()
