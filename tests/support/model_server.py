"""A model endpoint on 127.0.0.1 for tests and benchmarks: real HTTP/1.1, all three wires, standard library only.

What it answers is either the next of the `replies` it was given (their number must come out even: see `unused`), or
what the script in the last user message says; tests/support/model_script.py has the language. It runs on a thread of
its own, keeps every request, and sees when a client closes a connection early. By hand:

    python -m tests.support.model_server --port 8123 [--script 'say hello']
"""

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from tests.support.model_prompt import asked, wire_of
from tests.support.model_reply import Close, End, Hold, Pause, Reply, Write, canned
from tests.support.model_script import Place, compiled

WAIT_S = 30.0  # a test that waits longer for the server has failed
QUESTIONS = frozenset({"/api/ps", "/api/show", "/props", "/api/v0/models", "/v1/models"})
END_OF_BODY = b"0\r\n\r\n"


@dataclass(eq=False, slots=True)
class Received:
    """A request as it came. `closed_early`: the client went before its answer was sent whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int
    closed_early: bool = False
    answered: bool = False


@dataclass(eq=False, slots=True)
class _Connection:
    number: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class _Protocol(asyncio.StreamReaderProtocol):
    """A protocol that notices at once that the client has closed, also while nothing is read."""

    def __init__(self, serve: Callable[[_Connection], Any], number: int) -> None:
        self._gone = asyncio.Event()
        reader = asyncio.StreamReader()
        super().__init__(reader, lambda r, w: serve(_Connection(number, r, w, self._gone)))

    def eof_received(self) -> bool | None:
        self._gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()
        super().connection_lost(exc)


class ModelServer:
    """A context manager. Everything public may be used from the test's thread."""

    def __init__(self, replies: Iterable[Reply | str] | None = None, *, script: str = "", port: int = 0) -> None:
        self._queue = None if replies is None else deque(replies)
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self.requests: list[Received] = []
        self.connections = 0  # on which a model was asked
        self.tells: dict[str, object] = {}  # path -> JSON: what it says of its models, which is no request to one
        self._changed = threading.Condition()  # guards requests, held and failures; notified whenever they change
        self._held: set[str] = set()
        self._failures: list[str] = []
        self._attempts: Counter[tuple[str, ...]] = Counter()
        self._gates: dict[str, asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="model-server")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive(), "the model server did not stop"
        assert kind or not self._failures, self._failures

    @property
    def unused(self) -> int:
        """Replies that were never requested."""
        return len(self._queue or ())

    def open(self, gate: str) -> None:
        """Open the gate for all answers that wait there, now or later."""
        self._loop.call_soon_threadsafe(lambda: self._gate(gate).set())

    def wait_held(self, gate: str) -> None:
        """Wait until an answer has reached the gate and all before it is sent."""
        self.wait_for(lambda: gate in self._held, f"nobody came to the gate {gate!r}")

    def wait_requests(self, count: int) -> None:
        self.wait_for(lambda: len(self.requests) >= count, f"fewer than {count} requests")

    def wait_closed_early(self, number: int = 0) -> None:
        """Wait until the client has closed this request's connection in the middle of the answer."""
        self.wait_for(
            lambda: len(self.requests) > number and self.requests[number].closed_early,
            f"request {number} was not closed early",
        )

    def wait_for(self, condition: Callable[[], bool], otherwise: str) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, WAIT_S), otherwise

    # --- the server's thread ---

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve_all())

    async def _serve_all(self) -> None:
        tasks: set[asyncio.Task[None]] = set()

        def protocol() -> _Protocol:
            return _Protocol(serve, 0)

        def serve(connection: _Connection) -> None:
            task = asyncio.create_task(self._serve(connection))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await self._loop.create_server(protocol, sock=self._listener, backlog=1024)
        await self._stopping.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, connection: _Connection) -> None:
        connection.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while received := await _received(connection):
                if wire_of(received.path) is None and received.path in QUESTIONS:
                    await self._answer(connection, self._told(received.path))
                    continue
                if not connection.number:
                    self.connections += 1
                    connection.number = received.connection = self.connections
                with self._changed:
                    self.requests.append(received)
                    self._changed.notify_all()
                whole = await self._answer(connection, self._reply_to(received))
                with self._changed:
                    received.answered = whole
                    received.closed_early = not whole and connection.gone.is_set()
                    self._changed.notify_all()
                if not whole:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went between two requests
        except Exception as error:  # noqa: BLE001  # shown when the test ends, by the thread that can fail it
            self._failures.append(f"{type(error).__name__}: {error}")
        finally:
            connection.writer.close()

    def _told(self, path: str) -> Reply:
        told = self.tells.get(path)
        return canned(json.dumps(told or {}).encode(), status=200 if told is not None else 404)

    def _reply_to(self, received: Received) -> Reply:
        wire = wire_of(received.path)
        if wire is None:
            return canned(b'{"error":{"message":"no such path"}}', status=404)
        prompt = asked(wire, received.body)
        reply: Reply | str | None = None
        if self._queue is not None:
            if not self._queue:
                self._failures.append(f"request {len(self.requests)} has no reply")
                return canned(b'{"error":{"message":"no reply left"}}', status=400)
            reply = self._queue.popleft()
            if isinstance(reply, Reply):
                return reply
            return compiled(reply, wire, Place(len(self.requests)))
        key = (*prompt.before, prompt.text, str(prompt.reply))
        place = Place(len(prompt.before) + 1, prompt.reply, self._attempts[key])
        self._attempts[key] += 1
        return compiled(self._script or prompt.text, wire, place)

    async def _answer(self, connection: _Connection, reply: Reply) -> bool:
        """Send an answer; true if the connection can be used again. Pauses keep to a beat, so none adds up."""
        loop = asyncio.get_running_loop()
        beat = loop.time()
        try:
            if reply.status:
                connection.writer.write(_head(reply))
            for step in reply.steps:
                match step:
                    case Write(data):
                        connection.writer.write(data)
                        await connection.writer.drain()
                    case Pause(seconds) if seconds is not None:
                        beat = max(beat + seconds, loop.time() - seconds)
                        with contextlib.suppress(TimeoutError):
                            async with asyncio.timeout_at(beat):
                                await connection.gone.wait()
                    case Pause():
                        await connection.gone.wait()
                    case Hold(gate):
                        with self._changed:
                            self._held.add(gate)
                            self._changed.notify_all()
                        await self._until_gone(connection, self._gate(gate))
                    case Close():
                        return False
                    case End():
                        connection.writer.write(END_OF_BODY)
                        await connection.writer.drain()
                        return True
                if connection.gone.is_set():
                    return False
        except ConnectionError:
            connection.gone.set()
        return False

    async def _until_gone(self, connection: _Connection, gate: asyncio.Event) -> None:
        waits = [asyncio.create_task(gate.wait()), asyncio.create_task(connection.gone.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


async def _received(connection: _Connection) -> Received | None:
    try:
        head = await connection.reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await connection.reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(body or b"{}"), connection.number)


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in reply.headers)]
    return "\r\n".join([*lines, "transfer-encoding: chunked", "", ""]).encode()


def main() -> None:
    options = argparse.ArgumentParser(description="A scripted model server; see tests/support/model_script.py.")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--script", default="", help="answers every prompt, instead of the prompt's own words")
    chosen = options.parse_args()
    with ModelServer(script=chosen.script, port=chosen.port) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            signal.pause()


if __name__ == "__main__":
    main()
