"""What a connection is told by everybody but its wire, and what it asks of the supervisor. A leaf."""

from dataclasses import dataclass

from actors.effects import Deliver, EndSubscription, ReplyTo
from actors.ids import Caller, ConversationId, SubscriptionId
from actors.messages import Address
from transports.dialect import Client


@dataclass(frozen=True, slots=True)
class Posted:
    """Something for a connection. `sender` is where a reader's Ready goes."""

    message: ReplyTo | Deliver | EndSubscription
    sender: Address


@dataclass(frozen=True, slots=True)
class Streamed(Posted):
    """A slice for a reader: a thousand readers of one conversation have one each, and the answers go before them."""


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The connection is to be closed when everything written so far has left."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reconfigured:
    """The config was read again."""


@dataclass(frozen=True, slots=True)
class Announced:
    """Something that every client is to know."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A dialect wants something of the supervisor, which answers with exactly one Served."""

    request: object
    client: Client
    reply_to: Address


@dataclass(frozen=True, slots=True)
class Served:
    answer: object


@dataclass(frozen=True, slots=True)
class Woken:
    name: str


@dataclass(frozen=True, slots=True)
class HeldTooLong:
    """Look whether this one's answer is still kept for events that do not come."""

    caller: Caller


@dataclass(frozen=True, slots=True)
class LingeredEnough:
    """The client has closed its writing side a while ago."""


@dataclass(frozen=True, slots=True)
class ReadOn:
    """There are lines that were not looked at: somebody else had a turn, or their client was to wait."""


@dataclass(frozen=True, slots=True)
class ReadyUnsaid:
    """Not even the registry could take it; say it again."""

    conversation: ConversationId
    subscription: SubscriptionId


Reminder = HeldTooLong | LingeredEnough | ReadyUnsaid
