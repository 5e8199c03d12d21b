"""MCP servers from clients, for third-party agents: which of them an agent gets. Loop thread.

The agent starts them itself, in the sandbox around it. Without a sandbox a person is asked first.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from secrets import token_hex

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, approval_in
from supervisor.agents.acp.capabilities import Capabilities
from supervisor.agents.acp.catch_up import MissedHistory
from supervisor.agents.acp.confinement import is_confined
from supervisor.agents.acp.permissions import Deadline
from supervisor.agents.client_mcp_servers import ConversationServers, GivenServers
from supervisor.agents.client_server_rules import (
    ProgramPlace,
    QuestionContext,
    left_out_notice,
    place_of_program,
    settle,
    usable_servers,
)
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.config.agent_definitions import AgentDefinition
from transports.supervisor_requests import GivenServer

Waiting = Callable[[], AbstractContextManager[None]]  # time in the context is a person's, not the agent's
CAPABILITY_OF_KIND = {"http": "MCP over HTTP", "sse": "MCP over SSE"}
NOT_CONFINED = "nothing confines the agent, and the approval policy is never"


class ServersForAgent(Struct, frozen=True):
    """The servers for an agent. `given` remembers the notices that a person has had of them."""

    servers: tuple[GivenServer, ...] = ()
    given: ConversationServers | None = None

    def usable_by(self, can: Capabilities) -> tuple[GivenServer, ...]:
        """Return the servers that the agent can use."""
        return tuple(server for server in self.servers if _is_known(server, can))

    def notices(self, can: Capabilities) -> Iterator[ev.BackgroundEvent]:
        """Yield a notice of each other server, once."""
        others = (server for server in self.servers if not _is_known(server, can))
        notices = (
            left_out_notice(server, f"the agent does not know {CAPABILITY_OF_KIND[server.kind]}") for server in others
        )
        yield from _news(self.given, notices)


def _is_known(server: GivenServer, can: Capabilities) -> bool:
    return server.kind == "stdio" or CAPABILITY_OF_KIND[server.kind] in can


class AgentClientServers:
    def __init__(self, given: GivenServers, history: MissedHistory, deadline: Callable[[Turn], Deadline]) -> None:
        """`deadline`: how long the questions of a turn wait."""
        self._given = given
        self._history = history
        self._deadline = deadline

    def all_of(self, conversation: ConversationId) -> tuple[GivenServer, ...]:
        """Return all servers that clients have given the conversation so far."""
        return self._given.servers_of(conversation).servers

    async def choose(self, turn: Turn, definition: AgentDefinition, waiting: Waiting) -> ServersForAgent:
        """Choose the agent's servers, after a person has decided where that is needed."""
        given = self._given.servers_of(turn.order.conversation)
        found, notices = usable_servers(given.servers, definition.mcp_servers)
        programs = [server for server in found.values() if server.kind == "stdio"]
        place = self._where_to_run(turn, definition)
        if place is ProgramPlace.ASK and programs:
            await self._settle(given, programs, turn, waiting)
        if place is ProgramPlace.NOWHERE:
            notices += [left_out_notice(server, NOT_CONFINED) for server in programs]
        turn.emit(*_news(given, notices))
        refused = (
            programs
            if place is ProgramPlace.NOWHERE
            else [server for server in programs if given.decision(server) is False]
        )
        return ServersForAgent(tuple(server for server in found.values() if server not in refused), given)

    @staticmethod
    def _where_to_run(turn: Turn, definition: AgentDefinition) -> ProgramPlace:
        confined = is_confined(turn.settings, definition)
        return ProgramPlace.INSIDE if confined else place_of_program(turn.settings, confines=False)

    async def _settle(
        self, given: ConversationServers, programs: list[GivenServer], turn: Turn, waiting: Waiting
    ) -> None:
        order, deadline = turn.order, self._deadline(turn)

        async def put(request: ev.ApprovalRequest) -> ApprovalAnswer:
            known = await self._history.decision(order, request.item_id) if order.resume else None
            if known is not None:
                return ApprovalAnswer(known.decision, known.reason)
            with waiting():
                return await turn.ask(request, resumable=False)  # the agent has not been prompted yet

        asked = QuestionContext(
            order.turn, lambda: approval_in(order.conversation, token_hex(6)), deadline.after_s, deadline.default
        )
        if refused := await settle(self._given, given, programs, asked, put):
            turn.emit(ev.BackgroundEvent(message=refused))


def _news(given: ConversationServers | None, notices: Iterable[str]) -> Iterator[ev.BackgroundEvent]:
    if given is not None:
        yield from (ev.BackgroundEvent(message=notice) for notice in given.new_notices(tuple(notices)))
