"""Connection ids to connections. Any thread posts; a closed connection swallows."""

import contextlib
import threading
from collections.abc import Callable

from actors.effects import Deliver, EndSubscription, ReplyTo
from actors.errors import ActorGone
from actors.ids import ConnectionId
from actors.messages import Address, Ready
from transports.dialect import Client
from transports.messages import Announced, Dismissed, Posted, Reconfigured, Streamed

News = Posted | Streamed | Dismissed | Reconfigured | Announced


class _Line:
    """One connection. Its lock orders the last post before its leaving, so that nothing is told to it after that."""

    __slots__ = ("_address", "_lock", "_open", "client")

    def __init__(self, client: Client, address: Address[News]) -> None:
        self.client = client
        self._address = address
        self._lock = threading.Lock()
        self._open = True

    def tell(self, message: News) -> bool:
        with self._lock, contextlib.suppress(ActorGone):  # telling never waits, so neither does who wants the lock
            if self._open:
                self._address.tell(message)
                return True
        return False

    def close(self) -> None:
        with self._lock:
            self._open = False


class Switchboard:
    """Implements ports.Outbox."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[ConnectionId, _Line] = {}
        self.on_leave: Callable[[], None] = lambda: None  # on the connection's thread; never waits

    def join(self, client: Client, address: Address[News]) -> None:
        with self._lock:
            self._lines[client.connection] = _Line(client, address)

    def introduce(self, client: Client) -> None:
        """It is known by another name now."""
        with self._lock:
            if client.connection in self._lines:
                self._lines[client.connection].client = client

    def leave(self, connection: ConnectionId) -> None:
        """When this returns, nothing more will be told to it."""
        with self._lock:
            line = self._lines.pop(connection, None)
        if line is not None:
            line.close()
            self.on_leave()

    def post(self, connection: ConnectionId, message: ReplyTo | EndSubscription) -> None:
        self._tell(connection, Posted(message))

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        self._tell(message.connection, Streamed(message, session))

    def clients(self) -> list[Client]:
        with self._lock:
            return [line.client for line in self._lines.values()]

    def dismiss(self, connection: ConnectionId, reason: str) -> bool:
        """False if there is no such connection."""
        return self._tell(connection, Dismissed(reason))

    def dismiss_all(self, reason: str) -> None:
        for client in self.clients():
            self.dismiss(client.connection, reason)

    def reconfigured(self) -> None:
        for client in self.clients():
            self._tell(client.connection, Reconfigured())

    def announce(self, text: str) -> None:
        for client in self.clients():
            self._tell(client.connection, Announced(text))

    def _tell(self, connection: ConnectionId, message: News) -> bool:
        line = self._lines.get(connection)  # one look into a dict needs no lock
        return line is not None and line.tell(message)
