"""The MCP servers that clients give their conversations: in memory alone, because they hold secrets. Loop thread.

After a restart of the daemon a conversation has none until its client gives them again. Whether one of them may be
started, and whether a person has to be asked for that, is decided here for all agents.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

import structlog
from msgspec import Struct, field

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, ItemId, TurnId
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, Settings
from supervisor.agent.turn import ApprovalAnswer
from transports.environments import size_of
from transports.requests import GivenServer

KEPT = 4096  # conversations; as many as have an environment of their own
KEPT_BYTES = 16 << 20  # of what all of them were given
MOST = 32  # servers of one conversation
LONGEST = 4096  # characters of a command: a person reads it
ASKER = "greenroom"  # in the question: no agent asks it
HASH = 8  # characters that tell one set of servers in a turn from another

log = structlog.get_logger()

Put = Callable[[ev.ApprovalRequest], Awaitable[ApprovalAnswer]]


class Where(StrEnum):
    """The place of a program that a client gives."""

    INSIDE = "in the sandbox"
    OUTSIDE = "outside the sandbox"
    ASK = "waits for an answer"
    NOWHERE = "not started"


class Given(Struct, eq=False):
    """The servers of one conversation, the answers about them, and what a person has been told of them."""

    servers: tuple[GivenServer, ...] = ()
    decided: list[tuple[GivenServer, bool]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)  # calls side by side must not ask twice

    def decision(self, server: GivenServer) -> bool | None:
        return next((yes for one, yes in self.decided if one == server), None)

    def told(self) -> list[dict[str, object]]:
        """Return what may be told of them, and whether a person has approved them; None: nobody was asked."""
        return [{**shown(one), "approved": self.decision(one)} for one in self.servers]

    def news(self, notices: Sequence[str]) -> Iterator[str]:
        """The notices that nobody has been told yet."""
        for notice in notices:
            if notice not in self.said:
                self.said.add(notice)
                yield notice


class GivenServers:
    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, Given] = {}

    def __repr__(self) -> str:
        return f"<GivenServers of {len(self._of)} conversations>"

    def give(self, conversation: ConversationId, servers: Sequence[GivenServer]) -> None:
        """Take what a client gives, in place of what was there. Answers hold for what is given again unchanged."""
        given = self._of.pop(conversation, None) or Given()
        if tuple(servers) != given.servers:
            given.servers = tuple(servers)
            given.decided = [(one, yes) for one, yes in given.decided if one in given.servers]
            given.said.clear()
        if servers:
            self._of[conversation] = given
            self._make_room()

    def of(self, conversation: ConversationId) -> Given:
        return self._of.get(conversation) or Given()

    def forget(self, conversation: ConversationId) -> None:
        self._of.pop(conversation, None)

    def _make_room(self) -> None:
        while len(self._of) > 1 and (len(self._of) > KEPT or sum(map(_size, self._of.values())) > self._kept_bytes):
            oldest = next(iter(self._of))
            log.warning("given_servers.forgotten", conversation=oldest, kept=len(self._of))
            del self._of[oldest]


def _size(given: Given) -> int:
    words = sum(len(word) for one in given.servers for word in (one.name, one.url, *one.command))
    return words + sum(size_of(one.env) + size_of(one.headers) for one in given.servers)


# --- which of them count -------------------------------------------------------------------------------------------


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
    return f"MCP server {_storable(one.name[:100])}, which a client gives, is left out: {why}"


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


# --- may they be started --------------------------------------------------------------------------------------------


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


async def settle(given: Given, programs: Sequence[GivenServer], asked: Asked, put: Put) -> str:
    """Have a person decide, in one question, what is not decided yet. Returns a line about a no; empty: none."""
    async with given.asking:
        servers = [one for one in programs if given.decision(one) is None]
        if not servers:
            return ""
        answer = await put(question(servers, asked))
        given.decided += [(one, answer.approved) for one in servers]
    if answer.approved:
        return ""
    because = f", because: {answer.reason}" if answer.reason else ""
    return f"{_named(servers)} that a client gives: refused{because}; the turn goes on without"


def question(servers: Sequence[GivenServer], asked: Asked) -> ev.ToolUseApprovalRequest:
    """Return the question, whose item is the same in a later life of the turn."""
    facts = _storable(json.dumps([shown(one) for one in servers], ensure_ascii=False))
    mark = sha256(facts.encode()).hexdigest()[:HASH]
    return ev.ToolUseApprovalRequest(
        call_id=CallId(f"mcp-servers-{mark}"),
        agent=ASKER,
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


def _named(servers: Sequence[GivenServer]) -> str:
    names = _storable(", ".join(one.name for one in servers))
    return f"the MCP server{'s' if len(servers) > 1 else ''} {names}"


def _storable(text: str) -> str:
    """Replace halves of surrogate pairs, which no journal takes."""
    return text.encode("utf-8", "replace").decode()
