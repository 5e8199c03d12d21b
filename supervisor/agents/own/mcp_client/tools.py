"""The tools of a conversation's servers: which there are now, and a call of one of them. Loop thread.

Without a server in the config nothing of the rest is imported.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace
from pydantic_core import from_json

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.json_values import has_too_many_values
from actors.vocabulary.settings import Settings
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.own.mcp_client.call import ServerToolCall, verdict
from supervisor.agents.own.mcp_client.client_servers import PlacedServer, ServersForTurns
from supervisor.agents.own.mcp_client.connection import ServerConnection
from supervisor.agents.own.mcp_client.connections import ServerConnections, ServerPlace
from supervisor.agents.own.mcp_client.failures import Unavailable
from supervisor.agents.own.mcp_client.offered_tools import SEPARATOR, OfferedTool, offer_tools
from supervisor.agents.own.mcp_client.questions import Verdict
from supervisor.agents.own.mcp_client.server_tools import ServerTool
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools.arguments import BadArguments
from supervisor.agents.own.tools.tool_result import ToolResult
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.config.mcp_servers import McpServer

ListedServer = tuple[str, McpServer, tuple[ServerTool, ...]]


class ServerTools:
    """The `MoreTools` of a toolbox. `servers`: the config's; `around`: the environment that a client gives them."""

    def __init__(
        self,
        connections: ServerConnections,
        servers: Callable[[Settings], Mapping[str, McpServer]],
        around: Callable[[ConversationId, Settings], CommandEnvironment],
        given: ServersForTurns,
        taken: Iterable[str] = (),
    ) -> None:
        self._connections = connections
        self._servers = servers
        self._around = around
        self._given = given
        self._taken = frozenset(taken)

    async def specs(self, work: Work) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in await self.offered_tools(work))

    async def offered_tools(self, work: Work) -> tuple[OfferedTool, ...]:
        """Return the tools of all servers that are ready or can be made so; a person is told of the others, once."""
        await self._given.settle(work, self._servers(work.settings))
        reaches, live = self._reaches(work), list[ServerConnection]()
        around = self._around_of(work) if reaches else CommandEnvironment({})
        found = await asyncio.gather(
            *(self._list_tools(work, name, reach, around, live) for name, reach in reaches.items())
        )
        self._connections.end_of(work.turn.order.conversation, but=live)
        tools, left_out = offer_tools((listed for listed in found if listed is not None), self._taken)
        if left_out:
            self._say_once(
                work,
                f"{left_out} tools of MCP servers are not offered: there are more than a model can choose from; name "
                "those that you need in enabled_tools",
            )
        return tuple(_with_place(tool, reaches[tool.server].place) for tool in tools)

    async def read_only_names(self, work: Work) -> frozenset[str]:
        """Return the tools that only read, as their servers say, and that need no approval."""
        reading = (tool for tool in await self.offered_tools(work) if tool.tool.only_reads)
        return frozenset(tool.name for tool in reading if verdict(tool, work.settings) is Verdict.RUN)

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult | None:
        """Carry out a call; None if no server has such a tool."""
        if SEPARATOR not in call.name:
            return None

        async def look() -> OfferedTool | None:
            return next((tool for tool in await self.offered_tools(work) if tool.name == call.name), None)

        meant = await look()
        if meant is None:
            return None
        arguments = _arguments(call.arguments, work.bounds.answer_event_values)

        def connect() -> ServerConnection:
            reach = self._reaches(work).get(meant.server)
            if reach is None:
                raise Unavailable("the conversation does not have it any more")
            return self._connections.connection_to(meant.server, reach.server, self._around_of(work), reach.place)

        return await ServerToolCall(work, call, meant, connect, look).run(arguments)

    def end_of(self, conversation: ConversationId) -> None:
        """End the servers that a conversation has alone."""
        self._connections.end_of(conversation)

    def _reaches(self, work: Work) -> dict[str, PlacedServer]:
        """Return the servers of this moment; a name of the config means the config's."""
        configured = self._servers(work.settings)
        given = self._given.placed_servers(work.turn.order.conversation, work.settings, configured)
        return {name: PlacedServer(server) for name, server in configured.items() if _is_used(server)} | given

    def _around_of(self, work: Work) -> CommandEnvironment:
        return self._around(work.turn.order.conversation, work.settings)

    async def close(self) -> None:
        await self._connections.close()

    async def _list_tools(
        self, work: Work, name: str, reach: PlacedServer, around: CommandEnvironment, live: list[ServerConnection]
    ) -> ListedServer | None:
        try:
            connection = self._connections.connection_to(name, reach.server, around, reach.place)
            live.append(connection)
            return name, reach.server, await connection.tools()
        except Unavailable as error:
            self._say_once(work, f"MCP server {name} is not available, the turn goes on without its tools: {error}")
            return None

    def _say_once(self, work: Work, notice: str) -> None:
        """Show a notice once in a turn; the seconds until another try don't make it another notice."""
        key = notice.partition("; it is started again")[0]
        if key not in work.shown_notices:
            work.shown_notices.add(key)
            work.say(ev.BackgroundEvent(message=notice))


def _with_place(tool: OfferedTool, place: ServerPlace | None) -> OfferedTool:
    return tool if place is None else replace(tool, given=True, confined=place.confine is not None)


def _is_used(server: McpServer) -> bool:
    return server.enabled and not server.is_ourselves


def _arguments(text: str, most_values: int) -> dict[str, Any]:
    if has_too_many_values(text.encode("utf-8", "replace"), most_values):
        raise BadArguments("the function arguments have too many values")
    try:
        arguments = from_json(text or "{}")
    except ValueError as error:
        raise BadArguments(f"failed to parse function arguments: {error}") from None
    if not isinstance(arguments, dict):
        raise BadArguments("failed to parse function arguments: they are no JSON object")
    return arguments
