"""Messages to the journal's actors, and their answers, which go to the address that a request carries."""

from collections.abc import Callable

from msgspec import Struct

from actors.conversation.effects import ReadPage
from actors.conversation.messages import Address, AppendRefused, Committed, PageRead
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, Record


class Store(Struct, frozen=True):
    """Store this append. `reply_to` gets Committed when it is durable, or AppendRefused."""

    append: Append
    reply_to: Address[Committed | AppendRefused]
    epoch: int


class Loaded(Struct, frozen=True):
    """The answer to Load. `error`: the journal could not be read; no error and no head: no such conversation."""

    head: Head | None
    records: tuple[Record, ...]
    error: GreenroomError | None = None


class Load(Struct, frozen=True):
    """Read what a session needs to live again. Goes through the journalist, so that all earlier stores come first."""

    conversation: ConversationId
    reply_to: Address[Loaded]


class ChoreDone(Struct, frozen=True):
    result: object


class Chore(Struct, frozen=True):
    """Work that only the writer of the journal may do, between two commits."""

    work: Callable[[], object]
    reply_to: Address[ChoreDone]


class Erased(Struct, frozen=True):
    """The conversation is gone from the disk; with an error, it is there as before."""

    conversation: ConversationId
    error: GreenroomError | None = None


class Erase(Struct, frozen=True):
    """Forget everything of a conversation that has no owner."""

    conversation: ConversationId
    reply_to: Address[Erased]


class FetchPage(Struct, frozen=True):
    """Read a piece of history for a reader."""

    conversation: ConversationId
    read: ReadPage
    reply_to: Address[PageRead]


LibrarianInput = FetchPage | Load
JournalistInput = Store | Load | Erase | Chore
