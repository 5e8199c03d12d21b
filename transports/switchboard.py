"""Connection ids to connections. Any thread posts; the lock is never held while anything is told."""

import contextlib
import threading
from dataclasses import dataclass

from actors.errors import ActorGone
from actors.ids import ConnectionId
from actors.messages import Address, Deliver, EndSubscription, ReplyTo
from transports.dialect import Client


@dataclass(frozen=True, slots=True)
class Posted:
    """Something for a connection. `sender` is where a reader's Ready goes."""

    message: ReplyTo | Deliver | EndSubscription
    sender: Address


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The connection is to be closed when everything written so far has left."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Line:
    client: Client
    address: Address


class Switchboard:
    """Implements ports.Outbox."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[ConnectionId, _Line] = {}

    def join(self, client: Client, address: Address) -> None:
        with self._lock:
            self._lines[client.connection] = _Line(client, address)

    def leave(self, connection: ConnectionId) -> None:
        with self._lock:
            self._lines.pop(connection, None)

    def post(self, connection: ConnectionId, message: ReplyTo | Deliver | EndSubscription, sender: Address) -> None:
        self._tell(connection, Posted(message, sender))

    def clients(self) -> list[Client]:
        with self._lock:
            return [line.client for line in self._lines.values()]

    def dismiss(self, connection: ConnectionId, reason: str) -> bool:
        """False if there is no such connection."""
        return self._tell(connection, Dismissed(reason))

    def dismiss_all(self, reason: str) -> None:
        for client in self.clients():
            self.dismiss(client.connection, reason)

    def _tell(self, connection: ConnectionId, message: Posted | Dismissed) -> bool:
        """A connection may end between the look and the tell; then the message was for nobody."""
        line = self._lines.get(connection)  # one lookup in a dict needs no lock
        if line is None:
            return False
        with contextlib.suppress(ActorGone):
            line.address.tell(message)
        return True
