"""The servers that clients give, for our own agent: which of them are used, and where each runs. Loop thread."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.client_mcp_servers import ConversationServers, GivenServers
from supervisor.agents.client_server_rules import (
    ProgramPlace,
    QuestionContext,
    left_out_notice,
    may_start,
    place_of_program,
    settle,
    usable_servers,
)
from supervisor.agents.own.mcp_client.connections import ServerPlace
from supervisor.agents.own.tools.work import Work
from supervisor.config.mcp_servers import McpServer
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Command
from supervisor.work.reach.home_views import OwnPlaces
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_requests import GivenServer

START_S = 30.0  # for a server to be ready: many are downloaded when they start, and no setting allows more
NOT_CONFINED = "no sandbox works here, and the approval policy is never"


class PlacedServer(Struct, frozen=True):
    """A server and its place. None: it is the config's, shared by conversations."""

    server: McpServer
    place: ServerPlace | None = None


class ServersForTurns:
    def __init__(self, given: GivenServers, sandbox: Sandbox) -> None:
        self._given = given
        self._sandbox = sandbox

    async def settle(self, work: Work, configured: Collection[str]) -> None:
        """Ask a person about servers that need approval, and show a notice of each that can't be used."""
        given = self._given.servers_of(work.turn.order.conversation)
        if not given.servers:
            return
        found, notices = _usable(given.servers, configured)
        programs = [server for server in found.values() if server.kind == "stdio"]
        match self._program_place(work.settings):
            case ProgramPlace.ASK:
                context = QuestionContext(work.turn.order.turn, work.new_approval, work.deadline_s, work.default)
                if refused := await settle(self._given, given, programs, context, work.ask):
                    work.say(ev.BackgroundEvent(message=refused))
            case ProgramPlace.NOWHERE:
                notices += [left_out_notice(server, NOT_CONFINED) for server in programs]
            case ProgramPlace.INSIDE | ProgramPlace.OUTSIDE:
                pass
        for notice in given.new_notices(notices):
            work.say(ev.BackgroundEvent(message=notice))

    def placed_servers(
        self, conversation: ConversationId, settings: Settings, configured: Collection[str]
    ) -> dict[str, PlacedServer]:
        """Return the servers that may be used now, by the settings of this moment and the answers so far."""
        given = self._given.servers_of(conversation)
        found, _ = _usable(given.servers, configured)
        reaches = ((name, self._reach(conversation, settings, given, server)) for name, server in found.items())
        return {name: reach for name, reach in reaches if reach is not None}

    def _reach(
        self, conversation: ConversationId, settings: Settings, given: ConversationServers, given_server: GivenServer
    ) -> PlacedServer | None:
        server, outside = _as_config(given_server), ServerPlace(conversation)
        if given_server.kind == "http":
            return PlacedServer(server, outside)
        place = self._program_place(settings)
        if not may_start(place, given.decision(given_server)):
            return None
        inside = place is ProgramPlace.INSIDE
        return PlacedServer(server, self._sandbox_place(conversation, settings) if inside else outside)

    def _program_place(self, settings: Settings) -> ProgramPlace:
        return place_of_program(settings, confines=self._sandbox.availability.ok)

    def _sandbox_place(self, conversation: ConversationId, settings: Settings) -> ServerPlace:
        """Return the conversation's sandbox as a place; another policy or directory is another place."""
        sandbox, policy = self._sandbox, settings.sandbox

        @asynccontextmanager
        async def confine(command: Command) -> AsyncIterator[Command]:
            def make() -> AbstractContextManager[ConfinedCommand]:
                return sandbox.confine_agent(
                    policy,
                    settings.cwd,
                    command.argv,
                    command.env,
                    start=settings.cwd,
                    pins=sandbox.pins(conversation, settings, command.env),
                    own=OwnPlaces(),
                    network=isinstance(policy, WorkspaceWrite) and policy.network_access,
                )

            async with in_a_thread(make, leave_there=True) as inside:
                yield inside.command(conversation, command.turn, None, command.umask)

        pins = [(str(pin.name), str(pin.path), pin.inode) for pin in settings.roots or ()]
        return ServerPlace(conversation, f"{policy.model_dump_json()} {settings.cwd} {pins}", confine)


def _usable(
    given: tuple[GivenServer, ...], configured: Collection[str]
) -> tuple[Mapping[str, GivenServer], list[str]]:
    """Return the servers that our own agent can use, by name, and a notice for each of the others."""
    found, notices = usable_servers(given, configured)
    trouble = {name: why for name, server in found.items() for why in _trouble(server)}
    notices += [left_out_notice(found[name], why) for name, why in trouble.items()]
    return {name: server for name, server in found.items() if name not in trouble}, notices


def _trouble(server: GivenServer) -> Iterator[str]:
    match server.kind:
        case "sse":
            yield "server-sent events as a transport were given up in 2025; give it as `http`"
        case "http" if server.url.startswith("http://") and not _is_here(server.url):
            yield "its address is on another machine and not encrypted; use https, or write it into the config"
        case _:
            try:
                _as_config(server)
            except ValueError:  # its words have the values in them, which may be secrets
                yield "its definition can't be used"


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _as_config(server: GivenServer) -> McpServer:
    """Return the server as an entry of the config. Raises ValueError."""
    if server.kind == "stdio":
        command, *args = server.command
        return McpServer(command=command, args=tuple(args), env=dict(server.env), startup_timeout_sec=START_S)
    return McpServer(url=server.url, http_headers=dict(server.headers), startup_timeout_sec=START_S)
