"""Rules for MCP servers that clients give: which are used, when a person is asked, and the question itself.

They hold for every agent. Pure, except that `settle` waits for the answer. Loop thread.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId, TurnId
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, Settings
from supervisor.agents.client_mcp_servers import ConversationServers, GivenServers
from supervisor.agents.turn import ApprovalAnswer
from transports.question_text import OURSELVES, command_line
from transports.supervisor_answers import Server, Servers
from transports.supervisor_requests import GivenServer

MOST = 32  # servers of one conversation
NAME = 100  # characters of a server's name that are shown
LONGEST = 4096  # characters of a command: a person reads it
HASH = 8  # characters that tell one set of servers in a turn from another

AskPerson = Callable[[ev.ApprovalRequested], Awaitable[ApprovalAnswer]]


def usable_servers(
    given: Sequence[GivenServer], configured: Collection[str]
) -> tuple[dict[str, GivenServer], list[str]]:
    """Return the servers that are used beside the config's, by name, and a notice for each of the others."""
    found: dict[str, GivenServer] = {}
    notices = []
    for server in given:
        if why := _unfit(server, found, configured):
            notices.append(left_out_notice(server, why))
        else:
            found[server.name] = server
    return found, notices


def _unfit(server: GivenServer, found: Collection[str], configured: Collection[str]) -> str:
    if not server.name:
        return "it has no name"
    if sum(map(len, (server.name, *server.command))) > LONGEST:
        return f"its command has more than {LONGEST} characters, which nobody could read"
    if server.name in configured:
        return "the config has one of this name, which is used"
    if server.name in found:
        return "another one that the client gives has the same name"
    if len(found) >= MOST:
        return f"a conversation can be given {MOST}"
    if not (server.command and server.command[0] if server.kind == "stdio" else server.url):
        return "no program is named" if server.kind == "stdio" else "no address is named"
    return ""


def left_out_notice(server: GivenServer, why: str) -> str:
    return f"MCP server {_line(server.name)}, which a client gives, is left out: {why}"


def describe_server(server: GivenServer, *, approved: bool | None = None) -> Server:
    """Describe a server without secrets: variables and headers by name, an address without user and query."""
    if server.kind == "stdio":
        variables = tuple(sorted(server.env))
        return Server(name=server.name, kind="stdio", command=server.command, variables=variables, approved=approved)
    url, headers = _plain(server.url), tuple(sorted(server.headers))
    return Server(name=server.name, kind=server.kind, url=url, headers=headers, approved=approved)


def _plain(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "?"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def describe_servers(given: ConversationServers) -> Servers:
    """Describe the servers without secrets, and whether a person has approved each; None: not asked yet."""
    return Servers(tuple(describe_server(server, approved=given.decision(server)) for server in given.servers))


# --- the start of a program -----------------------------------------------------------------------------------------


class ProgramPlace(StrEnum):
    """The place of a program that a client gives."""

    INSIDE = "in the sandbox"
    OUTSIDE = "outside the sandbox"
    ASK = "waits for an answer"
    NOWHERE = "not started"


def place_of_program(settings: Settings, *, confines: bool) -> ProgramPlace:
    """Return the place where a client's program may run. `confines`: the sandbox can hold it."""
    if isinstance(settings.sandbox, DangerFullAccess):
        return ProgramPlace.OUTSIDE
    if settings.approval_policy is not ApprovalPolicy.NEVER:
        return ProgramPlace.ASK
    return ProgramPlace.INSIDE if confines else ProgramPlace.NOWHERE


def may_start(place: ProgramPlace, decision: bool | None) -> bool:
    """Tell whether a client's program may be started there. A no holds, whatever the settings are by now."""
    match place:
        case ProgramPlace.INSIDE | ProgramPlace.OUTSIDE:
            return decision is not False
        case ProgramPlace.ASK:
            return decision is True
        case ProgramPlace.NOWHERE:
            return False


class QuestionContext(Struct, frozen=True):
    """The members of a question that its turn knows."""

    turn: TurnId
    approval: Callable[[], ApprovalId]
    deadline_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


async def settle(
    store: GivenServers,
    given: ConversationServers,
    programs: Sequence[GivenServer],
    asked: QuestionContext,
    put: AskPerson,
) -> str:
    """Ask a person, in one question, about the programs without a decision. Return a notice after a no, or ""."""
    async with given.asking:
        servers = [server for server in programs if given.decision(server) is None]
        if not servers:
            return ""
        answer = await put(question(servers, asked))
        await store.decide(given, servers, approved=answer.is_approved)
    if answer.is_approved:
        return ""
    because = f", because: {answer.reason}" if answer.reason else ""
    return f"{_server_names(servers)} that a client gives: refused{because}; the turn goes on without"


def question(servers: Sequence[GivenServer], asked: QuestionContext) -> ev.ApprovalRequested:
    """Build the question. Its item is the same in a later life of the turn."""
    facts = _storable(json.dumps([_asked_about(server) for server in servers], ensure_ascii=False))
    mark = sha256(facts.encode()).hexdigest()[:HASH]
    title = f"start {_server_names(servers)} that a client gives this conversation, outside the sandbox"
    return ev.ApprovalRequested(
        call_id=CallId(f"mcp-servers-{mark}"),
        agent=OURSELVES,
        subject=ev.CommandSubject(),
        agent_call=ev.AgentCall(title=title, sort="execute", arguments=facts),
        reason="a yes holds until the client gives others or the daemon ends; their tools are other questions",
        outside_sandbox=True,
        approval_id=asked.approval(),
        item_id=ItemId(f"{asked.turn}.servers.{mark}"),
        deadline_s=asked.deadline_s,
        default=asked.default,
    )


def _asked_about(server: GivenServer) -> dict[str, object]:
    return {"name": server.name, "command": command_line(server.command), "variables": sorted(server.env)}


def _server_names(servers: Sequence[GivenServer]) -> str:
    names = ", ".join(_line(server.name) for server in servers)
    return f"the MCP server{'s' if len(servers) > 1 else ''} {names}"


def _line(name: str) -> str:
    """Write a name from a client on one line of readable length."""
    return _storable(" ".join(name[:NAME].split()))


def _storable(text: str) -> str:
    """Replace halves of surrogate pairs, which no journal takes."""
    return text.encode("utf-8", "replace").decode()
