"""A server by its address: streamable HTTP, with a bearer token out of the client's environment."""

import asyncio
import gzip
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.own.mcp_client.connection import ServerConnection
from supervisor.agents.own.mcp_client.failures import Unavailable
from supervisor.config.mcp_servers import McpServer
from tests.supervisor.agents.own.mcp_client.host import LONGEST, Host, Listening, host, text_of, within
from tests.support import http_mcp_server

TOKEN = "s3cret-token"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def port() -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen([sys.executable, http_mcp_server.__file__, str(port), TOKEN])
    try:
        yield port
    finally:
        process.kill()
        process.wait()


async def listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


def at(one: Host, port: int, **env: str) -> ServerConnection:
    server = McpServer(url=f"http://127.0.0.1:{port}/mcp", bearer_token_env_var="TOKEN", startup_timeout_sec=15)
    return one.connections.connection_to("web", server, CommandEnvironment(env))


def test_a_tool_behind_an_address_and_a_token_is_called(tmp_path: Path, port: int) -> None:
    async def work() -> None:
        await listening(port)
        async with host(tmp_path) as one:
            server = at(one, port, TOKEN=TOKEN)
            assert [tool.name for tool in await server.tools()] == ["double", "grow"]
            assert text_of(await server.call("double", {"number": 21}, Listening())) == "42"
            assert one.processes.statistics()["running"] == 0

    within(work)


def test_a_changed_list_of_tools_is_heard_of_from_a_server_of_the_newest_revision(tmp_path: Path, port: int) -> None:
    async def work() -> None:
        await listening(port)
        async with host(tmp_path) as one:
            server = at(one, port, TOKEN=TOKEN)
            await server.tools()
            await server.call("grow", {}, Listening())
            while "half" not in [tool.name for tool in await server.tools()]:  # noqa: ASYNC110  # it tells when it likes
                await asyncio.sleep(0.01)

    within(work)


def test_a_wrong_token_is_told_and_a_missing_one_is_named(tmp_path: Path, port: int) -> None:
    async def work() -> None:
        await listening(port)
        async with host(tmp_path) as one:
            with pytest.raises(Unavailable, match="it answered 401 Unauthorized"):
                await at(one, port, TOKEN="wrong").tools()
            with pytest.raises(Unavailable, match="the variable TOKEN, which holds its token, is not set"):
                at(one, port)

    within(work)


async def answering(head: str, *pieces: bytes) -> asyncio.Server:
    """Serve one answer to everything, its pieces again and again until nobody reads."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{head}\r\n\r\n".encode())
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


@pytest.mark.parametrize(
    ("head", "pieces", "why"),
    [
        ("content-encoding: gzip", (gzip.compress(bytes(64 << 20)),), "it is packed .gzip., which was not asked for"),
        ("content-length: 99999999999", (bytes(1 << 20),) * 64, f"it is longer than {LONGEST} bytes"),
        ("connection: close", (b"[" + b"[]," * 600_000 + b"[]]",), "it has more than 500000 values"),
    ],
)
def test_an_answer_beyond_the_bounds_is_refused_and_not_held(
    tmp_path: Path, head: str, pieces: tuple[bytes, ...], why: str
) -> None:
    async def work() -> None:
        async with await answering(head, *pieces) as server, host(tmp_path) as one:
            with pytest.raises(Unavailable, match=why):
                await at(one, server.sockets[0].getsockname()[1], TOKEN=TOKEN).tools()

    tracemalloc.start()
    try:
        within(work)
        assert tracemalloc.get_traced_memory()[1] < 6 * LONGEST
    finally:
        tracemalloc.stop()


def test_an_address_where_nobody_listens_is_told(tmp_path: Path) -> None:
    async def work() -> None:
        async with host(tmp_path) as one:
            with pytest.raises(Unavailable, match="onnect"):
                await at(one, free_port(), TOKEN=TOKEN).tools()

    within(work)
