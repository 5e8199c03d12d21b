"""Messages to the registry, and its effects."""

from msgspec import Struct

from actors.messages.conversation import (
    Address,
    Begin,
    CancelRequest,
    ConnectionClosed,
    Query,
    Quiesce,
    Revived,
    SessionInput,
    ToConversation,
)
from actors.messages.effects import EndSubscription, ReplyTo, Settle, Survivors
from actors.messages.journal import ConversationErased, Lookup, LookupDone
from actors.messages.orders import AbandonAgent, AgentAbandoned
from actors.vocabulary.answers import (
    Candidates,
    ConversationList,
    Done,
    ListChanged,
    PendingApprovals,
    ResolvedReference,
    StartedConversation,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head, HeadPage, ListQuery


class Create(Query[StartedConversation], frozen=True):
    """Create a conversation under a fresh id, which its creator has made."""

    conversation: ConversationId
    begin: Begin


class ListConversations(Query[HeadPage], frozen=True):
    """Read a page of the list, from the disk, with the present condition of each. `state` is that which readers see.

    `only`: these and no others, whatever the query says.
    """

    query: ListQuery
    only: tuple[ConversationId, ...] | None = None


class ListAwake(Query[ConversationList], frozen=True):
    """List the conversations that are live or have something open, without those that sleep."""


class WatchList(Query[ListChanged], frozen=True):
    """Wait until a conversation has come or gone: since the change with this number, or from now on."""

    seen: int | None = None


class ListApprovals(Query[PendingApprovals], frozen=True):
    conversation: ConversationId | None = None


class Resolve(Query[ResolvedReference], frozen=True):
    """Find the conversation by an id, a unique prefix of at least two characters, or a name."""

    reference: str


class ListBeginning(Query[Candidates], frozen=True):
    """List the first ids that begin with this prefix, in order."""

    prefix: str
    limit: int


class Remove(Query[Done], frozen=True):
    """Delete a conversation. Done when nobody owns it and the disk has forgotten it."""

    conversation: ConversationId


RegistryQuery = Create | ListConversations | ListAwake | WatchList | ListApprovals | ListBeginning | Resolve | Remove


class ToRegistry(Struct, frozen=True):
    """A query for the registry itself, and the caller of its answer."""

    query: RegistryQuery
    caller: Caller


class Trim(Struct, frozen=True):
    """Delete sleeping conversations: the least recently used beyond `most`, and those untouched for too long."""

    most: int | None = None
    untouched_since: float | None = None


class AllEnded(Struct, frozen=True):
    """Each turn that the last daemon left running has its end on disk."""


class KnownHeads(Struct, frozen=True):
    """Heads of conversations without an owner: at start those not at rest, later those forked or imported.

    `ended` is told once, when none of them has a turn of the last daemon any more.
    """

    heads: tuple[Head, ...]
    ended: Address[AllEnded] | None = None


class NameClaimed(Struct, frozen=True):
    """The name is kept for the conversation until the claim is settled; with a refusal, it is not."""

    refusal: GreenroomError | None = None


class ClaimName(Struct, frozen=True):
    """Keep a name for a conversation without a session: a fork, an import. Settle(caller) ends the claim."""

    name: str
    conversation: ConversationId
    caller: Caller
    reply_to: Address[NameClaimed]


class AllAnswered(Struct, frozen=True):
    """No request waits for its answer."""


class AwaitAnswers(Struct, frozen=True):
    """Say when every request that was accepted has its answer."""

    reply_to: Address[AllAnswered]


class HeadChanged(Struct, frozen=True):
    """The row of a conversation that `ls` and `approvals` show has changed."""

    head: Head
    pending: tuple[ApprovalRequested, ...]


class ParkOffered(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class SessionLeft(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class SessionStayed(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class SessionFailed(Struct, frozen=True):
    """A bug or a poison message ended a session, or the journal could not be read for it (`unread`).

    `leftovers` are the messages that were not handled yet.
    """

    conversation: ConversationId
    generation: int
    message: str
    traceback: str
    survivors: Survivors
    leftovers: tuple[SessionInput, ...]
    unread: bool = False


RegistryInput = (
    ToConversation
    | ToRegistry
    | CancelRequest
    | ConnectionClosed
    | Trim
    | ConversationErased
    | KnownHeads
    | LookupDone
    | ClaimName
    | HeadChanged
    | Settle
    | ParkOffered
    | SessionLeft
    | SessionStayed
    | SessionFailed
    | AgentAbandoned
    | Quiesce
    | AwaitAnswers
)


class StartSession(Struct, frozen=True):
    """Give a conversation a live owner. `first` are the messages that waited for it, in order.

    `unborn`: it is being created, so there is nothing of it to be read.
    """

    conversation: ConversationId
    generation: int
    revived: Revived
    first: tuple[SessionInput, ...]
    unborn: bool = False


class Forward(Struct, frozen=True):
    conversation: ConversationId
    message: SessionInput


class EraseRows(Struct, frozen=True):
    """Delete the rows of a conversation that nobody owns any more."""

    conversation: ConversationId


class AskDirectory(Struct, frozen=True):
    """Have something looked up on disk. Answered by LookupDone with the same number, perhaps more than once."""

    number: int
    lookup: Lookup


class SayNameClaimed(Struct, frozen=True):
    to: Address[NameClaimed]
    news: NameClaimed


class SayAllEnded(Struct, frozen=True):
    to: Address[AllEnded]


class SayAllAnswered(Struct, frozen=True):
    to: Address[AllAnswered]


RoutingEffect = (
    StartSession
    | Forward
    | AbandonAgent
    | EraseRows
    | AskDirectory
    | ReplyTo
    | EndSubscription
    | SayNameClaimed
    | SayAllEnded
    | SayAllAnswered
)
