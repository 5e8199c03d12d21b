"""The servers that clients give, for our own agent: which of them count, and where each of them runs. Loop thread."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.given_rules import Asked, Where, beside, left_out, settle, where
from supervisor.agents.given_servers import Given, GivenServers
from supervisor.agents.own.mcp_client.connections import Place
from supervisor.agents.own.tools.work import Work
from supervisor.config.mcp_servers import McpServer
from supervisor.loop.entering import in_a_thread
from supervisor.work.processes.command import Command
from supervisor.work.reach.home_views import Own
from supervisor.work.sandbox.confined import Confined
from supervisor.work.sandbox.sandbox import Sandbox
from transports.requests import GivenServer

START_S = 30.0  # for a server to be ready: many are fetched when they are started, and nobody can set it longer
NOT_CONFINED = "no sandbox works here, and the approval policy is never"


class Reach(Struct, frozen=True):
    """A server and its place. None: it is the config's, shared by conversations."""

    server: McpServer
    place: Place | None = None


class ClientServers:
    def __init__(self, given: GivenServers, sandbox: Sandbox) -> None:
        self._given = given
        self._sandbox = sandbox

    async def settle(self, work: Work, configured: Collection[str]) -> None:
        """Ask what has to be asked before they can be used, and tell a person what can't be used at all."""
        given = self._given.of(work.turn.order.conversation)
        if not given.servers:
            return
        found, notices = _usable(given.servers, configured)
        programs = [one for one in found.values() if one.kind == "stdio"]
        match self._where(work.settings):
            case Where.ASK:
                asked = Asked(work.turn.order.turn, work.new_approval, work.deadline_s, work.default)
                if refused := await settle(self._given, given, programs, asked, work.ask):
                    work.say(ev.BackgroundEvent(message=refused))
            case Where.NOWHERE:
                notices += [left_out(one, NOT_CONFINED) for one in programs]
            case Where.INSIDE | Where.OUTSIDE:
                pass
        for notice in given.news(notices):
            work.say(ev.BackgroundEvent(message=notice))

    def reaches(
        self, conversation: ConversationId, settings: Settings, configured: Collection[str]
    ) -> dict[str, Reach]:
        """Return those that may be used now, by the settings of this moment and the answers that were given."""
        given = self._given.of(conversation)
        found, _ = _usable(given.servers, configured)
        reaches = ((name, self._reach(conversation, settings, given, one)) for name, one in found.items())
        return {name: reach for name, reach in reaches if reach is not None}

    def _reach(
        self, conversation: ConversationId, settings: Settings, given: Given, one: GivenServer
    ) -> Reach | None:
        server, outside = _configured(one), Place(conversation)
        if one.kind == "http":
            return Reach(server, outside)
        if given.decision(one) is False:  # a no holds, whatever the settings are by now
            return None
        match self._where(settings):
            case Where.ASK:
                return Reach(server, outside) if given.decision(one) else None
            case Where.OUTSIDE:
                return Reach(server, outside)
            case Where.INSIDE:
                return Reach(server, self._inside(conversation, settings))
            case Where.NOWHERE:
                return None

    def _where(self, settings: Settings) -> Where:
        return where(settings, confines=self._sandbox.availability.ok)

    def _inside(self, conversation: ConversationId, settings: Settings) -> Place:
        """Return the conversation's sandbox as a place; another policy or directory is another place."""
        sandbox, policy = self._sandbox, settings.sandbox

        @asynccontextmanager
        async def confine(command: Command) -> AsyncIterator[Command]:
            def made() -> AbstractContextManager[Confined]:
                return sandbox.confine_agent(
                    policy,
                    settings.cwd,
                    command.argv,
                    command.env,
                    start=settings.cwd,
                    pins=sandbox.pins(conversation, settings, command.env),
                    own=Own(),
                    network=isinstance(policy, WorkspaceWrite) and policy.network_access,
                )

            async with in_a_thread(made, leave_there=True) as inside:
                yield inside.command(conversation, command.turn, None, command.umask)

        pins = [(str(pin.name), str(pin.path), pin.inode) for pin in settings.roots or ()]
        return Place(conversation, f"{policy.model_dump_json()} {settings.cwd} {pins}", confine)


def _usable(
    given: tuple[GivenServer, ...], configured: Collection[str]
) -> tuple[Mapping[str, GivenServer], list[str]]:
    """Return those that our own agent can use, and a line for each of the others."""
    found, notices = beside(given, configured)
    trouble = {name: why for name, one in found.items() for why in _trouble(one)}
    notices += [left_out(found[name], why) for name, why in trouble.items()]
    return {name: one for name, one in found.items() if name not in trouble}, notices


def _trouble(one: GivenServer) -> Iterator[str]:
    match one.kind:
        case "sse":
            yield "server-sent events as a transport were given up in 2025; give it as `http`"
        case "http" if one.url.startswith("http://") and not _is_here(one.url):
            yield "its address is on another machine and not encrypted; use https, or write it into the config"
        case _:
            try:
                _configured(one)
            except ValueError:  # its words have the values in them, which may be secrets
                yield "its definition can't be used"


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def _configured(one: GivenServer) -> McpServer:
    """Return it as the config would have it. Raises ValueError."""
    if one.kind == "stdio":
        command, *args = one.command
        return McpServer(command=command, args=tuple(args), env=dict(one.env), startup_timeout_sec=START_S)
    return McpServer(url=one.url, http_headers=dict(one.headers), startup_timeout_sec=START_S)
