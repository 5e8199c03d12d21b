"""The map from connection ids to connections. The loop's thread alone, as for all its callers."""

import contextlib
from collections.abc import Callable

from msgspec import Struct

from actors.messages.conversation import Address, Ready
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.vocabulary.errors import ActorGone
from actors.vocabulary.ids import ConnectionId
from transports.dialect import Client
from transports.messages import ConfigReloaded, ConnectionDismissed, NewsPosted, SliceStreamed, TextAnnounced

ConnectionNews = NewsPosted | SliceStreamed | ConnectionDismissed | ConfigReloaded | TextAnnounced


class _Line(Struct):
    client: Client
    address: Address[ConnectionNews]


class Switchboard:
    """Implements ports.Outbox. Messages to a connection that has left are dropped."""

    def __init__(self) -> None:
        self._lines: dict[ConnectionId, _Line] = {}
        self.on_introduce: Callable[[], None] = lambda: None  # never waits

    def join(self, client: Client, address: Address[ConnectionNews]) -> None:
        self._lines[client.connection] = _Line(client, address)

    def introduce(self, client: Client) -> None:
        """Change the name of a connection's client."""
        if client.connection in self._lines:
            self._lines[client.connection].client = client
            self.on_introduce()

    def leave(self, connection: ConnectionId) -> None:
        self._lines.pop(connection, None)

    def post(self, connection: ConnectionId, message: ReplyTo | EndSubscription) -> None:
        self._tell(connection, NewsPosted(message))

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        self._tell(message.connection, SliceStreamed(message, session))

    def clients(self) -> list[Client]:
        return [line.client for line in self._lines.values()]

    def dismiss(self, connection: ConnectionId, reason: str) -> bool:
        """Close a connection; False if there is no such connection."""
        return self._tell(connection, ConnectionDismissed(reason))

    def dismiss_all(self, reason: str) -> None:
        self._tell_all(ConnectionDismissed(reason))

    def announce_reload(self) -> None:
        self._tell_all(ConfigReloaded())

    def announce(self, text: str) -> None:
        self._tell_all(TextAnnounced(text))

    def _tell_all(self, message: ConnectionNews) -> None:
        for connection in tuple(self._lines):
            self._tell(connection, message)

    def _tell(self, connection: ConnectionId, message: ConnectionNews) -> bool:
        line = self._lines.get(connection)
        if line is not None:
            with contextlib.suppress(ActorGone):
                line.address.tell(message)
                return True
        return False
