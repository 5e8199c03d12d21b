"""Messages to the journal's actors, and their answers, which go to the address that a request carries."""

from collections.abc import Callable

from msgspec import Struct

from actors.messages.conversation import Address, AppendRefused, Committed, PageRead
from actors.messages.effects import ReadPage
from actors.vocabulary.answers import Candidates, ResolvedReference
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Append, Head, HeadPage, KeptText, ListQuery, Record


class Store(Struct, frozen=True):
    """Store this append. `reply_to` gets Committed when it is durable, or AppendRefused."""

    append: Append
    reply_to: Address[Committed | AppendRefused]
    epoch: int


class LoadedState(Struct, frozen=True):
    """The answer to Load. `error`: the journal could not be read; no error and no head: no such conversation."""

    head: Head | None
    records: tuple[Record, ...]
    error: GreenroomError | None = None
    kept: tuple[KeptText, ...] = ()


class Load(Struct, frozen=True):
    """Read the state for a session that wakes. Goes through the journalist, so that all earlier stores come first."""

    conversation: ConversationId
    reply_to: Address[LoadedState]


class ChoreDone(Struct, frozen=True):
    result: object


class Chore(Struct, frozen=True):
    """Work that only the writer of the journal may do, between two commits."""

    work: Callable[[], object]
    reply_to: Address[ChoreDone]


class ConversationErased(Struct, frozen=True):
    """The conversation is gone from the disk; with an error, it is there as before."""

    conversation: ConversationId
    error: GreenroomError | None = None


class Erase(Struct, frozen=True):
    """Forget everything of a conversation that has no owner."""

    conversation: ConversationId
    reply_to: Address[ConversationErased]


class FetchPage(Struct, frozen=True):
    """Read a piece of history for a reader."""

    conversation: ConversationId
    read: ReadPage
    reply_to: Address[PageRead]


# --- lookups of the directory, and their results --------------------------------------------------------------------


class FindRow(Struct, frozen=True):
    """Find the row of a conversation."""

    conversation: ConversationId


class FindName(Struct, frozen=True):
    """Find the conversation that has this name, for a request that wants the name."""

    name: str
    caller: Caller


class FindNew(Struct, frozen=True):
    """Find whether a new conversation may have this id and this name."""

    conversation: ConversationId
    name: str
    caller: Caller


class FindReference(Struct, frozen=True):
    """Find the conversation with this id or this name, or the only one whose id begins so."""

    reference: str
    caller: Caller


class FindBeginning(Struct, frozen=True):
    """Find the first ids that begin with this prefix."""

    prefix: str
    limit: int
    caller: Caller


class ReadList(Struct, frozen=True):
    """Read a page of a list, without those in `leaving_out`; with `only`, these rows and no filters."""

    query: ListQuery
    caller: Caller
    leaving_out: frozenset[ConversationId] = frozenset()
    only: tuple[ConversationId, ...] | None = None


class FindSurplus(Struct, frozen=True):
    """Find conversations at rest that are too many or too old, longest untouched first, none in `leaving_out`."""

    most: int | None
    untouched_since: float | None
    limit: int
    leaving_out: frozenset[ConversationId] = frozenset()


Lookup = FindRow | FindName | FindNew | FindReference | FindBeginning | ReadList | FindSurplus


class RowFound(Struct, frozen=True):
    """The row as lists have it; None: there is no such conversation on disk."""

    conversation: ConversationId
    head: Head | None


class NameFound(Struct, frozen=True):
    """The conversation that has the name; None: it is free."""

    caller: Caller
    conversation: ConversationId | None


class NewFound(Struct, frozen=True):
    """The answer to FindNew: whether the id is taken, and which conversation has the name."""

    asked: FindNew
    exists: bool
    owner: ConversationId | None


class ReferenceFound(Struct, frozen=True):
    caller: Caller
    answer: ResolvedReference | Candidates | GreenroomError


class ListRead(Struct, frozen=True):
    """The page. Its total counts the conversations that were left out, too."""

    asked: ReadList
    page: HeadPage


class SurplusFound(Struct, frozen=True):
    conversations: tuple[ConversationId, ...]


class LookupFailed(Struct, frozen=True):
    """The journal could not be read, or not in time."""

    asked: Lookup
    error: GreenroomError


LookupResult = RowFound | NameFound | NewFound | ReferenceFound | ListRead | SurplusFound | LookupFailed


class LookupDone(Struct, frozen=True):
    """The answer to the lookup with this number: what was on disk at some moment since it was asked."""

    number: int
    result: LookupResult


class RunLookup(Struct, frozen=True):
    """Carry out a lookup on disk. `number` belongs to the sender."""

    number: int
    lookup: Lookup
    reply_to: Address[LookupDone]


LibrarianInput = FetchPage | Load
JournalistInput = Store | Load | Erase | Chore
