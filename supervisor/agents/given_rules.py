"""The rules for servers that clients give: which count, whether a person has to be asked, and the question.

For all agents alike. Pure, but for the question's own waiting.
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
from supervisor.agents.given_servers import Given, GivenServers
from supervisor.agents.turn import ApprovalAnswer
from transports.question import OURSELVES, command_line
from transports.requests import GivenServer

MOST = 32  # servers of one conversation
NAME = 100  # characters of one that are shown
LONGEST = 4096  # characters of a command: a person reads it
HASH = 8  # characters that tell one set of servers in a turn from another

Put = Callable[[ev.ApprovalRequest], Awaitable[ApprovalAnswer]]


def beside(given: Sequence[GivenServer], configured: Collection[str]) -> tuple[dict[str, GivenServer], list[str]]:
    """Return those that count beside the config's, by name, and a line for each of the others. Pure."""
    found: dict[str, GivenServer] = {}
    notices = []
    for one in given:
        if why := _unfit(one, found, configured):
            notices.append(left_out(one, why))
        else:
            found[one.name] = one
    return found, notices


def _unfit(one: GivenServer, found: Collection[str], configured: Collection[str]) -> str:
    if not one.name:
        return "it has no name"
    if sum(map(len, (one.name, *one.command))) > LONGEST:
        return f"its command has more than {LONGEST} characters, which nobody could read"
    if one.name in configured:
        return "the config has one of this name, which is used"
    if one.name in found:
        return "another one that the client gives has the same name"
    if len(found) >= MOST:
        return f"a conversation can be given {MOST}"
    if not (one.command and one.command[0] if one.kind == "stdio" else one.url):
        return "no program is named" if one.kind == "stdio" else "no address is named"
    return ""


def left_out(one: GivenServer, why: str) -> str:
    return f"MCP server {_line(one.name)}, which a client gives, is left out: {why}"


def shown(one: GivenServer) -> dict[str, object]:
    """Return what may be told of it: the names of variables and headers, and of an address no query."""
    if one.kind == "stdio":
        return {"name": one.name, "kind": one.kind, "command": list(one.command), "variables": sorted(one.env)}
    return {"name": one.name, "kind": one.kind, "url": _plain(one.url), "headers": sorted(one.headers)}


def _plain(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "?"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def told(given: Given) -> list[dict[str, object]]:
    """Return what may be told of them, and whether a person has approved them; None: nobody was asked."""
    return [{**shown(one), "approved": given.decision(one)} for one in given.servers]


# --- may they be started --------------------------------------------------------------------------------------------


class Where(StrEnum):
    """The place of a program that a client gives."""

    INSIDE = "in the sandbox"
    OUTSIDE = "outside the sandbox"
    ASK = "waits for an answer"
    NOWHERE = "not started"


def where(settings: Settings, *, confines: bool) -> Where:
    """Return where a program may run that a client gives. `confines`: it can be put into the sandbox. Pure."""
    if isinstance(settings.sandbox, DangerFullAccess):
        return Where.OUTSIDE
    if settings.approval_policy is not ApprovalPolicy.NEVER:
        return Where.ASK
    return Where.INSIDE if confines else Where.NOWHERE


class Asked(Struct, frozen=True):
    """The members of a question that its turn knows."""

    turn: TurnId
    approval: Callable[[], ApprovalId]
    deadline_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


async def settle(store: GivenServers, given: Given, programs: Sequence[GivenServer], asked: Asked, put: Put) -> str:
    """Have a person decide, in one question, what is not decided yet. Returns a line about a no; empty: none."""
    async with given.asking:
        servers = [one for one in programs if given.decision(one) is None]
        if not servers:
            return ""
        answer = await put(question(servers, asked))
        await store.decide(given, servers, approved=answer.approved)
    if answer.approved:
        return ""
    because = f", because: {answer.reason}" if answer.reason else ""
    return f"{_named(servers)} that a client gives: refused{because}; the turn goes on without"


def question(servers: Sequence[GivenServer], asked: Asked) -> ev.ToolUseApprovalRequest:
    """Return the question, whose item is the same in a later life of the turn."""
    facts = _storable(json.dumps([_asked_about(one) for one in servers], ensure_ascii=False))
    mark = sha256(facts.encode()).hexdigest()[:HASH]
    return ev.ToolUseApprovalRequest(
        call_id=CallId(f"mcp-servers-{mark}"),
        agent=OURSELVES,
        title=f"start {_named(servers)} that a client gives this conversation, outside the sandbox",
        kind="execute",
        arguments=facts,
        reason="a yes holds until the client gives others or the daemon ends; their tools are other questions",
        outside_sandbox=True,
        approval_id=asked.approval(),
        item_id=ItemId(f"{asked.turn}.servers.{mark}"),
        deadline_s=asked.deadline_s,
        default=asked.default,
    )


def _asked_about(one: GivenServer) -> dict[str, object]:
    return {"name": one.name, "command": command_line(one.command), "variables": sorted(one.env)}


def _named(servers: Sequence[GivenServer]) -> str:
    names = ", ".join(_line(one.name) for one in servers)
    return f"the MCP server{'s' if len(servers) > 1 else ''} {names}"


def _line(name: str) -> str:
    """Write a name of a client's on one line of readable length."""
    return _storable(" ".join(name[:NAME].split()))


def _storable(text: str) -> str:
    """Replace halves of surrogate pairs, which no journal takes."""
    return text.encode("utf-8", "replace").decode()
