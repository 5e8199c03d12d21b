"""Messages to the registry, and its effects."""

from dataclasses import dataclass

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
from actors.journal.messages import Erased, LookedUp, Lookup
from actors.vocabulary.answers import Begun, Candidates, Done, ListChanged, Listing, PendingApprovals, Resolved
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import Head, HeadPage, ListQuery


@dataclass(frozen=True, slots=True)
class Create(Query[Begun]):
    """A new conversation under a fresh id that its creator made up."""

    conversation: ConversationId
    begin: Begin


@dataclass(frozen=True, slots=True)
class ListConversations(Query[HeadPage]):
    """A page of the list, from the disk, with the condition of each as it is now. `state` is what readers see.

    `only`: these and no others, whatever the query says.
    """

    query: ListQuery
    only: tuple[ConversationId, ...] | None = None


@dataclass(frozen=True, slots=True)
class ListAwake(Query[Listing]):
    """The conversations that are live or have something open; what sleeps is not looked at."""


@dataclass(frozen=True, slots=True)
class WatchList(Query[ListChanged]):
    """Answered when a conversation has come or gone: since the change with this number, or from now on."""

    seen: int | None = None


@dataclass(frozen=True, slots=True)
class ListApprovals(Query[PendingApprovals]):
    conversation: ConversationId | None = None


@dataclass(frozen=True, slots=True)
class Resolve(Query[Resolved]):
    """Find the conversation by an id, a unique prefix of at least two characters, or a name."""

    reference: str


@dataclass(frozen=True, slots=True)
class ListBeginning(Query[Candidates]):
    """The first ids that begin with this, in their order."""

    prefix: str
    limit: int


@dataclass(frozen=True, slots=True)
class Remove(Query[Done]):
    """Delete a conversation. Done when nobody owns it and the disk has forgotten it."""

    conversation: ConversationId


RegistryQuery = Create | ListConversations | ListAwake | WatchList | ListApprovals | ListBeginning | Resolve | Remove


@dataclass(frozen=True, slots=True)
class ToRegistry:
    """A query for the registry itself, and the caller of its answer."""

    query: RegistryQuery
    caller: Caller


@dataclass(frozen=True, slots=True)
class Trim:
    """Delete what is asleep: the least recently used beyond `most`, and what nobody has touched for too long."""

    most: int | None = None
    untouched_since: float | None = None


@dataclass(frozen=True, slots=True)
class AllEnded:
    """Each turn that the last daemon left running has its end on disk."""


@dataclass(frozen=True, slots=True)
class Known:
    """Heads of conversations that nobody serves: at start those not at rest, later what was forked or imported.

    `ended`: told once, when none of them has a turn of the last daemon any more.
    """

    heads: tuple[Head, ...]
    ended: Address[AllEnded] | None = None


@dataclass(frozen=True, slots=True)
class NameClaimed:
    """The name is kept for the conversation until the claim is settled; with a refusal, it is not."""

    refusal: GreenroomError | None = None


@dataclass(frozen=True, slots=True)
class ClaimName:
    """Keep a name for a conversation that no session stores: a fork, an import. Settle(caller) ends the claim."""

    name: str
    conversation: ConversationId
    caller: Caller
    reply_to: Address[NameClaimed]


@dataclass(frozen=True, slots=True)
class AllAnswered:
    """No request waits for its answer."""


@dataclass(frozen=True, slots=True)
class AwaitAnswers:
    """Say when every request that was accepted has its answer."""

    reply_to: Address[AllAnswered]


@dataclass(frozen=True, slots=True)
class HeadChanged:
    """The row of a conversation that `ls` and `approvals` show has changed."""

    head: Head
    pending: tuple[ApprovalRequest, ...]


@dataclass(frozen=True, slots=True)
class ParkOffered:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class Left:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class Stayed:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class SessionFailed:
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
    | LookedUp
    | ClaimName
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


@dataclass(frozen=True, slots=True)
class StartSession:
    """Give a conversation a live owner. `first` are the messages that waited for it, in order.

    `unborn`: it is being created, so there is nothing of it to be read.
    """

    conversation: ConversationId
    generation: int
    revived: Revived
    first: tuple[SessionInput, ...]
    unborn: bool = False


@dataclass(frozen=True, slots=True)
class Forward:
    conversation: ConversationId
    message: SessionInput


@dataclass(frozen=True, slots=True)
class EraseRows:
    """Delete the rows of a conversation that nobody owns any more."""

    conversation: ConversationId


@dataclass(frozen=True, slots=True)
class AskDirectory:
    """Have something looked up on disk. Answered by LookedUp with the same number, perhaps more than once."""

    number: int
    lookup: Lookup


@dataclass(frozen=True, slots=True)
class SayNameClaimed:
    to: Address[NameClaimed]
    news: NameClaimed


@dataclass(frozen=True, slots=True)
class SayAllEnded:
    to: Address[AllEnded]


@dataclass(frozen=True, slots=True)
class SayAllAnswered:
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
