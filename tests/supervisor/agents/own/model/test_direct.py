"""HTTP over our own sockets: a server that says exactly what a test wants, on loopback."""

import asyncio
import gc
import os
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from supervisor.agents.own.model.client import build_http
from supervisor.agents.own.model.http_transport import FULL, PORTION, PORTIONS, DirectTransport, portions
from supervisor.config.bounds import DEFAULTS

TLS = Path(__file__).parents[4] / "data" / "tls"  # a certificate for localhost that nothing else trusts
PATIENCE_S = 20.0
SHORT_S = 0.05
ROUNDS = 40  # of the loop, in which a connection to this machine is made
LIMITS = httpx.Limits(max_connections=2, max_keepalive_connections=1, keepalive_expiry=60.0)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Place:
    """A server, and a client of it."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self.http = http
        self.url = url
        self.connections = 0

    async def get(self) -> httpx.Response:
        return await self.http.post(self.url, content=b"{}")


@asynccontextmanager
async def a_place(serve: Serve, timeout_s: float = PATIENCE_S, limits: httpx.Limits = LIMITS) -> AsyncIterator[Place]:
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place.connections += 1
        try:
            await serve(reader, writer)
        finally:
            writer.transport.abort()

    tls = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
    async with (
        asyncio.timeout(PATIENCE_S),
        await asyncio.start_server(served, "127.0.0.1", 0) as server,
        httpx.AsyncClient(transport=DirectTransport(tls, limits), timeout=timeout_s) as http,
    ):
        place = Place(http, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        yield place


def answering(*answers: bytes) -> Serve:
    """Answer each request with the next of these, on one connection, then hang up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            if not await asked(reader):
                return
            writer.write(answer)
            await writer.drain()
        writer.write_eof()
        await reader.read()

    return serve


async def asked(reader: asyncio.StreamReader) -> bytes:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        return head + await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return b""


async def never(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    await asyncio.sleep(PATIENCE_S)


def test_a_request_is_what_was_asked_for() -> None:
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await asked(reader))
        writer.write(OK)
        await writer.drain()

    async def scene() -> None:
        async with a_place(serve) as place:
            answer = await place.http.post(f"{place.url}a/b?c=d", content=b"body", headers={"X-Key": "k"})
            assert (answer.status_code, answer.text) == (200, "ok")

    asyncio.run(scene())
    first, *lines = heard[0].decode().split("\r\n")
    assert first == "POST /a/b?c=d HTTP/1.1"
    assert {"X-Key: k", "Content-Length: 4", "body"} <= set(lines)


@pytest.mark.parametrize("sizes", [(), (0,), (1,), (PORTION,), (10, PORTION, 10), (3 * PORTION + 1, 0, 5), (7,) * 9])
def test_portions_have_the_same_bytes_and_one_size(sizes: tuple[int, ...]) -> None:
    pieces = [os.urandom(size) for size in sizes]
    made = [bytes(one) for one in portions(pieces)]
    assert b"".join(made) == b"".join(pieces)
    assert all(len(one) == PORTION for one in made[:-1])
    assert all(0 < len(one) <= PORTION for one in made[-1:])


def test_the_loop_does_other_work_while_a_long_request_is_sent() -> None:
    """The server reads as fast as it can, on the same loop."""
    heard: list[bytes] = []
    body = os.urandom(8 << 20)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await asked(reader))
        writer.write(OK)
        await writer.drain()

    async def go_round() -> None:
        while True:
            await asyncio.sleep(0)
            rounds.append(None)

    async def scene() -> None:
        async with a_place(serve) as place:
            counting = asyncio.create_task(go_round())
            assert (await place.http.post(place.url, content=body)).text == "ok"
            counting.cancel()

    rounds: list[None] = []
    asyncio.run(scene())
    assert heard[0].endswith(body)
    assert len(rounds) > len(body) / (PORTION * PORTIONS)


def test_a_refusal_that_comes_before_the_request_is_whole_is_read() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        writer.write_eof()
        while await reader.read(1 << 20):
            pass

    async def scene() -> None:
        async with a_place(serve) as place:
            answer = await place.http.post(place.url, content=b"x" * (64 << 20))
            assert (answer.status_code, answer.text) == (413, "no")

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (OK, "ok"),
        (CHUNKED + b"1\r\no\r\n1\r\nk\r\n0\r\n\r\n", "ok"),
        (CHUNKED + b"2;x=y\r\nok\r\n0\r\nTrailer: z\r\n\r\n", "ok"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, "ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
    ],
)
def test_an_answer_is_read_however_it_is_framed_and_cut(answer: bytes, text: str) -> None:
    async def drop_by_drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        for byte in answer:
            writer.write(bytes([byte]))
            await writer.drain()
        writer.write_eof()
        await reader.read()

    async def scene() -> None:
        for serve in (answering(answer), drop_by_drop):
            async with a_place(serve) as place:
                response = await place.get()
                assert response.text == text
                assert "link" not in response.headers

    asyncio.run(scene())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        CHUNKED + b"5\r\nok",
        CHUNKED + b"2\r\nok\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        CHUNKED + b"no number\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: %s\r\n" % (b"y" * 1000) * (DEFAULTS.answer_head_bytes // 1000 + 1) + b"\r\n",
    ],
)
def test_an_answer_that_is_cut_or_is_none_is_an_error_and_never_shortened(answer: bytes) -> None:
    async def scene() -> None:
        async with a_place(answering(answer)) as place:
            with pytest.raises(httpx.RemoteProtocolError):
                await place.get()

    asyncio.run(scene())


def test_a_connection_is_used_again_once_its_answer_was_read_and_not_when_the_server_forbids_it() -> None:
    async def scene() -> None:
        async with a_place(answering(OK, OK, OK.replace(b"\r\nC", b"\r\nConnection: close\r\nC", 1), OK)) as place:
            for _ in range(3):
                assert (await place.get()).text == "ok"
            assert place.connections == 1
            assert (await place.get()).text == "ok"
            assert place.connections == 2

    asyncio.run(scene())


def test_a_connection_that_the_server_closed_or_spoke_on_meanwhile_is_not_used_again() -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(OK)
        await writer.drain()
        writer.write(OK)  # no request is open
        await writer.drain()
        await reader.read()

    async def scene() -> None:
        for serve in (answering(OK), once):
            async with a_place(serve) as place:
                for _ in range(5):
                    assert (await place.get()).text == "ok"
                    while place.http._transport._idle:  # type: ignore[attr-defined]  # noqa: ASYNC110
                        await asyncio.sleep(0)
                assert place.connections == 5

    asyncio.run(scene())


@pytest.mark.parametrize("late", [OK.replace(b"ok", b"no"), b""])
def test_bytes_on_an_idle_connection_while_the_loop_was_busy_answer_no_request(late: bytes) -> None:
    ends: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(writer)
        while await asked(reader):
            writer.write(OK)

    async def scene() -> None:
        async with a_place(serve) as place:
            assert (await place.get()).text == "ok"
            fd = ends[0].get_extra_info("socket").fileno()
            if late:
                os.write(fd, late)
            else:
                with socket.socket(fileno=os.dup(fd)) as server:
                    server.shutdown(socket.SHUT_WR)
            assert (await place.get()).text == "ok"
            assert place.connections == 2

    asyncio.run(scene())


def test_a_server_that_wants_another_protocol_is_refused() -> None:
    async def scene() -> None:
        switching = b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        async with a_place(answering(switching)) as place:
            with pytest.raises(httpx.RemoteProtocolError, match="another protocol"):
                await place.get()

    asyncio.run(scene())


def test_idle_connections_are_few_and_leave_after_a_while() -> None:
    limits = httpx.Limits(max_connections=8, max_keepalive_connections=2, keepalive_expiry=SHORT_S)

    async def scene() -> None:
        async with a_place(answering(OK, OK), limits=limits) as place:
            await asyncio.gather(*(place.get() for _ in range(5)))
            idle = place.http._transport._idle  # type: ignore[attr-defined]
            assert len(idle) <= 2
            while idle:  # noqa: ASYNC110  # a timer of its own empties it
                await asyncio.sleep(SHORT_S / 5)

    asyncio.run(scene())


def test_more_requests_than_connections_wait_for_one_and_say_so_when_it_takes_too_long() -> None:
    async def scene() -> None:
        async with a_place(answering(OK, OK, OK, OK)) as place:
            answers = await asyncio.gather(*(place.get() for _ in range(6)))
            assert [one.text for one in answers] == ["ok"] * 6
            assert place.connections <= 4
        async with a_place(never, limits=httpx.Limits(max_connections=1)) as place:
            waiting = asyncio.create_task(place.get())
            await asyncio.sleep(0)
            with pytest.raises(httpx.PoolTimeout):
                await place.http.post(place.url, timeout=httpx.Timeout(PATIENCE_S, pool=SHORT_S))
            waiting.cancel()
            await asyncio.wait([waiting])

    asyncio.run(scene())


def test_a_cancelled_request_closes_its_connection_and_frees_its_place() -> None:
    here, gone = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await asked(reader)
        here.set()
        await reader.read()
        gone.set()

    async def scene() -> None:
        async with a_place(silent, limits=httpx.Limits(max_connections=1)) as place:
            for _ in range(3):
                request = asyncio.create_task(place.get())
                await here.wait()
                request.cancel()
                await asyncio.wait([request])
                await gone.wait()
                here.clear()
                gone.clear()

    asyncio.run(scene())


def test_silence_ends_the_patience_of_each_read_and_steady_drops_do_not() -> None:
    async def drops(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(CHUNKED)
        for _ in range(10):
            writer.write(b"1\r\nx\r\n")
            await asyncio.sleep(0.1)
        await asyncio.sleep(PATIENCE_S)

    async def scene() -> None:
        async with a_place(never, timeout_s=SHORT_S) as place:
            with pytest.raises(httpx.ReadTimeout):
                await place.get()
        got = b""
        async with a_place(drops, timeout_s=0.8) as place, place.http.stream("POST", place.url) as answer:
            pieces = answer.aiter_bytes()
            while got != b"x" * 10:
                got += await anext(pieces)
            with pytest.raises(httpx.ReadTimeout):
                await anext(pieces)

    asyncio.run(scene())


def test_a_consumer_that_does_not_read_stops_its_server_instead_of_filling_memory() -> None:
    blocks = 64

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (blocks * FULL))
        for _block in range(blocks):
            writer.write(b"x" * FULL)
            await writer.drain()
        await asyncio.sleep(PATIENCE_S)

    async def scene() -> None:
        async with a_place(flood) as place, place.http.stream("POST", place.url) as answer:
            for _ in range(1000):
                await asyncio.sleep(0)
            stream: Any = answer.stream
            assert FULL < stream._stream._connection._size < 3 * FULL  # nothing else tells what waits
            assert sum([len(piece) async for piece in answer.aiter_bytes()]) == blocks * FULL

    asyncio.run(scene())


def test_a_server_that_takes_nothing_is_given_up_in_time() -> None:
    async def deaf(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(PATIENCE_S)

    async def scene() -> None:
        async with a_place(deaf, timeout_s=SHORT_S) as place:
            with pytest.raises(httpx.WriteTimeout):
                await place.http.post(place.url, content=b"x" * 64 * FULL)

    asyncio.run(scene())


def test_a_reset_is_an_error() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.get_extra_info("socket").setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER of no time: RST

    async def scene() -> None:
        async with a_place(reset) as place:
            with pytest.raises(httpx.ReadError):
                await place.get()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("url", "headers", "error"),
    [
        ("http://127.0.0.1:1/", {}, httpx.ConnectError),
        ("ftp://127.0.0.1/", {}, httpx.UnsupportedProtocol),
        ("http://127.0.0.1:1/", {"X-Key": "a\r\nHost: b"}, httpx.LocalProtocolError),
    ],
)
def test_a_request_that_cannot_be_sent_fails_with_the_reason(
    url: str, headers: dict[str, str], error: type[Exception]
) -> None:
    async def scene() -> None:
        async with a_place(never) as place:
            with pytest.raises(error):
                await place.http.post(url, headers=headers)

    asyncio.run(scene())


def test_a_secured_server_is_spoken_to_if_it_is_trusted_and_else_refused() -> None:
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")

    async def scene() -> None:
        async with await asyncio.start_server(answering(OK), "127.0.0.1", 0, ssl=server_side) as server:
            url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
            trusting = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
            async with httpx.AsyncClient(transport=DirectTransport(trusting, LIMITS), timeout=PATIENCE_S) as http:
                assert (await http.post(url)).text == "ok"
            doubting = ssl.create_default_context()
            async with httpx.AsyncClient(transport=DirectTransport(doubting, LIMITS), timeout=PATIENCE_S) as http:
                with pytest.raises(httpx.ConnectError):
                    await http.post(url)

    asyncio.run(scene())


def test_a_long_request_arrives_whole_at_a_secured_server() -> None:
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    heard: list[bytes] = []
    body = os.urandom(4 << 20)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await asked(reader))
        writer.write(OK)
        await writer.drain()

    async def scene() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_side) as server:
            trusting = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
            async with httpx.AsyncClient(transport=DirectTransport(trusting, LIMITS), timeout=PATIENCE_S) as http:
                url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
                assert (await http.post(url, content=body)).text == "ok"

    asyncio.run(scene())
    assert heard[0].endswith(body)


def test_the_client_asks_directly_whom_no_proxy_stands_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    client = build_http()
    assert isinstance(client._transport_for_url(httpx.URL("http://example.invalid/")), DirectTransport)
    assert isinstance(client._transport_for_url(httpx.URL("https://localhost/")), DirectTransport)
    assert isinstance(client._transport_for_url(httpx.URL("https://example.invalid/")), httpx.AsyncHTTPTransport)
    asyncio.run(client.aclose())


# --- a request that is taken back while it connects ---


def test_no_socket_is_left_whenever_a_request_is_taken_back() -> None:
    async def fill() -> list[str]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ResourceWarning)
            async with a_place(answering(OK)) as place:
                for rounds in range(ROUNDS):
                    asking = asyncio.ensure_future(place.get())
                    for _ in range(rounds):
                        await asyncio.sleep(0)
                    asking.cancel()
                    with suppress(asyncio.CancelledError):
                        await asking
            gc.collect()
        return [str(one.message) for one in told]

    assert asyncio.run(fill()) == []
