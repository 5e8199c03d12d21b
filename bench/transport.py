"""Echo over the unix socket through a connection actor, next to the same lines through asyncio alone.

Two figures each: the round trip of one line at a time, and lines per second with many under way. The client is the
same blocking one for all, in a process of its own. The floors are an asyncio Protocol and asyncio streams that send
back what they get.
"""

import asyncio
import contextlib
import multiprocessing
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import structlog

from actors.messages.effects import Deliver, EndSubscription
from actors.runtime.clock import LoopClock
from actors.runtime.shared import SharedThread
from actors.vocabulary.ids import Caller, ConnectionId
from transports.connection import Connection, ConnectionDeps
from transports.descriptors import DescriptorWire
from transports.dialect import Action, Client, Write
from transports.listener import SocketEnd
from transports.switchboard import Switchboard
from transports.wire import LinesArrived, Parcel

ROUND_TRIPS = 5000
LINES = 100_000
WINDOW = 256  # lines under way
LINE = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"' + b"x" * 40 + b'"}}\n'


class EchoingDialect:
    """The smallest possible dialect."""

    def receive_line(self, line: bytes) -> Iterable[Action]:
        return (Write(line + b"\n"),)

    def start(self) -> Iterable[Action]:
        return ()

    def refuse_line(self, _: str) -> Iterable[Action]:
        return ()

    def take_answer(self, _: Caller, __: object) -> Iterable[Action]:
        return ()

    def take_slice(self, _: Deliver) -> Iterable[Action]:
        return ()

    def end_subscription(self, _: EndSubscription) -> Iterable[Action]:
        return ()

    def wake(self, _: str) -> Iterable[Action]:
        return ()

    def reconfigure(self) -> Iterable[Action]:
        return ()

    def announce(self, _: str) -> Iterable[Action]:
        return ()


class NullAddress:
    def tell(self, _: object) -> None:
        pass


class Parrot(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def parrot_streams(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
    writer.close()


class LoopEcho:
    """An owner of a wire that is no actor, for the cost of the framing and the wire alone."""

    def __init__(self, wire: DescriptorWire) -> None:
        self._wire = wire

    def tell(self, message: object) -> None:
        if isinstance(message, LinesArrived):
            lines = b"".join(line + b"\n" for line in message.lines if isinstance(line, bytes))
            self._wire.write([Parcel(lines)], take_more=True)


async def serve_wire(path: str) -> None:
    await serve_with(path, lambda wire: wire.open(LoopEcho(wire)))


async def serve_actor(path: str) -> None:
    loop = asyncio.get_running_loop()
    deps = ConnectionDeps(NullAddress(), NullAddress(), Switchboard(), LoopClock(loop), SharedThread(loop).start)

    def begin(wire: DescriptorWire) -> None:
        wire.open(Connection(Client(ConnectionId("c"), "bench"), EchoingDialect(), wire, deps).begin())

    await serve_with(path, begin)


async def serve_with(path: str, begin: Callable[[DescriptorWire], None]) -> None:
    loop = asyncio.get_running_loop()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()

    def accept() -> None:
        sock, _ = listening.accept()
        sock.setblocking(False)
        begin(DescriptorWire(SocketEnd(sock), loop))

    loop.add_reader(listening, accept)


async def serve_protocol(path: str) -> None:
    await asyncio.get_running_loop().create_unix_server(Parrot, path)


async def serve_streams(path: str) -> None:
    await asyncio.start_unix_server(parrot_streams, path)


@contextlib.contextmanager
def serving(serve: Callable[[str], Any], path: str) -> Iterator[None]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(serve(path), loop).result(5)
    yield
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)


def measure(path: str, answer: Any) -> None:
    """Measure in the client's process, and send the figures."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    reads = sock.makefile("rb")
    times = []
    for _ in range(ROUND_TRIPS):
        started = time.perf_counter()
        sock.sendall(LINE)
        reads.readline()
        times.append(time.perf_counter() - started)
    times.sort()
    started = time.perf_counter()
    for _ in range(LINES // WINDOW):
        sock.sendall(LINE * WINDOW)
        for _ in range(WINDOW):
            reads.readline()
    rate = LINES / (time.perf_counter() - started)
    sock.close()
    answer.send((times[len(times) // 2] * 1e6, times[len(times) * 99 // 100] * 1e6, rate))


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    places = Path(tempfile.mkdtemp())
    servers = {
        "asyncio protocol": serve_protocol,
        "asyncio streams": serve_streams,
        "our wire, no actor": serve_wire,
        "connection actor": serve_actor,
    }
    print(f"{'echo over a unix socket':28}{'p50 µs':>10}{'p99 µs':>10}{'lines/s':>12}")
    for number, (name, serve) in enumerate(servers.items()):
        path = str(places / f"{number}.sock")
        with serving(serve, path):
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            client = multiprocessing.get_context("spawn").Process(target=measure, args=(path, theirs))
            client.start()
            p50, p99, rate = ours.recv()
            client.join()
        print(f"{name:28}{p50:10.0f}{p99:10.0f}{rate:12,.0f}")
    shutil.rmtree(places)


if __name__ == "__main__":
    main()
