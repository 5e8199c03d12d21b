"""How the HTTP library reads and writes sockets: asyncio's own transports, without a layer in between. Loop thread.

The library's default pauses and resumes the socket and builds a cancel scope for every read. A stream of words is one
small read after the other, and that was more than half of what each word cost.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

import httpcore
import httpx

FULL = 256 * 1024  # bytes that wait for a slow consumer; beyond it the server has to wait

SocketOption = httpcore.SOCKET_OPTION


def speak_directly(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The client has no argument for this, and its proxies come from the environment: so each pool is given ours."""
    direct = Network()
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = direct  # noqa: SLF001
    return client


class Network(httpcore.AsyncNetworkBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the library's interface
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        local = (local_address, 0) if local_address else None
        loop = asyncio.get_running_loop()
        async with _within(timeout, httpcore.ConnectTimeout, httpcore.ConnectError):
            _, socket = await loop.create_connection(
                Socket, host, port, local_addr=local, happy_eyeballs_delay=None if local else 0.25
            )
        for option in socket_options or ():
            socket.transport.get_extra_info("socket").setsockopt(*option)
        return Stream(socket)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Socket(asyncio.Protocol):
    """What has come and was not read yet, and at most one who waits for more."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._come = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._deadline: float | None = None  # of who reads
        self._alarm: asyncio.TimerHandle | None = None  # rings at the deadline or before it
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self.ended = False
        self.error: Exception | None = None

    # --- from the loop --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._come += data
        if len(self._come) > FULL and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._end(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)
        self._writable.set()
        if self._alarm is not None:
            self._alarm.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # --- for the stream -------------------------------------------------------------------------------------------

    @property
    def readable(self) -> bool:
        return bool(self._come) or self.ended

    async def more(self, timeout_s: float | None) -> None:
        """Something has come, or nothing will."""
        if not self.readable:
            self._set_alarm(timeout_s)
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    def take(self, limit: int) -> bytes:
        taken = bytes(self._come[:limit])
        del self._come[:limit]
        if self._paused and len(self._come) <= FULL // 2 and not self.ended:
            self._paused = False
            self.transport.resume_reading()
        return taken

    async def drained(self) -> None:
        await self._writable.wait()

    def _end(self, error: Exception | None) -> None:
        self.ended = True
        self.error = self.error or error
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _set_alarm(self, timeout_s: float | None) -> None:
        """One timer for the whole stream: each read only moves the time at which it would matter."""
        self._deadline = None if timeout_s is None else self._loop.time() + timeout_s
        if self._deadline is not None and (self._alarm is None or self._alarm.when() > self._deadline):
            self._alarm_at(self._deadline)

    def _alarm_at(self, when: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._reader is None or self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._alarm_at(self._deadline)
        elif not self._reader.done():
            self._reader.set_exception(TimeoutError())


class Stream(httpcore.AsyncNetworkStream):
    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        try:
            await self._socket.more(timeout)
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error
        if data := self._socket.take(max_bytes):
            return data
        if self._socket.error is not None:
            raise httpcore.ReadError(str(self._socket.error)) from self._socket.error
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if not buffer:
            return
        self._socket.transport.write(buffer)
        async with _within(timeout, httpcore.WriteTimeout, httpcore.WriteError):
            await self._socket.drained()
        if self._socket.error is not None:
            raise httpcore.WriteError(str(self._socket.error)) from self._socket.error

    async def aclose(self) -> None:
        """At once: what has not left yet is for a server that nobody listens to any more."""
        self._socket.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        socket = self._socket
        try:
            async with _within(timeout, httpcore.ConnectTimeout, httpcore.ConnectError):
                secured = await asyncio.get_running_loop().start_tls(
                    socket.transport, socket, ssl_context, server_hostname=server_hostname
                )
        except BaseException:
            await self.aclose()
            raise
        socket.connection_made(cast("asyncio.Transport", secured))
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._socket.readable
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._socket.transport.get_extra_info(names.get(info, info))


@contextlib.asynccontextmanager
async def _within(
    seconds: float | None, late: type[httpcore.TimeoutException], failed: type[httpcore.NetworkError]
) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:  # before OSError, of which it is one
        raise late from error
    except (OSError, ssl.SSLError) as error:
        raise failed(str(error)) from error
