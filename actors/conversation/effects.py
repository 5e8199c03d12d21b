"""Effects of a conversation, as bare verbs that its shell carries out. Frozen all the way down,
but for the bytes that dialects keep in a `Slice`, because nobody copies them.

An effect that is addressed to somebody is the message that they get: the core returns it, the shell delivers it.
"""

from dataclasses import dataclass, field

from actors.conversation.orders import AgentOrder
from actors.vocabulary.answers import Answer
from actors.vocabulary.events import ApprovalRequest, Delta
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, SubscriptionId, TurnId
from actors.vocabulary.records import Record


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The one answer of a request. `settles`: the request is over, and can't be cancelled any more."""

    caller: Caller
    answer: Answer
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Settle:
    """The turn of a request that was answered before has ended: the request can't be cancelled any more."""

    caller: Caller


@dataclass(frozen=True, eq=False)
class Slice:
    """The events that a reader has not seen, then the unfinished tail. Shared by all readers with the same cursor.

    `live`: it reaches the present. `pending`, on the first live slice of a subscription, are the questions
    that wait for an answer. `encoded` is where dialects keep the bytes they made of it; each key is written once.
    """

    conversation: ConversationId
    records: tuple[Record, ...]
    deltas: tuple[Delta, ...] = ()
    live: bool = False
    lagged: bool = False
    gap: tuple[int, int] | None = None
    pending: tuple[ApprovalRequest, ...] | None = None
    ts: float = 0.0
    turn: TurnId | None = None
    encoded: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deliver:
    connection: ConnectionId
    subscription: SubscriptionId
    slice: Slice


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """The conversation ended the subscription by itself."""

    subscription: SubscriptionId
    reason: str


@dataclass(frozen=True, slots=True)
class EndSubscription:
    connection: ConnectionId
    news: Unsubscribed


@dataclass(frozen=True, slots=True)
class ReadPage:
    subscription: SubscriptionId
    after: int
    limit: int


@dataclass(frozen=True, slots=True)
class SetTimer:
    name: str
    delay_s: float


@dataclass(frozen=True, slots=True)
class OfferToPark:
    """Tell the registry that the conversation has been idle for long enough to be parked."""


@dataclass(frozen=True, slots=True)
class FeedOthers:
    """Some readers were not served in this step: take another, after the other actors had their turn."""


@dataclass(frozen=True, slots=True)
class Leave:
    """End the actor: nothing is going on and everything is stored."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Ask the registry to go on routing here, because something came in between."""


Reading = Deliver | EndSubscription | ReadPage | FeedOthers
Effect = AgentOrder | ReplyTo | Settle | Reading | SetTimer | OfferToPark | Leave | Stay


@dataclass(frozen=True, slots=True)
class Survivors:
    """The readers and callers of a failed session, handed to its successor."""

    readers: tuple["ReaderState", ...]
    callers: tuple[Caller, ...]
    passes: tuple[tuple[ApprovalId, frozenset[ConnectionId]], ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderState:
    subscription: SubscriptionId
    connection: ConnectionId
    seq: int
    in_flight: bool
    read_only: bool
