"""Messages to a connection from everybody but its wire, and its requests to the supervisor. A leaf."""

from msgspec import Struct

from actors.messages.conversation import Address, Ready
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller
from transports.dialect import Client
from transports.requests import SupervisorAnswer, SupervisorRequest


class Posted(Struct, frozen=True):
    """An answer for the client, or the end of a subscription."""

    message: ReplyTo | EndSubscription


class Streamed(Struct, frozen=True):
    """A slice for a reader, and where its Ready goes. Answers go before the slices of a thousand readers."""

    deliver: Deliver
    session: Address[Ready]


class Dismissed(Struct, frozen=True):
    """The connection is to be closed when everything written so far has left."""

    reason: str


class Reconfigured(Struct, frozen=True):
    """The config was read again."""


class Announced(Struct, frozen=True):
    """A text for every client."""

    text: str


class ServiceAnswer(Struct, frozen=True):
    """The supervisor's answer to the request of this caller."""

    caller: Caller
    answer: SupervisorAnswer | GreenroomError


class ServiceRequest(Struct, frozen=True):
    """A request to the supervisor. With a caller it is answered by exactly one ServiceAnswer."""

    request: SupervisorRequest
    caller: Caller | None
    client: Client
    reply_to: Address[ServiceAnswer]


class Woken(Struct, frozen=True):
    name: str


class HeldTooLong(Struct, frozen=True):
    """Check whether this caller's answer is still kept for events that do not come."""

    caller: Caller


class LingeredEnough(Struct, frozen=True):
    """The client has closed its writing side a while ago."""


class ReadOn(Struct, frozen=True):
    """Go on reading lines, after others had a turn or the client's pause is over."""
