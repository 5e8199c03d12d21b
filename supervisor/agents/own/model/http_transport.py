"""HTTP/1.1 straight over asyncio's sockets, under httpx's client. Loop thread.

A model's stream is many small reads. httpx's own reading is made for whole bodies: it was half of the cost of each
word, and a third of a short turn. The parser is llhttp, of Node.js, in C. Requests through a proxy stay with httpx.

A fast server is read in small pieces, one in each round of the loop, so that others have their turn. Everything
outside the body (heads, trailers, chunk headers) has a bound.
"""

import asyncio
import select
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Self, cast

import httptools
import httpx
from msgspec import Struct

from supervisor.agents.own.model.moving_timer import MovingTimer
from supervisor.config.bounds import DEFAULTS, Bounds

FULL = 256 * 1024  # bytes that wait for a slow consumer; beyond them the server has to wait
PORTION = 64 * 1024  # bytes of a request written at once: small enough to be copied in the processor's cache
PORTIONS = 4  # written in one round of the loop: a tenth of a millisecond, with TLS two
UNWANTED = 64  # connections that still come up and are not waited for any more; further ones are given up at once
CONNECTED_S = 1.0  # at the end, for connections that are not waited for any more; a slower one is given up
PIECE = 64 * 1024  # bytes read in one round of the loop: under a millisecond of parsing if the chunks are tiny

Origin = tuple[str, str, int]
Headers = list[tuple[bytes, bytes]]


class Unbounded(httpx.RemoteProtocolError):
    """The answer exceeds a bound. The text is for people."""


class DirectTransport(httpx.AsyncBaseTransport):
    """Connections to every origin, up to a limit; idle ones wait to be used again."""

    def __init__(self, tls: ssl.SSLContext, limits: httpx.Limits, bounds: Bounds = DEFAULTS) -> None:
        self._tls = tls
        self._bounds = bounds
        self._free = asyncio.Semaphore(limits.max_connections or 1 << 30)
        self._idle_limit = limits.max_keepalive_connections or 0
        self._expiry_s = limits.keepalive_expiry or 0.0
        self._idle: deque[HttpConnection] = deque()  # the most recently used is at the end
        self._connecting: set[asyncio.Task[HttpConnection]] = set()
        self._piece = memoryview(bytearray(PIECE))  # for all connections: it is parsed before the loop goes on

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request of httpx."""
        body = await request.aread()
        outgoing = _outgoing(request.method.encode("ascii"), request.url, request.headers.raw, (body,))
        return await self.send(outgoing, request.extensions.get("timeout", {}))

    async def send(self, outgoing: "Outgoing", timeouts: Mapping[str, float | None]) -> httpx.Response:
        """Send a request. `timeouts` has httpx's names: connect, pool, read, write."""
        await self._admit(timeouts.get("pool"))
        try:
            connection = await self._connection(outgoing.origin, timeouts.get("connect"))
        except BaseException:
            self._free.release()
            raise
        answer = AnswerBody(self, connection, timeouts.get("read"))
        try:
            await connection.ask(outgoing.data, timeouts.get("write"))
            await connection.wait_for_head(timeouts.get("read"))
        except BaseException:
            await answer.aclose()
            raise
        return httpx.Response(connection.status, headers=connection.headers, stream=answer)

    def take_back(self, connection: "HttpConnection") -> None:
        """Take back a connection whose answer was read or abandoned."""
        self._free.release()
        if not connection.reusable:
            connection.close()
            return
        self._idle.append(connection)
        connection.go_idle(self._expiry_s, self._idle.remove)
        while len(self._idle) > self._idle_limit:
            self._idle[0].close()

    async def aclose(self) -> None:
        for connection in tuple(self._idle):
            connection.close()
        if self._connecting:  # for requests that were taken back
            await asyncio.wait(self._connecting, timeout=CONNECTED_S)
            for unconnected in self._connecting:
                unconnected.cancel()

    async def _admit(self, timeout_s: float | None) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._free.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("all connections are in use") from error

    async def _connection(self, origin: Origin, timeout_s: float | None) -> "HttpConnection":
        for connection in reversed(tuple(self._idle)):
            if connection.origin == origin:
                if connection.is_silent:
                    connection.wake()
                    return connection
                connection.close()
        connecting = asyncio.create_task(
            HttpConnection.connect(origin, self._tls, timeout_s, self._piece, self._bounds), name="connect"
        )
        self._connecting.add(connecting)
        connecting.add_done_callback(self._connecting.discard)
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            if len(self._connecting) > UNWANTED:
                connecting.cancel()
            raise


def _close(connecting: "asyncio.Task[HttpConnection]") -> None:
    """Close a connection that is not waited for any more; its errors are ignored."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


class Outgoing(Struct, frozen=True):
    """A request as a list of byte chunks, and its destination."""

    origin: Origin
    data: Sequence[bytes]


class AnswerBody(httpx.AsyncByteStream):
    """The body as it arrives. If closed before its end, the connection is closed, too."""

    def __init__(self, home: DirectTransport, connection: "HttpConnection", timeout_s: float | None) -> None:
        self._home = home
        self._connection: HttpConnection | None = connection
        self._timeout_s = timeout_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._connection is not None and (piece := await self._connection.piece(self._timeout_s)):
            yield piece

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._home.take_back(connection)


class HttpConnection(asyncio.BufferedProtocol):
    """A socket, and the answer that arrives on it. The loop feeds it; at most one reader waits."""

    transport: asyncio.Transport

    def __init__(self, origin: Origin, piece: memoryview, bounds: Bounds) -> None:
        self.origin = origin
        self._bounds = bounds
        self._piece = piece
        self.status = 0
        self.headers: Headers = []
        self._parser = httptools.HttpResponseParser(self)
        self._timer = MovingTimer()  # for the reader
        self._writable = asyncio.Event()
        self._writable.set()
        self._body: list[bytes] = []
        self._size = 0  # of the body that waits
        self._head = 0  # bytes of its headers
        self._frames = 0  # bytes outside the body, since the request or since the last piece of the body
        self._headed = False
        self._complete = True  # there is no answer yet that could be incomplete
        self._lasting = False  # the server accepts another request
        self._paused = False
        self._failure: httpx.TransportError | None = None
        self._ended = False
        self._leave: asyncio.TimerHandle | None = None  # while it is idle
        self._forget: Callable[[HttpConnection], None] = lambda _: None

    @classmethod
    async def connect(
        cls, origin: Origin, tls: ssl.SSLContext, timeout_s: float | None, piece: memoryview, bounds: Bounds
    ) -> Self:
        """Connect. Not to be cancelled: between two rounds asyncio would lose the socket that has just connected."""
        scheme, host, port = origin
        try:
            async with asyncio.timeout(timeout_s):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: cls(origin, piece, bounds),
                    host,
                    port,
                    ssl=tls if scheme == "https" else None,
                    happy_eyeballs_delay=0.25,
                )
        except TimeoutError as error:  # before OSError, of which TimeoutError is a subclass
            raise httpx.ConnectTimeout(f"no connection in {timeout_s} s") from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection

    # --- asking ---------------------------------------------------------------------------------------------------

    async def ask(self, request: Sequence[bytes], timeout_s: float | None) -> None:
        """Send a request, portion by portion: a long one must not keep the loop, nor be copied whole."""
        self.status, self.headers = 0, []
        self._size = self._head = self._frames = 0
        self._body.clear()
        self._headed = self._complete = self._lasting = False
        for number, portion in enumerate(portions(request)):
            if number and number % PORTIONS == 0:
                await asyncio.sleep(0)
            if self._ended:  # the rest would not be read; the server's answer is read next
                break
            self.transport.write(portion)
            await self._wait_until_written(timeout_s)

    async def _wait_until_written(self, timeout_s: float | None) -> None:
        if not self._writable.is_set():
            try:
                async with asyncio.timeout(timeout_s):
                    await self._writable.wait()
            except TimeoutError as error:
                raise httpx.WriteTimeout("the server does not read") from error

    async def wait_for_head(self, timeout_s: float | None) -> None:
        """Wait for the whole head. The time-out is for all of it, however many interim answers come first."""
        while self._failure is None and not self._headed:
            await self._wait_for_data(timeout_s)
        if self._failure is not None and not self._body:
            raise _new_error(self._failure)

    async def piece(self, timeout_s: float | None) -> bytes:
        """Return the data that arrived since the last call; empty at the end."""
        while not self._body and not self._complete:
            if self._failure is not None:
                raise _new_error(self._failure)
            await self._wait_for_data(timeout_s)
        data = b"".join(self._body)
        self._body.clear()
        self._size = 0
        if self._paused and not self._ended:
            self._paused = False
            self.transport.resume_reading()
        return data

    async def _wait_for_data(self, timeout_s: float | None) -> None:
        try:
            await self._timer.wait(timeout_s)
        except TimeoutError as error:
            raise httpx.ReadTimeout("no data arrived in time") from error

    # --- between two answers --------------------------------------------------------------------------------------

    @property
    def reusable(self) -> bool:
        return self._complete and self._lasting and not (self._ended or self._paused)

    @property
    def is_silent(self) -> bool:
        """Tell whether nothing is unread on the socket: an end, or data that would be taken for the next answer."""
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def go_idle(self, expiry_s: float, forget: Callable[["HttpConnection"], None]) -> None:
        self._forget = forget
        self._leave = asyncio.get_running_loop().call_later(expiry_s, self.close)

    def wake(self) -> None:
        if self._leave is not None:
            self._leave.cancel()
            self._leave = None
            self._forget(self)

    def close(self) -> None:
        """Close at once; unsent data is dropped, since nobody waits for an answer."""
        self.wake()
        self.transport.abort()

    # --- from the loop --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's name; the buffer is small in any case
        return self._piece

    def buffer_updated(self, nbytes: int) -> None:
        if self._leave is not None:  # no request is open
            self.close()
            return
        was_headed = self._headed
        self._frames += nbytes
        try:
            self._parser.feed_data(self._piece[:nbytes])
        except httptools.HttpParserError as error:
            self._fail(httpx.RemoteProtocolError(f"the answer is not HTTP: {error}"))
            return
        except httptools.HttpParserUpgrade:
            self._fail(httpx.RemoteProtocolError("the server wants to speak another protocol than HTTP"))
            return
        self._look_at_size()
        # Bytes outside the body are no sign of life: they extend no time-out.
        if self._body or self._complete or self._headed is not was_headed:
            self._timer.end()

    def _look_at_size(self) -> None:
        most = self._bounds.answer_head_bytes
        if self._head > most or (self._frames > most and not self._complete):
            what = "trailers or chunk headers" if self._headed and self._head <= most else "a head"
            text = self._bounds.describe_excess("answer_head_bytes", f"the model server sends {what} without end")
            self._fail(Unbounded(text))
        elif len(self.headers) > self._bounds.answer_headers:
            self._fail(
                Unbounded(self._bounds.describe_excess("answer_headers", "the model server sends too many headers"))
            )
        elif self._size > FULL and not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        self._end(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)
        self._writable.set()
        self._timer.close()
        del self._parser  # it knows this connection, and nothing arrives any more

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _end(self, error: Exception | None) -> None:
        if self._ended:
            return
        self._ended = True
        if self._leave is not None:
            self.close()
        elif error is not None:
            self._fail(httpx.ReadError(str(error)))
        elif self._headed and not self._complete and not self._has_length:
            self._complete = True
            self._timer.end()
        elif not self._complete:
            what = "the answer was complete" if self._headed else "anything was answered"
            self._fail(httpx.RemoteProtocolError(f"the server closed the connection before {what}"))

    @property
    def _has_length(self) -> bool:
        """Tell whether the headers give the end of the body; otherwise it is the end of the connection."""
        names = {name.lower() for name, _ in self.headers}
        return bool(names & {b"content-length", b"transfer-encoding"})

    def _fail(self, failure: httpx.TransportError) -> None:
        self._failure = self._failure or failure
        self._ended = True
        self._timer.end()
        self.transport.abort()

    # --- from the parser ------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._complete:
            raise httptools.HttpParserError("an answer arrived without a request")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._headed:  # otherwise it is a trailer
            self.headers.append((name, value))
            self._head += len(name) + len(value)

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status >= 200:  # otherwise it is an interim answer
            self._headed = True
            self._frames = 0

    def on_body(self, body: bytes) -> None:
        self._body.append(body)
        self._size += len(body)
        self._frames = 0

    def on_message_complete(self) -> None:
        if self._headed:
            self._complete = True
            self._lasting = self._parser.should_keep_alive()  # the parser forgets it afterwards
        else:
            self.headers = []


def _new_error(failure: httpx.TransportError) -> httpx.TransportError:
    """Make the same error anew: an error that is raised keeps its frames, and they the connection that keeps it."""
    return type(failure)(str(failure))


def _origin(url: httpx.URL) -> Origin:
    if url.scheme not in {"http", "https"}:
        raise httpx.UnsupportedProtocol(f"{url.scheme!r} is not a supported protocol")
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


def portions(pieces: Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """Yield the same bytes in portions of one size. In a long request, a portion within one piece is not copied."""
    if 0 < sum(map(len, pieces)) <= PORTION:
        yield b"".join(pieces)
        return
    portion: list[memoryview] = []
    room = PORTION
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            some, rest = rest[:room], rest[room:]
            portion.append(some)
            room -= len(some)
            if not room:
                yield portion[0] if len(portion) == 1 else b"".join(portion)
                portion, room = [], PORTION
    if portion:
        yield b"".join(portion)


def post(url: httpx.URL, headers: Mapping[str, str], body: Sequence[bytes]) -> Outgoing:
    """Build a POST without httpx's Request, which takes longer than the rest of the request's work."""
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    size = b"%d" % sum(map(len, body))
    return _outgoing(b"POST", url, [(b"host", url.netloc), *pairs, (b"content-length", size)], body)


def _outgoing(method: bytes, url: httpx.URL, headers: Headers, body: Sequence[bytes]) -> Outgoing:
    lines = [b"%s %s HTTP/1.1" % (method, url.raw_path), *[b"%s: %s" % pair for pair in headers]]
    head = b"\r\n".join(lines)
    if head.count(b"\n") != len(headers) or head.count(b"\r") != len(headers):
        raise httpx.LocalProtocolError("a header with a line break in it")
    return Outgoing(_origin(url), (b"%s\r\n\r\n" % head, *body))
