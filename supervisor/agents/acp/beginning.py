"""The beginning of a session in a new process: resumed, loaded, or anew. Pure: a generator of requests.

It is sent the answers, and never raises for want of memory: a session that is not taken up begins anew, and says why.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.orders import KnownSession
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.acp.capabilities import Capabilities
from supervisor.agents.acp.shapes import shape, text
from supervisor.config.mcp_servers import McpServer
from transports.requests import GivenServer

NEW, LOAD, RESUME = "session/new", "session/load", "session/resume"
How = Literal["new", "resumed", "loaded"]
WHY = 300  # characters of an agent's reason


class Asked(Struct, frozen=True):
    """A request. `replays`: updates that come before its answer are history."""

    method: str
    params: dict[str, Any]
    replays: bool = False


class Given(Struct, frozen=True):
    """Its answer, or why there is none. `replayed`: how many words of the history came before it."""

    answer: Any = None
    failed: str = ""
    timed_out: bool = False
    replayed: int = 0


class Begun(Struct, frozen=True):
    """`lost`: why a session that was known could not be taken up; empty: it was, or there was none."""

    session: str
    how: How
    answer: Any = None
    lost: str = ""


class NotBegun(Exception):
    """The agent began no session; the text says why."""


Beginning = Generator[Asked, Given, Begun]


def begin(can: Capabilities, place: Mapping[str, Any], known: KnownSession | None) -> Beginning:
    lost = []
    for how, asked in _ways(can, place, known) if known is not None else ():
        given = yield asked
        trouble = _trouble(given, asked, known)
        if not trouble:
            return Begun(asked.params["sessionId"], how, given.answer)
        lost.append(f"{asked.method}: {trouble}"[:WHY])
        if given.timed_out:
            break
    if known is not None and not lost:
        lost.append("it can't take sessions up")
    begun = yield from _anew(place)
    return replace(begun, lost="; ".join(lost))


def _anew(place: Mapping[str, Any]) -> Beginning:
    given = yield Asked(NEW, dict(place))
    if given.failed:
        raise NotBegun(given.failed)
    session = text(shape(given.answer).get("sessionId"))
    if not session:
        raise NotBegun(f"its answer to `{NEW}` names no session")
    return Begun(session, "new", given.answer)


def _ways(can: Capabilities, place: Mapping[str, Any], known: KnownSession) -> Iterator[tuple[How, Asked]]:
    params = {"sessionId": known.session, **place}
    if "resume sessions" in can:
        yield "resumed", Asked(RESUME, params)
    if "load sessions" in can:
        yield "loaded", Asked(LOAD, params, replays=True)


def _trouble(given: Given, asked: Asked, known: KnownSession | None) -> str:
    if given.failed:
        return given.failed
    other = shape(given.answer).get("sessionId", asked.params["sessionId"])
    if other != asked.params["sessionId"]:
        return "it took up another session"
    if asked.replays and not given.replayed and known is not None and known.seen:
        return "the session that it took up is empty"
    return ""


def place_of(
    settings: Settings,
    can: Capabilities,
    servers: Mapping[str, McpServer],
    environ: Mapping[str, str],
    given: Sequence[GivenServer] = (),
) -> dict[str, Any]:
    """Return where a session works, and with which servers, as requests name it. `given`: by a client."""
    listed = [*_servers(can, servers, environ), *map(_as_given, given)]
    place: dict[str, Any] = {"cwd": str(settings.cwd), "mcpServers": listed}
    sandbox = settings.sandbox
    if "further directories" in can and isinstance(sandbox, WorkspaceWrite) and sandbox.writable_roots:
        place["additionalDirectories"] = [str(root) for root in sandbox.writable_roots]
    return place


def _servers(
    can: Capabilities, servers: Mapping[str, McpServer], environ: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for name, server in servers.items():
        if not server.enabled:
            continue
        if server.command is not None:
            env = {one: environ[one] for one in server.env_vars if one in environ} | dict(server.env)
            yield {"name": name, "command": server.command, "args": list(server.args), "env": _pairs(env)}
        elif server.url is not None and "MCP over HTTP" in can:
            headers = dict(server.http_headers)
            headers |= {one: environ[key] for one, key in server.env_http_headers.items() if environ.get(key)}
            if token := environ.get(server.bearer_token_env_var or ""):
                headers["Authorization"] = f"Bearer {token}"
            yield {"type": "http", "name": name, "url": server.url, "headers": _pairs(headers)}


def _as_given(one: GivenServer) -> dict[str, Any]:
    if one.kind == "stdio":
        return {"name": one.name, "command": one.command[0], "args": list(one.command[1:]), "env": _pairs(one.env)}
    return {"type": one.kind, "name": one.name, "url": one.url, "headers": _pairs(one.headers)}


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
