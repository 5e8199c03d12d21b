"""What a conversation has done, as bare verbs that its shell carries out. Frozen all the way down,
but for the bytes that dialects keep in a `Slice`: nobody copies.

An effect that is addressed to somebody is the message that this somebody gets: the core returns it, the shell
delivers it.
"""

from dataclasses import dataclass, field

from actors.conversation.orders import AgentOrder
from actors.vocabulary.answers import Answer
from actors.vocabulary.events import ApprovalRequest, Delta
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, SubscriptionId, TurnId
from actors.vocabulary.records import Record


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The one answer of a request. `settles`: its id means nothing any more."""

    caller: Caller
    answer: Answer
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Settle:
    """The turn of a request that was answered long ago has ended: its id means nothing any more."""

    caller: Caller


@dataclass(frozen=True, eq=False)
class Slice:
    """What a reader has not seen: stored events, then the unfinished tail. Shared by all who stand at the same place.

    `live` says that it reaches the present. `pending`, on the first live slice of a subscription, are the questions
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
    """Idle long enough."""


@dataclass(frozen=True, slots=True)
class FeedOthers:
    """Readers wait that were too many for one step: the next one is theirs, after what others have to do."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing is going on and everything is stored: the actor ends."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Something came in between: go on routing here."""


Reading = Deliver | EndSubscription | ReadPage | FeedOthers
Effect = AgentOrder | ReplyTo | Settle | Reading | SetTimer | OfferToPark | Leave | Stay


@dataclass(frozen=True, slots=True)
class Survivors:
    """What a failed session owes to others, handed to its successor."""

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
