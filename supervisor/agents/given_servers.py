"""The MCP servers that clients give their conversations: in memory alone, because they hold secrets. Loop thread.

After a restart of the daemon a conversation has none until its client gives them again. Loaded with every daemon;
what may be done with them is in given_rules.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import structlog
from msgspec import Struct, field

from actors.vocabulary.ids import ConversationId
from transports.environments import size_of
from transports.requests import GivenServer

KEPT = 4096  # conversations; as many as have an environment of their own
KEPT_BYTES = 16 << 20  # of what all of them were given

log = structlog.get_logger()

Protect = Callable[[], Awaitable[None]]


async def unprotected() -> None:
    """Protect nothing, where there is no sandbox."""


class Given(Struct, eq=False):
    """The servers of one conversation, the answers about them, and what a person has been told of them."""

    servers: tuple[GivenServer, ...] = ()
    decided: list[tuple[GivenServer, bool]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)  # calls side by side must not ask twice

    def decision(self, server: GivenServer) -> bool | None:
        return next((yes for one, yes in self.decided if one == server), None)

    def news(self, notices: Sequence[str]) -> Iterator[str]:
        """The notices that nobody has been told yet."""
        for notice in notices:
            if notice not in self.said:
                self.said.add(notice)
                yield notice


class GivenServers:
    def __init__(self, protect: Protect = unprotected, kept_bytes: int = KEPT_BYTES) -> None:
        """`protect` closes what `programs` names to commands and patches."""
        self._protect = protect
        self._kept_bytes = kept_bytes
        self._of: dict[ConversationId, Given] = {}
        self._size = 0  # of all of them

    def __repr__(self) -> str:
        return f"<GivenServers of {len(self._of)} conversations>"

    def give(self, conversation: ConversationId, servers: Sequence[GivenServer]) -> None:
        """Take what a client gives, in place of what was there. Answers hold for what is given again unchanged."""
        given = self._drop(conversation)
        if tuple(servers) != given.servers:
            given.servers = tuple(servers)
            given.decided = [(one, yes) for one, yes in given.decided if one in given.servers]
            given.said.clear()
        if servers:
            self._of[conversation] = given
            self._size += _size(given)
            self._make_room()

    def of(self, conversation: ConversationId) -> Given:
        return self._of.get(conversation) or Given()

    async def decide(self, given: Given, servers: Sequence[GivenServer], *, approved: bool) -> None:
        """Note an answer. What is to run outside the sandbox can't be changed from the inside when this returns."""
        given.decided += [(one, approved) for one in servers]
        if approved:
            await self._protect()

    def programs(self) -> tuple[str, ...]:
        """Return the words of the commands that are approved. Any thread."""
        decided = (each for given in list(self._of.values()) for each in tuple(given.decided))
        return tuple(word for one, approved in decided if approved for word in one.command)

    def forget(self, conversation: ConversationId) -> None:
        self._drop(conversation)

    def _drop(self, conversation: ConversationId) -> Given:
        given = self._of.pop(conversation, None)
        self._size -= _size(given) if given is not None else 0
        return given or Given()

    def _make_room(self) -> None:
        while len(self._of) > KEPT or (self._size > self._kept_bytes and len(self._of) > 1):
            oldest = next(iter(self._of))
            log.warning("given_servers.forgotten", conversation=oldest, kept=len(self._of))
            self._drop(oldest)


def _size(given: Given) -> int:
    words = sum(len(word) for one in given.servers for word in (one.name, one.url, *one.command))
    return words + sum(size_of(one.env) + size_of(one.headers) for one in given.servers)
