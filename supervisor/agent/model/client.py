"""The shared HTTP client, and one attempt at one response. Runs on the loop thread; one loop for its whole life.

The client is built in a worker thread, for the first request or before it: loading certificates and the library's
back end takes some 100 ms, which would delay every other conversation. A daemon that only uses the demo model never
builds it.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Self, cast

import httpx

from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model import wire
from supervisor.agent.model.direct import Direct, Unbounded, portions, post
from supervisor.agent.model.endpoint import Endpoint, headers_of, host_of, url_of, without_secrets
from supervisor.agent.model.errors import (
    BeyondBound,
    ModelError,
    Rejected,
    RequestFailed,
    RetryableModelError,
    StreamBroken,
)
from supervisor.agent.model.refusals import of_status
from supervisor.agent.model.request import ModelRequest
from supervisor.agent.model.sse import EventTooLarge, SseParser
from supervisor.agent.model.stream_events import StreamEvent

CONNECT_TIMEOUT_S = 15.0  # TCP and TLS to the other side of the world, with lost packets
POOL_TIMEOUT_S = 30.0  # more streams than connections: an error is better than a silent wait
LIMITS = httpx.Limits(max_connections=512, max_keepalive_connections=32, keepalive_expiry=60.0)
LINGER_S = 0.1  # for the end of a finished response's body, so that the connection can be used again
USAGE_LINGER_S = 1.0  # for token counts that were asked for and come after the answer
SLICE = 1024  # events decoded in one go, a millisecond or two; then the loop does other work
SLICE_BYTES = 64 * 1024  # the same for large events
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")

Deliver = Callable[[Sequence[StreamEvent]], Awaitable[None]]


def build_http(bounds: Bounds = DEFAULTS) -> httpx.AsyncClient:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs URLs at INFO, and a query may hold a key
    tls = httpx.create_ssl_context()
    try:
        client = httpx.AsyncClient(verify=tls, limits=LIMITS, mounts=dict.fromkeys(LOOPBACK), follow_redirects=False)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise Rejected(f"a proxy that the environment names can't be used: {type(error).__name__}") from error
    client._transport = Direct(tls, LIMITS, bounds)  # noqa: SLF001  # as an argument it would turn off the proxies
    if any(client._mounts.values()):  # noqa: SLF001
        _prepare_for_proxies()
    return client


def _prepare_for_proxies() -> None:
    """Import the back end of anyio, which httpx's own transport uses; the first request would do it on the loop."""
    from anyio.lowlevel import checkpoint

    asyncio.run(checkpoint())


class ModelClient:
    """The HTTP client of all conversations. `build` makes it, in a worker thread."""

    def __init__(
        self,
        build: Callable[[], httpx.AsyncClient] | None = None,
        now: Callable[[], float] = time.time,
        bounds: Bounds = DEFAULTS,
    ) -> None:
        self._build = build or partial(build_http, bounds)
        self._bounds = bounds
        self._now = now
        self._http: asyncio.Task[httpx.AsyncClient] | None = None
        self._attempts = 0
        self._streaming = 0

    async def attempt(self, endpoint: Endpoint, request: ModelRequest, deliver: Deliver) -> None:
        """Ask once. Returns when the response is finished; any other outcome closes the connection and raises."""
        self._attempts += 1
        http = await self._ready()
        with _mapped(endpoint, RequestFailed):
            response = await _send(http, endpoint, request, self._bounds)
        async with contextlib.aclosing(response):
            if not response.is_success:
                raise await self._refusal(endpoint, response)
            if wrapped := _wrapped(response):
                raise Rejected(
                    f"the model server sends its answer as {wrapped!r}, though it was asked for plain text; "
                    "turn off compression there, or in the proxy before it"
                )
            self._streaming += 1
            try:
                await Stream(endpoint, response, deliver, self._bounds).read()
            finally:
                self._streaming -= 1

    def prepare(self) -> "asyncio.Task[httpx.AsyncClient]":
        """Begin to build the client, if nobody has. On the loop; errors are raised where the client is needed."""
        if self._http is None or (self._http.done() and self._http.exception()):
            self._http = asyncio.create_task(asyncio.to_thread(self._build))
        return self._http

    async def _ready(self) -> httpx.AsyncClient:
        """Wait for the client. The build is shielded: a cancelled turn must not take the client from the others."""
        return await asyncio.shield(self.prepare())

    async def _refusal(self, endpoint: Endpoint, response: httpx.Response) -> ModelError:
        body = bytearray()
        if wrapped := _wrapped(response):
            body += f"its reason is not shown, as it came as {wrapped!r}".encode()
        else:
            with contextlib.suppress(TimeoutError, httpx.HTTPError):
                async with asyncio.timeout(self._bounds.refusal_seconds):
                    async for chunk in response.aiter_raw():
                        body += chunk
                        if len(body) > self._bounds.refusal_bytes:
                            break
        told = bytes(body[: self._bounds.refusal_bytes])
        return _cleaned(endpoint, of_status(response.status_code, response.headers, told, self._now()))

    def statistics(self) -> dict[str, int]:
        return {"attempts": self._attempts, "streaming": self._streaming}

    async def aclose(self) -> None:
        with contextlib.suppress(ModelError, OSError):  # it could not be built, and those who needed it were told
            if self._http is not None:
                await (await self._http).aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"ModelClient({self._streaming} streaming, {self._attempts} attempts)"


async def _send(http: httpx.AsyncClient, endpoint: Endpoint, request: ModelRequest, bounds: Bounds) -> httpx.Response:
    """Send a request past httpx's client, whose cookies, redirects and logins take as long again as all the rest.

    Requests through a proxy, or with a name and password in the address, go through the client.
    """
    url, headers = _address(url_of(endpoint)), headers_of(endpoint, request.session_id)
    body, timeout_s = wire.body(endpoint, request), endpoint.stream_idle_timeout_s
    size = sum(map(len, body))
    if size > bounds.request_bytes:
        raise BeyondBound(bounds.beyond("request_bytes", "the request to the model is too long"))
    timeouts = {"connect": CONNECT_TIMEOUT_S, "pool": POOL_TIMEOUT_S, "read": timeout_s, "write": timeout_s}
    transport = http._transport_for_url(url)  # noqa: SLF001  # see build_http
    if isinstance(transport, Direct) and not url.userinfo:
        return await transport.send(post(url, headers, body), timeouts)
    headers = {**headers, "Content-Length": f"{size}"}
    content = _paced(body)
    outgoing = httpx.Request("POST", url, headers=headers, content=content, extensions={"timeout": timeouts})
    return await http.send(outgoing, stream=True)


async def _paced(body: Iterable[bytes]) -> AsyncIterator[bytes]:
    """The body in portions, and the loop's other work between them."""
    for portion in portions(body):
        yield bytes(portion)
        await asyncio.sleep(0)


@lru_cache(64)
def _address(url: str) -> httpx.URL:
    """Parse an address, once: it takes a tenth of a millisecond and is the same for every turn."""
    return httpx.URL(url)


def _wrapped(response: httpx.Response) -> str:
    """Return an encoding of the body that was not asked for; decoding it could take any amount of memory."""
    encodings = ",".join(response.headers.get(name, "") for name in ("content-encoding", "transfer-encoding"))
    names = (name.strip().lower() for name in encodings.split(","))
    return ", ".join(name[:40] for name in names if name not in {"", "identity", "chunked"})[:80]


class Stream:
    """The reading of one answer: bytes to SSE data to stream events, a millisecond's worth at a time."""

    def __init__(self, endpoint: Endpoint, response: httpx.Response, deliver: Deliver, bounds: Bounds) -> None:
        self._endpoint = endpoint
        # The body itself: httpx's `aiter_raw` would count it and cut it anew.
        self._chunks = aiter(cast("httpx.AsyncByteStream", response.stream))
        self._deliver = deliver
        self._bounds = bounds
        self._decoder = wire.decoder(endpoint.wire, bounds)
        self._parser = SseParser(bounds.answer_event_bytes)
        self._silent = 0  # bytes since the model's last output

    async def read(self) -> None:
        try:
            await self._read()
        finally:  # an error keeps its frames alive, and so this object, but not the whole answer
            self._decoder = wire.decoder(self._endpoint.wire, self._bounds)

    async def _read(self) -> None:
        with _mapped(self._endpoint, StreamBroken):
            async for chunk in self._chunks:
                for start in range(0, len(chunk), SLICE_BYTES):
                    if start:
                        await asyncio.sleep(0)
                    await self._take(chunk[start : start + SLICE_BYTES])
                    if self._decoder.failure:
                        raise _cleaned(self._endpoint, self._decoder.failure)
                if self._decoder.answered:
                    break
        late = await self._linger() if self._decoder.answered else []
        if late := [*late, *self._decoder.end()]:
            await self._deliver(late)
        if self._decoder.failure:
            raise _cleaned(self._endpoint, self._decoder.failure)

    async def _take(self, chunk: bytes) -> None:
        said = self._decoder.said
        heard = await self._hear(self._parser.feed(chunk), self._deliver)
        self._silent = 0 if heard or self._decoder.said != said else self._silent + len(chunk)
        if self._silent - self._parser.unfinished > self._bounds.answer_silent_bytes:
            raise BeyondBound(
                self._bounds.beyond(
                    "answer_silent_bytes", "the model server sends on and on, and the model says nothing"
                )
            )

    async def _hear(self, events: list[bytes], deliver: Deliver) -> bool:
        """Decode and deliver events, many of them in slices; tell whether there was anything to deliver."""
        heard = False
        for number, some in enumerate(_slices(events)):
            if number:
                await asyncio.sleep(0)
            if news := self._decoder.read(some):
                heard = True
                await deliver(news)
            if self._decoder.failure or self._decoder.done:
                break
        return heard

    async def _linger(self) -> list[StreamEvent]:
        """Read on for a short time after the last item; errors in the rest are ignored."""
        late: list[StreamEvent] = []

        async def keep(news: Sequence[StreamEvent]) -> None:
            late.extend(news)

        now = asyncio.get_running_loop().time
        awaits_usage = self._endpoint.include_usage and not self._decoder.done
        with contextlib.suppress(TimeoutError, httpx.HTTPError, EventTooLarge):
            async with asyncio.timeout(USAGE_LINGER_S if awaits_usage else LINGER_S) as bound:
                async for chunk in self._chunks:
                    await self._hear(self._parser.feed(chunk), keep)
                    if awaits_usage and self._decoder.done:
                        awaits_usage = False
                        bound.reschedule(now() + LINGER_S)
        return late


def _slices(events: list[bytes]) -> Iterable[list[bytes]]:
    if len(events) <= SLICE and sum(map(len, events)) <= SLICE_BYTES:
        return (events,)
    return _cut(events)


def _cut(events: list[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    size = 0
    for event in events:
        some.append(event)
        size += len(event)
        if len(some) >= SLICE or size >= SLICE_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _cleaned(endpoint: Endpoint, failure: ModelError) -> ModelError:
    """Cut secrets out of an error, which may quote the server's text and so our key.

    This is done after parsing, because JSON has many ways to write a key.
    """
    failure.message = without_secrets(endpoint, failure.message)
    if isinstance(failure, RequestFailed):
        failure.exhausted = without_secrets(endpoint, failure.exhausted)
    failure.args = (failure.message,)
    return failure


@contextlib.contextmanager
def _mapped(endpoint: Endpoint, to: type[RequestFailed | StreamBroken]) -> Iterator[None]:
    """Map the library's exceptions to ours, here and nowhere else."""
    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
        raise Rejected(f"a request to {host_of(endpoint)!r} can't be made: {type(error).__name__}") from None
    except EventTooLarge as error:
        raise BeyondBound(str(error)) from error
    except Unbounded as error:
        raise BeyondBound(str(error)) from error
    except httpx.ReadTimeout as error:
        raise to("idle timeout waiting for SSE") from error
    except httpx.HTTPError as error:
        raise to(_words(endpoint, error, to)) from error


def _words(endpoint: Endpoint, error: httpx.HTTPError, to: type[RetryableModelError]) -> str:
    words = without_secrets(endpoint, str(error)) or type(error).__name__
    return words if to is StreamBroken else f"no answer from {host_of(endpoint)}: {words}"
