"""The connections of all conversations: one for each server and environment, ended a while after its last use.

Loop thread. A server's key is its definition, environment and place, so a changed config means another connection.
"""

import asyncio
import itertools
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.own.mcp_client.connection import ServerConnection
from supervisor.agents.own.mcp_client.failures import Unavailable
from supervisor.agents.own.mcp_client.transport_end import TransportEnd
from supervisor.config.config_problems import HIDDEN_VALUE
from supervisor.config.mcp_servers import McpServer
from supervisor.work.processes.command import Command
from supervisor.work.processes.processes import Processes

if TYPE_CHECKING:
    from mcp.client import Transport

IDLE_S = 300.0  # after the last use: a person thinks for so long between two messages
LOOK_S = 30.0  # between two looks for idle servers
MOST = 64  # servers at the same time, each of them a process of tens of megabytes
# The variables that Codex passes on; others are named in `env_vars`.
CORE = frozenset(
    {
        *("HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"),
        "__CF_USER_TEXT_ENCODING",
    }
)
DEFINES = frozenset(
    {"command", "args", "cwd", "url", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec"}
)

Confine = Callable[[Command], AbstractAsyncContextManager[Command]]  # yields the command that starts it in a sandbox


class ServerPlace(Struct, frozen=True):
    """The place of a server that one conversation has alone. `inside` tells sandboxes apart; "": it has none."""

    conversation: ConversationId
    inside: str = ""
    confine: Confine | None = None


Key = tuple[str, str, tuple[tuple[str, str], ...], int, ConversationId, str]
EVERYBODY = ServerPlace(ConversationId(""))  # of the config's servers: shared by all, outside of every sandbox


class ServerConnections:
    def __init__(self, processes: Processes, longest: int, idle_s: float = IDLE_S) -> None:
        self._processes = processes
        self._longest = longest
        self._idle_s = idle_s
        self._of: dict[Key, ServerConnection] = {}
        self._lives = itertools.count(1)
        self._looking: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def connection_to(
        self, name: str, server: McpServer, around: CommandEnvironment, place: ServerPlace | None = None
    ) -> ServerConnection:
        """Return the connection for a server in an environment. Raises Unavailable if there are too many."""
        place = place or EVERYBODY
        given = variables(server, around.env) if server.command else headers(server, around.env)
        defined = server.model_dump_json(include=set(DEFINES))
        key = (name, defined, tuple(sorted(given.items())), around.umask, place.conversation, place.inside)
        if key not in self._of:
            self._make_room()
            self._of[key] = self._make(name, server, given, around.umask, place)
        self._look_soon()
        return self._of[key]

    def end_of(self, conversation: ConversationId, but: Collection[ServerConnection] | None = None) -> None:
        """End the servers that a conversation has alone; with `but`, only those not in it and not busy."""
        for key, connection in list(self._of.items()):
            if key[4] == conversation and (but is None or not (connection in but or connection.busy)):
                self._end(key)

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(
            *(connection.close() for connection in self._of.values()), *self._ending, return_exceptions=True
        )
        self._of.clear()

    def statistics(self) -> dict[str, int]:
        return {"mcp_servers": len(self._of)}

    def _make(
        self, name: str, server: McpServer, given: Mapping[str, str], umask: int, place: ServerPlace
    ) -> ServerConnection:
        def reach(watch: TransportEnd) -> "Transport":
            if server.url:
                from supervisor.agents.own.mcp_client.live import http

                return http(server.url, given, watch, self._longest)
            from supervisor.agents.own.mcp_client.stdio import stdio

            life = TurnId(f"mcp-server-{next(self._lives)}")
            command = Command(
                argv=(server.command or "", *server.args),
                cwd=server.cwd or Path("/"),
                env=given,
                conversation=place.conversation,
                turn=life,
                umask=umask,
            )
            started = place.confine(command) if place.confine is not None else nullcontext(command)
            return stdio(self._processes, started, watch, self._longest)

        # A program greeted in the newer way may not answer at all, or end; an address answers with an error.
        return ServerConnection(name, server, reach, ("auto",) if server.url else ("legacy", "auto"))

    def _make_room(self) -> None:
        if len(self._of) < MOST:
            return
        idle = [key for key, connection in self._of.items() if not connection.busy]
        if not idle:
            raise Unavailable(f"{MOST} MCP servers run already, and all of them are busy; try again later")
        self._end(min(idle, key=lambda key: self._of[key].used))

    def _look_soon(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(min(LOOK_S, self._idle_s), self._look)

    def _look(self) -> None:
        self._looking = None
        for key in [key for key, connection in self._of.items() if connection.idle_s >= self._idle_s]:
            self._end(key)
        if self._of:
            self._look_soon()

    def _end(self, key: Key) -> None:
        ending = asyncio.get_running_loop().create_task(self._of.pop(key).close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def variables(server: McpServer, env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server's program: the client's core variables, the named ones, and its own."""
    wanted = CORE | set(server.env_vars)
    own = {name: value for name, value in server.env.items() if value != HIDDEN_VALUE}  # of a stored override
    return {name: value for name, value in env.items() if name in wanted} | own


def headers(server: McpServer, env: Mapping[str, str]) -> dict[str, str]:
    """Return the headers for a server's address. Raises Unavailable if a token is named and missing."""
    sent = {name: value for name, value in server.http_headers.items() if value != HIDDEN_VALUE}
    sent |= {name: env[variable] for name, variable in server.env_http_headers.items() if env.get(variable)}
    if server.bearer_token_env_var is not None:
        token = env.get(server.bearer_token_env_var, "").strip()
        if not token:
            raise Unavailable(
                f"the variable {server.bearer_token_env_var}, which holds its token, is not set; set it where you "
                "start Greenroom's client"
            )
        sent["Authorization"] = f"Bearer {token}"
    return sent
