"""The shared HTTP client, and one attempt at one response. Runs on the loop thread; one loop for its whole life.

The client is built in a worker thread, for the first request or before it: loading certificates and the library's
back end takes some 100 ms, which would delay every other conversation. A daemon that only uses the demo model never
builds it.
"""

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Self

import httpx

from supervisor.agents.errors import BeyondBound, ModelError, Rejected, RequestFailed
from supervisor.agents.own.model import wire
from supervisor.agents.own.model.answer_reader import AnswerReader, Deliver
from supervisor.agents.own.model.endpoint import Endpoint, headers_of, url_of
from supervisor.agents.own.model.error_mapping import clean_error, map_errors
from supervisor.agents.own.model.http_transport import DirectTransport, portions, post
from supervisor.agents.own.model.refusals import of_status, refuses_a_member
from supervisor.agents.own.model.request import ModelRequest
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.config.shared_keys import WireApi

CONNECT_TIMEOUT_S = 15.0  # TCP and TLS to the other side of the world, with lost packets
POOL_TIMEOUT_S = 30.0  # more streams than connections: an error is better than a silent wait
LIMITS = httpx.Limits(max_connections=512, max_keepalive_connections=32, keepalive_expiry=60.0)
MOST_REMEMBERED = 256  # addresses of servers: a client may name any number
LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The certificate authorities of this machine, read once for all clients: that takes 20 ms."""
    return httpx.create_ssl_context()


def build_http(bounds: Bounds = DEFAULTS) -> httpx.AsyncClient:
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs URLs at INFO, and a query may hold a key
    tls = trusted_authorities()
    try:
        client = httpx.AsyncClient(verify=tls, limits=LIMITS, mounts=dict.fromkeys(LOOPBACK), follow_redirects=False)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise Rejected(f"a proxy that the environment names can't be used: {type(error).__name__}") from error
    client._transport = DirectTransport(tls, LIMITS, bounds)  # noqa: SLF001  # as an argument it would turn off the proxies
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
        self._without_usage: set[str] = set()  # addresses of servers that refuse to be asked for token counts
        self._attempts = 0
        self._streaming = 0

    async def attempt(self, endpoint: Endpoint, request: ModelRequest, deliver: Deliver) -> None:
        """Ask once. Returns when the response is finished; any other outcome closes the connection and raises.

        A server that refuses to be asked for token counts is asked again without; that is remembered.
        """
        if endpoint.base_url in self._without_usage:
            endpoint = replace(endpoint, include_usage=False)
        try:
            await self._attempt(endpoint, request, deliver)
        except Rejected as error:
            if not (endpoint.include_usage and endpoint.wire is WireApi.CHAT and refuses_a_member(error)):
                raise
            await self._attempt(replace(endpoint, include_usage=False), request, deliver)
            if len(self._without_usage) < MOST_REMEMBERED:
                self._without_usage.add(endpoint.base_url)

    async def _attempt(self, endpoint: Endpoint, request: ModelRequest, deliver: Deliver) -> None:
        self._attempts += 1
        http = await self._ready()
        with map_errors(endpoint, RequestFailed):
            response = await _send(http, endpoint, request, self._bounds)
        async with contextlib.aclosing(response):
            if not response.is_success:
                raise await self._refusal(endpoint, response)
            if encoding := _unwanted_encoding(response):
                raise Rejected(
                    f"the model server sends its answer as {encoding!r}, though it was asked for plain text; "
                    "turn off compression there, or in the proxy before it"
                )
            self._streaming += 1
            try:
                await AnswerReader(endpoint, response, deliver, self._bounds).read()
            finally:
                self._streaming -= 1

    def prepare(self) -> "asyncio.Task[httpx.AsyncClient]":
        """Begin to build the client, unless that has begun. On the loop; errors are raised where it is needed."""
        if self._http is None or (self._http.done() and self._http.exception()):
            self._http = asyncio.create_task(asyncio.to_thread(self._build))
        return self._http

    async def _ready(self) -> httpx.AsyncClient:
        """Wait for the client. The build is shielded: a cancelled turn must not take the client from the others."""
        return await asyncio.shield(self.prepare())

    async def _refusal(self, endpoint: Endpoint, response: httpx.Response) -> ModelError:
        body = bytearray()
        if encoding := _unwanted_encoding(response):
            body += f"its reason is not shown, as it came as {encoding!r}".encode()
        else:
            with contextlib.suppress(TimeoutError, httpx.HTTPError):
                async with asyncio.timeout(self._bounds.refusal_seconds):
                    async for chunk in response.aiter_raw():
                        body += chunk
                        if len(body) > self._bounds.refusal_bytes:
                            break
        reason = bytes(body[: self._bounds.refusal_bytes])
        return clean_error(endpoint, of_status(response.status_code, response.headers, reason, self._now()))

    def statistics(self) -> dict[str, int]:
        return {"attempts": self._attempts, "streaming": self._streaming}

    async def aclose(self) -> None:
        with contextlib.suppress(ModelError, OSError):  # a build that failed was reported where it was needed
            if self._http is not None:
                await (await self._http).aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"ModelClient({self._streaming} streaming, {self._attempts} attempts)"


async def _send(http: httpx.AsyncClient, endpoint: Endpoint, request: ModelRequest, bounds: Bounds) -> httpx.Response:
    """Send a request past httpx's client, whose cookies, redirects and logins take as long as all the rest.

    Requests through a proxy, or with a name and password in the address, go through the client.
    """
    url, headers = _address(url_of(endpoint)), headers_of(endpoint, request.session_id, request.model)
    body, timeout_s = wire.body(endpoint, request), endpoint.stream_idle_timeout_s
    size = sum(map(len, body))
    if size > bounds.request_bytes:
        raise BeyondBound(bounds.describe_excess("request_bytes", "the request to the model is too long"))
    timeouts = {"connect": CONNECT_TIMEOUT_S, "pool": POOL_TIMEOUT_S, "read": timeout_s, "write": timeout_s}
    transport = http._transport_for_url(url)  # noqa: SLF001  # see build_http
    if isinstance(transport, DirectTransport) and not url.userinfo:
        return await transport.send(post(url, headers, body), timeouts)
    headers = {**headers, "Content-Length": f"{size}"}
    content = _in_portions(body)
    outgoing = httpx.Request("POST", url, headers=headers, content=content, extensions={"timeout": timeouts})
    return await http.send(outgoing, stream=True)


async def _in_portions(body: Sequence[bytes]) -> AsyncIterator[bytes]:
    """Yield the body in portions, and let the loop do other work between them."""
    for portion in portions(body):
        yield bytes(portion)
        await asyncio.sleep(0)


@lru_cache(64)
def _address(url: str) -> httpx.URL:
    """Parse an address, once: it takes a tenth of a millisecond and is the same for every turn."""
    return httpx.URL(url)


def _unwanted_encoding(response: httpx.Response) -> str:
    """Return an encoding of the body that was not asked for; decoding it could take any amount of memory."""
    encodings = ",".join(response.headers.get(name, "") for name in ("content-encoding", "transfer-encoding"))
    names = (name.strip().lower() for name in encodings.split(","))
    return ", ".join(name[:40] for name in names if name not in {"", "identity", "chunked"})[:80]
