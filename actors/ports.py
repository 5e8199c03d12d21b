"""What the actors need from below, as protocols. An implementation and its fake pass the same contract tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from actors.errors import JournalError
from actors.ids import ConnectionId, ConversationId, TurnId

if TYPE_CHECKING:  # messages carry records, so this one arrow would go both ways at run time
    from actors.messages import Address, Deliver, EndSubscription, ReplyTo
    from actors.orders import AgentOrder


@dataclass(frozen=True, slots=True)
class Record:
    """One durable event as the journal keeps it. `body` is the event's JSON object, `type` included."""

    seq: int
    ts: float
    turn: TurnId | None
    type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept of a conversation beside its events, so that a list or a wake-up reads one row.

    `checkpoint` is the durable part of the core's state as of `checkpoint_seq`; events after it are replayed.
    """

    conversation: ConversationId
    name: str | None
    cwd: str
    model: str
    state: str
    preview: str
    settings: bytes
    checkpoint: bytes
    checkpoint_seq: int
    created: float
    updated: float
    last_seq: int
    generation: int
    archived: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Append:
    """What one conversation has to say. Records are dense and follow what is already there.

    `head`, when given, is stored in the same transaction; its last_seq must be that of the last record.
    `durable` asks for a commit that survives a power cut: accepted input, approvals, terminal events.
    """

    conversation: ConversationId
    records: tuple[Record, ...]
    head: Head | None = None
    durable: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Records after a cursor, oldest first. `first_seq` is the oldest still kept: retention may have pruned."""

    records: tuple[Record, ...]
    first_seq: int
    last_seq: int

    @property
    def complete(self) -> bool:
        return not self.records or self.records[-1].seq >= self.last_seq


class Journal(Protocol):
    """The durable log. `commit` and `delete` belong to one thread; reading is safe from any and never blocks it."""

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        """One transaction for all. An append in conflict is refused alone; a failing disk refuses all of them."""
        ...

    def read(self, conversation: ConversationId, after: int, limit: int, max_bytes: int = 1 << 20) -> Page | None: ...

    def head(self, conversation: ConversationId) -> Head | None: ...

    def heads(self) -> list[Head]:
        """Every conversation, most recently updated first, without settings and checkpoint (empty bytes)."""
        ...

    def delete(self, conversation: ConversationId) -> None: ...

    def close(self) -> None: ...


class AgentRunner(Protocol):
    """Carries out turns, elsewhere. Called from actor threads, never waits; news goes to `session` by tell."""

    def order(self, order: "AgentOrder", session: "Address") -> None: ...


class Outbox(Protocol):
    """Finds the connection a message is for. One that has closed meanwhile swallows it: nobody is there to care."""

    def post(
        self, connection: ConnectionId, message: "ReplyTo | Deliver | EndSubscription", sender: "Address"
    ) -> None:
        """`sender` is where the reader's Ready goes."""
        ...
