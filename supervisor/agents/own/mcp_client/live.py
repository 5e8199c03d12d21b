"""One live session with a server, on the official SDK. Imports all of it, so this module is imported late.

Loop thread. Everything that the SDK raises or returns is turned into ours here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

import httpx2
import mcp_types as types
import structlog
from mcp import Client, MCPError
from mcp.client import ClientRequestContext, Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from actors.vocabulary.brief import brief
from supervisor.agents.own.mcp_client.answer_bounds import PLAIN, bound_answer
from supervisor.agents.own.mcp_client.failures import CallFailed, Ended, Unavailable
from supervisor.agents.own.mcp_client.offered_tools import DESCRIPTION, fingerprint_of, schema_of
from supervisor.agents.own.mcp_client.server_tools import Json, ServerTool
from supervisor.agents.own.mcp_client.transport_end import TransportEnd
from supervisor.version import VERSION

log = structlog.get_logger()

PAGES = 20  # of a list of tools: a list without an end must not hold up a turn
NAME = 256  # characters of a tool's name: MCP has 128
LISTED = 512  # tools of one server that are looked at
CONNECT_S = 30.0  # to an address
SILENT_S = 3600.0  # a stream may say nothing for as long as the longest call; calls have a limit of their own


class SessionListener(Protocol):
    """A connection that takes the requests and notices that the server sends by itself."""

    async def elicit(self, params: Json) -> Json: ...

    def tools_changed(self) -> None: ...


class LiveSession:
    """A session that is ready."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def server(self) -> str:
        """The server's name and version, as it gives them."""
        about = self._client.server_info
        return f"{about.name} {about.version}".strip() if about is not None else ""

    async def tools(self) -> tuple[ServerTool, ...]:
        if self._client.server_capabilities.tools is None:
            return ()
        found: list[ServerTool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            try:
                page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            except MCPError as error:
                raise Unavailable(f"its list of tools: {_words(error)}") from error
            found += await asyncio.to_thread(_tools, page.tools[: LISTED - len(found)])
            cursor = page.next_cursor
            if cursor is None or len(found) >= LISTED:
                break
        return tuple(found)

    async def call(self, tool: str, arguments: Json, progressed: ProgressFnT) -> Json:
        """Return the result as JSON. Cancelling the call tells the server."""
        try:
            result = await self._client.call_tool(tool, arguments, progress_callback=progressed)
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise Ended("the connection ended") from error
            raise CallFailed(_words(error)) from error
        except (httpx2.HTTPError, OSError) as error:
            raise Ended(f"the connection failed: {_plain(error)}") from error
        except (ValueError, RuntimeError) as error:  # no result, or one that breaks the tool's own schema
            raise CallFailed(f"its answer can't be used: {_plain(error)}") from error
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)


Mode = Literal["legacy", "auto"]


@asynccontextmanager
async def session(transport: Transport, mode: Mode, heard: SessionListener) -> AsyncIterator[LiveSession]:
    """Enter a session. `legacy`: greet as servers of up to 2025 know it; `auto`: ask first which they know."""

    async def elicit(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:  # noqa: ARG001  # by the SDK's names
        answer = await heard.elicit(params.model_dump(mode="json", by_alias=True, exclude_none=True))
        return types.ElicitResult.model_validate(answer)

    async def hear(message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.tools_changed()

    about = types.Implementation(name="greenroom", version=VERSION)
    client = Client(
        transport, mode=mode, elicitation_callback=elicit, message_handler=hear, client_info=about, cache=None
    )
    async with client:
        listening = asyncio.create_task(_listen(client, heard))
        try:
            yield LiveSession(client)
        finally:
            listening.cancel()
            await asyncio.wait({listening})


async def _listen(client: Client, heard: SessionListener) -> None:
    """Listen for changed tools: servers of 2026 tell only clients that ask; older servers tell all clients."""
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    try:
        async with client.listen(tools_list_changed=True) as changes:
            heard.tools_changed()  # changes between the first list and this moment were not announced
            async for _ in changes:
                heard.tools_changed()
    except (MCPError, RuntimeError, OSError, httpx2.HTTPError) as error:
        log.info("mcp_server.tells_no_changes", reason=_plain(error))


def knows_another_protocol(error: BaseException) -> bool:
    """Tell whether a server's refusal of the greeting shows that it knows another protocol."""
    return isinstance(error, MCPError) and error.code in {types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION}


def reason(error: BaseException) -> str:
    """Put the error of a start into words; the SDK groups the errors of its tasks."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return _words(error) if isinstance(error, MCPError) else _plain(error)


@asynccontextmanager
async def _http(url: str, headers: Mapping[str, str], watch: TransportEnd, longest: int) -> AsyncIterator[Any]:
    async def look(response: httpx2.Response) -> None:
        watch.why = f"it answered {response.status_code} {response.reason_phrase}" if response.is_error else ""
        bound_answer(response, longest)

    timeout, hooks = httpx2.Timeout(CONNECT_S, read=SILENT_S), {"response": [look]}
    async with (
        httpx2.AsyncClient(headers=PLAIN | dict(headers), timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def http(url: str, headers: Mapping[str, str], watch: TransportEnd, longest: int) -> Transport:
    return _http(url, headers, watch, longest)


def _tools(page: list[types.Tool]) -> list[ServerTool]:
    """Keep the parts that models are offered, bounded, as a server may send any amount. Blocking; may take long."""
    return [_tool(tool) for tool in page if len(tool.name) <= NAME]


def _tool(tool: types.Tool) -> ServerTool:
    hints = tool.annotations
    return ServerTool(
        tool.name,
        brief(tool.description or tool.title or "", DESCRIPTION),
        schema_of(tool.input_schema),
        only_reads=bool(hints and hints.read_only_hint),
        destroys=hints.destructive_hint if hints else None,
        fingerprint=fingerprint_of(tool.model_dump(mode="json", by_alias=True, exclude={"icons", "meta"})),
    )


def _words(error: MCPError) -> str:
    return " ".join(str(error.message).split())[:300] or f"error {error.code}"


def _plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
