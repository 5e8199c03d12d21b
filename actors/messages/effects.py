"""Effects of a conversation, as bare verbs that its shell carries out. Frozen all the way down,
because messages are never copied; only dialects keep bytes in a `Slice`.

An effect with an addressee is itself the message: the core returns it, the shell delivers it.
"""

from msgspec import Struct, field

from actors.messages.orders import AgentOrder
from actors.vocabulary.answers import Answer
from actors.vocabulary.events import ApprovalRequested, Delta
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, SubscriptionId, TurnId
from actors.vocabulary.records import Record


class ReplyTo(Struct, frozen=True):
    """The one answer of a request. `settles`: the request is over, and can't be cancelled any more."""

    caller: Caller
    answer: Answer
    settles: bool = True


class Settle(Struct, frozen=True):
    """The turn of a request that was answered before has ended: the request can't be cancelled any more."""

    caller: Caller


class Slice(Struct, frozen=True, eq=False):
    """The events that a reader has not seen, then the unfinished tail. Shared by all readers with the same cursor.

    `live`: it reaches the present. `pending`, on the first live slice of a subscription, are the questions
    that wait for an answer. `encoded` has the bytes that dialects made of it; each key is written once.
    """

    conversation: ConversationId
    records: tuple[Record, ...]
    deltas: tuple[Delta, ...] = ()
    live: bool = False
    lagged: bool = False
    gap: tuple[int, int] | None = None
    pending: tuple[ApprovalRequested, ...] | None = None
    ts: float = 0.0
    turn: TurnId | None = None
    encoded: dict[str, bytes] = field(default_factory=dict)


class Deliver(Struct, frozen=True):
    connection: ConnectionId
    subscription: SubscriptionId
    slice: Slice


class Unsubscribed(Struct, frozen=True):
    """The conversation ended the subscription by itself."""

    subscription: SubscriptionId
    reason: str


class EndSubscription(Struct, frozen=True):
    connection: ConnectionId
    news: Unsubscribed


class ReadPage(Struct, frozen=True):
    subscription: SubscriptionId
    after: int
    limit: int


class SetTimer(Struct, frozen=True):
    name: str
    delay_s: float


class OfferToPark(Struct, frozen=True):
    """Tell the registry that the conversation has been idle for long enough to be parked."""


class FeedOthers(Struct, frozen=True):
    """Take another step for the readers that were not served in this one, after the other actors had their turn."""


class Leave(Struct, frozen=True):
    """End the actor: nothing is going on and everything is stored."""


class Stay(Struct, frozen=True):
    """Ask the registry to go on routing here, because something came in between."""


Reading = Deliver | EndSubscription | ReadPage | FeedOthers
Effect = AgentOrder | ReplyTo | Settle | Reading | SetTimer | OfferToPark | Leave | Stay


class Survivors(Struct, frozen=True):
    """The readers and callers of a failed session, handed to its successor."""

    readers: tuple["ReaderState", ...]
    callers: tuple[Caller, ...]
    passes: tuple[tuple[ApprovalId, frozenset[ConnectionId]], ...] = ()


class ReaderState(Struct, frozen=True):
    subscription: SubscriptionId
    connection: ConnectionId
    seq: int
    in_flight: bool
    read_only: bool
