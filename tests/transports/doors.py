"""The kinds of wire under test: a door makes a wire and the client's end of it."""

import contextlib
import os
import select
import socket
from collections.abc import Callable
from typing import Protocol

from tests.fakes.memory_wire import MemoryWire
from tests.transports.house import PATIENCE_S, LoopThread
from transports.descriptors import DescriptorWire
from transports.framing import LINE_LIMIT
from transports.listener import SocketEnd
from transports.stdio import StandardStreams
from transports.wire import Wire


class Peer(Protocol):
    """The client's end, blocking, with a bound on every wait."""

    def send(self, data: bytes) -> None: ...

    def receive(self) -> bytes:
        """The next bytes that came; empty at the end."""
        ...

    def shut_down(self) -> None: ...

    def close(self) -> None: ...


class Reading:
    """Lines of a peer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._rest = b""

    def line(self) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            chunk = self._peer.receive()
            assert chunk, f"the connection ended in the middle of {parts[0][:80]!r}"
            parts.append(chunk)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def lines(self, count: int) -> list[bytes]:
        return [self.line() for _ in range(count)]

    def exactly(self, size: int) -> bytes:
        parts, got = [self._rest], len(self._rest)
        while got < size:
            chunk = self._peer.receive()
            assert chunk, f"the connection ended after {got} of {size} bytes"
            parts.append(chunk)
            got += len(chunk)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def end(self) -> bytes:
        """Read until the end."""
        parts, self._rest = [self._rest], b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := self._peer.receive():
                parts.append(chunk)
        return b"".join(parts)


class SocketPeer:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        sock.settimeout(PATIENCE_S)

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def receive(self) -> bytes:
        return self._sock.recv(1 << 16)

    def shut_down(self) -> None:
        self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._sock.close()


class PipePeer:
    def __init__(self, reads_from: int, writes_to: int) -> None:
        self._fds = {"read": reads_from, "write": writes_to}

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            _, ready, _ = select.select([], [self._fds["write"]], [], PATIENCE_S)
            if not ready:
                raise TimeoutError("the server does not read")
            view = view[os.write(self._fds["write"], view[:4096]) :]

    def receive(self) -> bytes:
        ready, _, _ = select.select([self._fds["read"]], [], [], PATIENCE_S)
        if not ready:
            raise TimeoutError("nothing came")
        return os.read(self._fds["read"], 1 << 16)

    def shut_down(self) -> None:
        os.close(self._fds.pop("write"))

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.popitem()[1])


Door = Callable[[LoopThread, int], tuple[Wire, Peer]]


def socket_door(loop: LoopThread, limit: int = LINE_LIMIT) -> tuple[Wire, Peer]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return DescriptorWire(SocketEnd(ours), loop.loop, line_limit=limit), SocketPeer(theirs)


class OwnedStreams(StandardStreams):
    """Streams whose descriptors nobody else has, so they are closed with the wire."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._public = (stdin, stdout, os.open(os.devnull, os.O_WRONLY))
        super().__init__(*self._public)

    def close(self) -> None:
        super().close()
        for fd in self._public:
            os.close(fd)


def stdio_door(loop: LoopThread, limit: int = LINE_LIMIT) -> tuple[Wire, Peer]:
    """Pipes stand in for descriptors 0 and 1; the wire works on duplicates and gives them back."""
    stdin, client_writes = os.pipe()
    client_reads, stdout = os.pipe()
    wire = DescriptorWire(OwnedStreams(stdin, stdout), loop.loop, line_limit=limit)
    return wire, PipePeer(client_reads, client_writes)


def memory_door(_: LoopThread, limit: int = LINE_LIMIT) -> tuple[Wire, Peer]:
    wire = MemoryWire(line_limit=limit)
    return wire, wire.client


DOORS: dict[str, Door] = {"socket": socket_door, "stdio": stdio_door, "memory": memory_door}
