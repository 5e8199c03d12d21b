"""The MCP servers that clients give their conversations: in memory alone, because they hold secrets. Loop thread.

After a restart of the daemon a conversation has none until its client gives them again. Loaded with every daemon;
the rules for their use are in client_server_rules.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import structlog
from msgspec import Struct, field

from actors.vocabulary.ids import ConversationId
from transports.environments import size_of
from transports.supervisor_requests import GivenServer

KEPT = 4096  # conversations; as many as have an environment of their own
KEPT_BYTES = 16 << 20  # of all these servers together

log = structlog.get_logger()

Protect = Callable[[], Awaitable[None]]


async def protect_nothing() -> None:
    """Protect nothing, where there is no sandbox."""


class ConversationServers(Struct, eq=False):
    """The servers of one conversation, a person's answers about them, and the notices that were shown."""

    servers: tuple[GivenServer, ...] = ()
    decisions: list[tuple[GivenServer, bool]] = field(default_factory=list)
    shown_notices: set[str] = field(default_factory=set)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)  # calls side by side must not ask twice

    def decision(self, server: GivenServer) -> bool | None:
        return next((yes for known, yes in self.decisions if known == server), None)

    def new_notices(self, notices: Sequence[str]) -> Iterator[str]:
        """Yield the notices that were not shown yet, and note them as shown."""
        for notice in notices:
            if notice not in self.shown_notices:
                self.shown_notices.add(notice)
                yield notice


class GivenServers:
    def __init__(self, protect: Protect = protect_nothing, kept_bytes: int = KEPT_BYTES) -> None:
        """`protect` keeps commands and patches from changing the programs that `programs` names."""
        self._protect = protect
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, ConversationServers] = {}
        self._size = 0  # of all of them

    def __repr__(self) -> str:
        return f"<GivenServers of {len(self._of)} conversations>"

    def give(self, conversation: ConversationId, servers: Sequence[GivenServer]) -> None:
        """Replace a conversation's servers. Answers stay valid for servers that are given again unchanged."""
        given = self._drop(conversation)
        if tuple(servers) != given.servers:
            given.servers = tuple(servers)
            given.decisions = [(server, yes) for server, yes in given.decisions if server in given.servers]
            given.shown_notices.clear()
        if servers:
            self._of[conversation] = given
            self._size += _size(given)
            self._make_room()

    def servers_of(self, conversation: ConversationId) -> ConversationServers:
        return self._of.get(conversation) or ConversationServers()

    async def decide(self, given: ConversationServers, servers: Sequence[GivenServer], *, approved: bool) -> None:
        """Note an answer. When this returns, approved programs can't be changed from inside the sandbox."""
        given.decisions += [(server, approved) for server in servers]
        if approved:
            await self._protect()

    def programs(self) -> tuple[str, ...]:
        """Return the words of all approved commands. Any thread."""
        decided = (each for given in list(self._of.values()) for each in tuple(given.decisions))
        return tuple(word for server, approved in decided if approved for word in server.command)

    def forget(self, conversation: ConversationId) -> None:
        self._drop(conversation)

    def _drop(self, conversation: ConversationId) -> ConversationServers:
        given = self._of.pop(conversation, None)
        self._size -= _size(given) if given is not None else 0
        return given or ConversationServers()

    def _make_room(self) -> None:
        while len(self._of) > KEPT or (self._size > self._kept_bytes and len(self._of) > 1):
            oldest = next(iter(self._of))
            log.warning("given_servers.forgotten", conversation=oldest, kept=len(self._of))
            self._drop(oldest)


def _size(given: ConversationServers) -> int:
    words = sum(len(word) for server in given.servers for word in (server.name, server.url, *server.command))
    return words + sum(size_of(server.env) + size_of(server.headers) for server in given.servers)
