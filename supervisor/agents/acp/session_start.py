"""The start of a session in a new process: resumed, loaded, or new. Loop thread; the order of requests is pure.

If the known session can't be taken up, a new one is started, and the reason reported.
"""

import asyncio
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.orders import KnownSession
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.acp.agent_process import AgentProcess, Capabilities
from supervisor.agents.acp.failures import AgentFailed, ChildEnded
from supervisor.agents.acp.json_readers import shape, text
from supervisor.agents.acp.session import MessageReceiver
from supervisor.agents.acp.wire import Json
from supervisor.config.mcp_servers import McpServer
from transports.supervisor_requests import GivenServer

NEW, LOAD, RESUME = "session/new", "session/load", "session/resume"
CAPABILITY_OF_KIND = {"http": "MCP over HTTP", "sse": "MCP over SSE"}  # that a server's kind needs
WHY = 300  # characters of an agent's reason
REPLAY_QUIET_S, REPLAY_LOOKS = 0.05, 40  # waits for late updates of a loaded session's history, which are no news

StartKind = Literal["new", "resumed", "loaded"]


class StepRequest(Struct, frozen=True):
    """A request of the start. `replays`: updates that come before its answer are history."""

    method: str
    params: dict[str, Any]
    replays: bool = False


class StepReply(Struct, frozen=True):
    """The answer to a request, or why there is none. `replayed`: how many updates of history came before it."""

    answer: Any = None
    failed: str = ""
    timed_out: bool = False
    replayed: int = 0


class StartedSession(Struct, frozen=True):
    """The started session. `lost`: why a known session could not be taken up, if so."""

    session: str
    how: StartKind
    answer: Any = None
    lost: str = ""


class SessionNotStarted(Exception):
    """The agent started no session; the text says why."""


class EndedMeanwhile(Exception):
    """The program has ended while it took up a known session."""


async def start_session(
    process: AgentProcess, receiver: MessageReceiver, params: Json, known: KnownSession | None
) -> StartedSession:
    """Start a session. Raises SessionNotStarted, EndedMeanwhile or AgentFailed."""
    requests = start_requests(process.capabilities, params, known)
    request = next(requests)
    while True:
        reply = await _reply(process, receiver, request)
        try:
            request = requests.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's end is not typed


async def _reply(process: AgentProcess, receiver: MessageReceiver, request: StepRequest) -> StepReply:
    limit_s = process.definition.start_s
    receiver.muted, receiver.replayed = request.replays, 0
    try:
        async with asyncio.timeout(limit_s):
            answer = await process.peer.request(request.method, request.params)
            if request.replays:
                await _silence(receiver)
    except TimeoutError:
        return StepReply(failed=f"it did not answer `{request.method}` within {limit_s:g} s", timed_out=True)
    except ChildEnded as error:
        if request.method == NEW:
            raise
        raise EndedMeanwhile(str(error)) from error
    except AgentFailed as error:
        return StepReply(failed=str(error))
    finally:
        receiver.muted = False
    return StepReply(answer, replayed=receiver.replayed)


async def _silence(receiver: MessageReceiver) -> None:
    """Wait, for a bounded time, until no more history comes."""
    heard = -1
    for _ in range(REPLAY_LOOKS):
        if heard == receiver.replayed:
            return
        heard = receiver.replayed
        await asyncio.sleep(REPLAY_QUIET_S)


# --- the requests, one after the other ------------------------------------------------------------------------------

StartRequests = Generator[StepRequest, StepReply, StartedSession]


def start_requests(can: Capabilities, place: Mapping[str, Any], known: KnownSession | None) -> StartRequests:
    lost = []
    for how, request in _ways(can, place, known) if known is not None else ():
        reply = yield request
        trouble = _trouble(reply, request, known)
        if not trouble:
            return StartedSession(request.params["sessionId"], how, reply.answer)
        lost.append(f"{request.method}: {trouble}"[:WHY])
        if reply.timed_out:
            break
    if known is not None and not lost:
        lost.append("it can't take sessions up")
    started = yield from _new_session(place)
    return replace(started, lost="; ".join(lost))


def _new_session(place: Mapping[str, Any]) -> StartRequests:
    reply = yield StepRequest(NEW, dict(place))
    if reply.failed:
        raise SessionNotStarted(reply.failed)
    session = text(shape(reply.answer).get("sessionId"))
    if not session:
        raise SessionNotStarted(f"its answer to `{NEW}` names no session")
    return StartedSession(session, "new", reply.answer)


def _ways(
    can: Capabilities, place: Mapping[str, Any], known: KnownSession
) -> Iterator[tuple[StartKind, StepRequest]]:
    params = {"sessionId": known.session, **place}
    if "resume sessions" in can:
        yield "resumed", StepRequest(RESUME, params)
    if "load sessions" in can:
        yield "loaded", StepRequest(LOAD, params, replays=True)


def _trouble(reply: StepReply, request: StepRequest, known: KnownSession | None) -> str:
    if reply.failed:
        return reply.failed
    other = shape(reply.answer).get("sessionId", request.params["sessionId"])
    if other != request.params["sessionId"]:
        return "it took up another session"
    if request.replays and not reply.replayed and known is not None and known.seen:
        return "the session that it took up is empty"
    return ""


def session_params(
    settings: Settings,
    can: Capabilities,
    servers: Mapping[str, McpServer],
    environ: Mapping[str, str],
    given: Sequence[GivenServer] = (),
) -> dict[str, Any]:
    """Return a session's working directory and MCP servers, as requests name them.

    `given`: a client's servers, of which the agent may not know all kinds.
    """
    known = (server for server in given if not unknown_kind(server, can))
    listed = [*_configured_servers(can, servers, environ), *map(_client_server, known)]
    place: dict[str, Any] = {"cwd": str(settings.cwd), "mcpServers": listed}
    sandbox = settings.sandbox
    if "further directories" in can and isinstance(sandbox, WorkspaceWrite) and sandbox.writable_roots:
        place["additionalDirectories"] = [str(root) for root in sandbox.writable_roots]
    return place


def _configured_servers(
    can: Capabilities, servers: Mapping[str, McpServer], environ: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for name, server in servers.items():
        if not server.enabled:
            continue
        if server.command is not None:
            env = {variable: environ[variable] for variable in server.env_vars if variable in environ} | dict(
                server.env
            )
            yield {"name": name, "command": server.command, "args": list(server.args), "env": _pairs(env)}
        elif server.url is not None and "MCP over HTTP" in can:
            headers = dict(server.http_headers)
            headers |= {header: environ[key] for header, key in server.env_http_headers.items() if environ.get(key)}
            if token := environ.get(server.bearer_token_env_var or ""):
                headers["Authorization"] = f"Bearer {token}"
            yield {"type": "http", "name": name, "url": server.url, "headers": _pairs(headers)}


def unknown_kind(server: GivenServer, can: Capabilities) -> str:
    """Return the capability that an agent lacks for a client's server; empty: it knows such servers."""
    needed = CAPABILITY_OF_KIND.get(server.kind, "")
    return "" if needed in can else needed


def _client_server(server: GivenServer) -> dict[str, Any]:
    if server.kind == "stdio":
        return {
            "name": server.name,
            "command": server.command[0],
            "args": list(server.command[1:]),
            "env": _pairs(server.env),
        }
    return {"type": server.kind, "name": server.name, "url": server.url, "headers": _pairs(server.headers)}


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
