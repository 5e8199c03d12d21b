"""Messages to a connection from everybody but its wire, and its requests to the supervisor. A leaf."""

from dataclasses import dataclass

from actors.conversation.effects import Deliver, EndSubscription, ReplyTo
from actors.conversation.messages import Address, Ready
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller
from transports.dialect import Client
from transports.requests import SupervisorAnswer, SupervisorRequest


@dataclass(frozen=True, slots=True)
class Posted:
    """An answer for the client, or the end of a subscription."""

    message: ReplyTo | EndSubscription


@dataclass(frozen=True, slots=True)
class Streamed:
    """A slice for a reader, and where its Ready goes. Answers go before the slices of a thousand readers."""

    deliver: Deliver
    session: Address[Ready]


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The connection is to be closed when everything written so far has left."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reconfigured:
    """The config was read again."""


@dataclass(frozen=True, slots=True)
class Announced:
    """A text for every client."""

    text: str


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """The supervisor's answer to the request of this caller."""

    caller: Caller
    answer: SupervisorAnswer | GreenroomError


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A request to the supervisor. With a caller it is answered by exactly one ServiceAnswer."""

    request: SupervisorRequest
    caller: Caller | None
    client: Client
    reply_to: Address[ServiceAnswer]


@dataclass(frozen=True, slots=True)
class Woken:
    name: str


@dataclass(frozen=True, slots=True)
class HeldTooLong:
    """Check whether this caller's answer is still kept for events that do not come."""

    caller: Caller


@dataclass(frozen=True, slots=True)
class LingeredEnough:
    """The client has closed its writing side a while ago."""


@dataclass(frozen=True, slots=True)
class ReadOn:
    """Go on reading lines, after others had a turn or the client's pause is over."""
