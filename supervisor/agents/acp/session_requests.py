"""Start of a session in a new process: resumed, loaded, or new. Pure: a generator that yields requests.

If the known session can't be taken up, it starts a new one and reports why.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.orders import KnownSession
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.acp.capabilities import Capabilities
from supervisor.agents.acp.json_readers import shape, text
from supervisor.config.mcp_servers import McpServer
from transports.supervisor_requests import GivenServer

NEW, LOAD, RESUME = "session/new", "session/load", "session/resume"
StartKind = Literal["new", "resumed", "loaded"]
WHY = 300  # characters of an agent's reason


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


Beginning = Generator[StepRequest, StepReply, StartedSession]


def start_requests(can: Capabilities, place: Mapping[str, Any], known: KnownSession | None) -> Beginning:
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


def _new_session(place: Mapping[str, Any]) -> Beginning:
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
    """Return a session's working directory and MCP servers, as requests name them. `given`: a client's servers."""
    listed = [*_configured_servers(can, servers, environ), *map(_client_server, given)]
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
