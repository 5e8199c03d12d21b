"""The servers that clients give, for agents of others: which of them an agent is handed. Loop thread.

An agent starts them itself, in the sandbox around it. Where nothing is around it that should be, a person is asked.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from secrets import token_hex

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, approval_in
from supervisor.agents.acp.capabilities import Capabilities
from supervisor.agents.acp.confinement import is_confined
from supervisor.agents.acp.permissions import Deadline
from supervisor.agents.acp.telling import History
from supervisor.agents.given_rules import Asked, Where, beside, left_out, settle, where
from supervisor.agents.given_servers import Given, GivenServers
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.config.agent_definitions import AgentDefinition
from transports.requests import GivenServer

Waiting = Callable[[], AbstractContextManager[None]]  # the time inside is a person's
NEEDS = {"http": "MCP over HTTP", "sse": "MCP over SSE"}
NOT_CONFINED = "nothing confines the agent, and the approval policy is never"


class Handed(Struct, frozen=True):
    """The servers that an agent is to be handed. `given` knows what a person has been told of them."""

    servers: tuple[GivenServer, ...] = ()
    given: Given | None = None

    def to(self, can: Capabilities) -> tuple[GivenServer, ...]:
        """Return those that it can use."""
        return tuple(one for one in self.servers if _is_known(one, can))

    def notices(self, can: Capabilities) -> Iterator[ev.BackgroundEvent]:
        """Yield what a person should know of the others, once."""
        others = (one for one in self.servers if not _is_known(one, can))
        yield from _news(self.given, (left_out(one, f"the agent does not know {NEEDS[one.kind]}") for one in others))


def _is_known(one: GivenServer, can: Capabilities) -> bool:
    return one.kind == "stdio" or NEEDS[one.kind] in can


class ClientServers:
    def __init__(self, given: GivenServers, history: History, deadline: Callable[[Turn], Deadline]) -> None:
        """`deadline`: of the questions of a turn."""
        self._given = given
        self._history = history
        self._deadline = deadline

    def of(self, conversation: ConversationId) -> tuple[GivenServer, ...]:
        """Return all that the conversation was given, as it is now."""
        return self._given.of(conversation).servers

    async def handed(self, turn: Turn, definition: AgentDefinition, waiting: Waiting) -> Handed:
        """Return what the agent is handed, when everything is decided that a person has to decide."""
        given = self._given.of(turn.order.conversation)
        found, notices = beside(given.servers, definition.mcp_servers)
        programs = [one for one in found.values() if one.kind == "stdio"]
        place = self._where(turn, definition)
        if place is Where.ASK and programs:
            await self._settle(given, programs, turn, waiting)
        if place is Where.NOWHERE:
            notices += [left_out(one, NOT_CONFINED) for one in programs]
        turn.emit(*_news(given, notices))
        refused = programs if place is Where.NOWHERE else [one for one in programs if given.decision(one) is False]
        return Handed(tuple(one for one in found.values() if one not in refused), given)

    @staticmethod
    def _where(turn: Turn, definition: AgentDefinition) -> Where:
        confined = is_confined(turn.settings, definition)
        return Where.INSIDE if confined else where(turn.settings, confines=False)

    async def _settle(self, given: Given, programs: list[GivenServer], turn: Turn, waiting: Waiting) -> None:
        order, deadline = turn.order, self._deadline(turn)

        async def put(request: ev.ApprovalRequest) -> ApprovalAnswer:
            known = await self._history.decision(order, request.item_id) if order.resume else None
            if known is not None:
                return ApprovalAnswer(known.decision, known.reason)
            with waiting():
                return await turn.ask(request, resumable=False)  # the agent has not even been prompted

        asked = Asked(
            order.turn, lambda: approval_in(order.conversation, token_hex(6)), deadline.after_s, deadline.default
        )
        if refused := await settle(self._given, given, programs, asked, put):
            turn.emit(ev.BackgroundEvent(message=refused))


def _news(given: Given | None, notices: Iterable[str]) -> Iterator[ev.BackgroundEvent]:
    if given is not None:
        yield from (ev.BackgroundEvent(message=one) for one in given.news(tuple(notices)))
