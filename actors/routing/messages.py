"""Messages to the registry, and its effects."""

from msgspec import Struct

from actors.conversation.effects import EndSubscription, ReplyTo, Settle, Survivors
from actors.conversation.messages import (
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
from actors.conversation.orders import AbandonAgent, AgentAbandoned
from actors.journal.messages import Erased
from actors.vocabulary.answers import Begun, Done, ListChanged, Listing, PendingApprovals, Resolved
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head


class Create(Query[Begun], frozen=True):
    """A new conversation under a fresh id that its creator made up."""

    conversation: ConversationId
    begin: Begin


class ListConversations(Query[Listing], frozen=True):
    archived: bool = False


class WatchList(Query[ListChanged], frozen=True):
    """Answered when a conversation has come or gone: since the change with this number, or from now on."""

    seen: int | None = None


class ListApprovals(Query[PendingApprovals], frozen=True):
    conversation: ConversationId | None = None


class Resolve(Query[Resolved], frozen=True):
    """Find the conversation by an id, a unique prefix of at least two characters, or a name."""

    reference: str


class Remove(Query[Done], frozen=True):
    """Delete a conversation. Done when nobody owns it and the disk has forgotten it."""

    conversation: ConversationId


RegistryQuery = Create | ListConversations | WatchList | ListApprovals | Resolve | Remove


class ToRegistry(Struct, frozen=True):
    """A query for the registry itself, and the caller of its answer."""

    query: RegistryQuery
    caller: Caller


class Trim(Struct, frozen=True):
    """Delete what is asleep: the least recently used beyond `most`, and what nobody has touched for too long."""

    most: int | None = None
    untouched_since: float | None = None


class AllEnded(Struct, frozen=True):
    """Each turn that the last daemon left running has its end on disk."""


class Known(Struct, frozen=True):
    """Heads of conversations that nobody serves: all there are at start, later what was forked or imported.

    `ended`: told once, when none of them has a turn of the last daemon any more.
    """

    heads: tuple[Head, ...]
    ended: Address[AllEnded] | None = None


class AllAnswered(Struct, frozen=True):
    """No request waits for its answer."""


class AwaitAnswers(Struct, frozen=True):
    """Say when every request that was accepted has its answer."""

    reply_to: Address[AllAnswered]


class HeadChanged(Struct, frozen=True):
    """The row of a conversation that `ls` and `approvals` show has changed."""

    head: Head
    pending: tuple[ApprovalRequest, ...]


class ParkOffered(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class Left(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class Stayed(Struct, frozen=True):
    conversation: ConversationId
    generation: int


class SessionFailed(Struct, frozen=True):
    """A bug or a poison message ended a session, or the journal could not be read for it (`unread`).

    `leftovers` are the messages that nobody has handled yet.
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
    | Erased
    | Known
    | HeadChanged
    | Settle
    | ParkOffered
    | Left
    | Stayed
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


class SayAllEnded(Struct, frozen=True):
    to: Address[AllEnded]


class SayAllAnswered(Struct, frozen=True):
    to: Address[AllAnswered]


RoutingEffect = (
    StartSession | Forward | AbandonAgent | EraseRows | ReplyTo | EndSubscription | SayAllEnded | SayAllAnswered
)
