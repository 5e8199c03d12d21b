"""Sockets under the HTTP library: real ones, on loopback."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpcore
import httpx
import pytest

from supervisor.agent.model.client import build_http
from supervisor.agent.model.network import FULL, Network, Stream

TLS = Path(__file__).parents[3] / "data" / "tls"  # a certificate for localhost that nothing else trusts
PATIENCE_S = 20.0

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Visit = Callable[[httpcore.AsyncNetworkStream], Awaitable[None]]


def meet(serve: Serve, visit: Visit) -> None:
    """One client at one server, which may still be at it when the client is done."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.transport.abort()

    async def meeting() -> None:
        async with await asyncio.start_server(served, "127.0.0.1", 0) as server, asyncio.timeout(PATIENCE_S):
            port = server.sockets[0].getsockname()[1]
            stream = await Network().connect_tcp("127.0.0.1", port, timeout=PATIENCE_S)
            try:
                await visit(stream)
            finally:
                await stream.aclose()

    asyncio.run(meeting())


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data)
        await writer.drain()
    writer.close()


async def everything(stream: httpcore.AsyncNetworkStream, size: int, step: int = 4096) -> bytes:
    got = b""
    while len(got) < size:
        got += await stream.read(step, timeout=PATIENCE_S)
    return got


def test_what_is_written_comes_back_whole_however_little_is_read_at_a_time() -> None:
    data = bytes(range(256)) * 400

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        await stream.write(data, timeout=PATIENCE_S)
        assert await everything(stream, len(data), step=777) == data

    meet(echo, visit)


def test_a_read_that_gets_nothing_in_time_says_so_and_the_next_may_get_it() -> None:
    asked = asyncio.Event()

    async def when_asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked.wait()
        writer.write(b"late")
        await reader.read()
        writer.close()

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(10, timeout=0.05)
        asked.set()
        assert await stream.read(10, timeout=PATIENCE_S) == b"late"

    meet(when_asked, visit)


def test_each_read_has_its_own_time() -> None:
    """A long patience first does not make the next, shorter one longer."""

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        await stream.write(b"x")
        assert await stream.read(10, timeout=PATIENCE_S) == b"x"
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(10, timeout=0.05)

    meet(echo, visit)


def test_a_consumer_that_does_not_read_stops_its_server_instead_of_filling_memory() -> None:
    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _block in range(64):
            writer.write(b"x" * FULL)
            await writer.drain()
        await asyncio.sleep(PATIENCE_S)

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        assert isinstance(stream, Stream)
        for _ in range(1000):
            await asyncio.sleep(0)
        assert FULL < len(stream._socket._come) < 3 * FULL  # nothing else tells what waits
        assert len(await everything(stream, 64 * FULL, step=65536)) == 64 * FULL

    meet(flood, visit)


def test_the_end_of_the_server_is_an_empty_read_and_shows_before_it_is_read() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        while not stream.get_extra_info("is_readable"):  # noqa: ASYNC110  # as the pool does, which only looks
            await asyncio.sleep(0)
        assert await stream.read(10, timeout=PATIENCE_S) == b""

    meet(hang_up, visit)


def test_a_connection_that_was_reset_is_an_error_and_no_end() -> None:
    async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER of no time: RST
        writer.transport.abort()

    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.ReadError):
            await stream.read(10, timeout=PATIENCE_S)

    meet(reset, visit)


def test_a_server_that_takes_nothing_is_given_up_in_time() -> None:
    async def visit(stream: httpcore.AsyncNetworkStream) -> None:
        with pytest.raises(httpcore.WriteTimeout):
            await stream.write(b"x" * 64 * FULL, timeout=0.1)

    async def deaf(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(PATIENCE_S)

    meet(deaf, visit)


def test_nobody_there_is_an_error_of_connecting() -> None:
    async def visit() -> None:
        with pytest.raises(httpcore.ConnectError):
            await Network().connect_tcp("127.0.0.1", 1, timeout=PATIENCE_S)

    asyncio.run(visit())


def test_a_secured_server_is_spoken_to_if_it_is_trusted_and_else_refused() -> None:
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")

    async def visit() -> None:
        async with (
            await asyncio.start_server(echo, "127.0.0.1", 0, ssl=server_side) as server,
            asyncio.timeout(PATIENCE_S),
        ):
            port = server.sockets[0].getsockname()[1]
            trusting = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
            bare = await Network().connect_tcp("127.0.0.1", port)
            stream = await bare.start_tls(trusting, "localhost", timeout=PATIENCE_S)
            assert stream.get_extra_info("ssl_object") is not None
            await stream.write(b"secret" * 10_000)
            assert await everything(stream, 60_000) == b"secret" * 10_000
            await stream.aclose()
            bare = await Network().connect_tcp("127.0.0.1", port)
            with pytest.raises(httpcore.ConnectError):
                await bare.start_tls(ssl.create_default_context(), "localhost", timeout=PATIENCE_S)

    asyncio.run(visit())


def test_every_connection_of_the_client_goes_this_way_also_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    client = build_http()
    transports = [client._transport, *(one for one in client._mounts.values() if one is not None)]
    assert len(transports) > 1
    for transport in transports:
        assert isinstance(transport, httpx.AsyncHTTPTransport)
        assert isinstance(transport._pool._network_backend, Network)
    asyncio.run(client.aclose())
