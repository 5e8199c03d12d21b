"""Messages to the journal's actors, and their answers, which go to the address that a request carries."""

from collections.abc import Callable
from dataclasses import dataclass

from actors.conversation.effects import ReadPage
from actors.conversation.messages import Address, AppendRefused, Committed, PageRead
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, Record


@dataclass(frozen=True, slots=True)
class Store:
    """Store this append. `reply_to` gets Committed when it is durable, or AppendRefused."""

    append: Append
    reply_to: Address[Committed | AppendRefused]
    epoch: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """The answer to Load. `error`: the journal could not be read; no error and no head: no such conversation."""

    head: Head | None
    records: tuple[Record, ...]
    error: GreenroomError | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """Read what a session needs to live again. Goes through the journalist, so that all earlier stores come first."""

    conversation: ConversationId
    reply_to: Address[Loaded]


@dataclass(frozen=True, slots=True)
class ChoreDone:
    result: object


@dataclass(frozen=True, slots=True)
class Chore:
    """Work that only the writer of the journal may do, between two commits."""

    work: Callable[[], object]
    reply_to: Address[ChoreDone]


@dataclass(frozen=True, slots=True)
class Erased:
    """The conversation is gone from the disk; with an error, it is there as before."""

    conversation: ConversationId
    error: GreenroomError | None = None


@dataclass(frozen=True, slots=True)
class Erase:
    """Forget everything of a conversation that has no owner."""

    conversation: ConversationId
    reply_to: Address[Erased]


@dataclass(frozen=True, slots=True)
class FetchPage:
    """Read a piece of history for a reader."""

    conversation: ConversationId
    read: ReadPage
    reply_to: Address[PageRead]


LibrarianInput = FetchPage | Load
JournalistInput = Store | Load | Erase | Chore
