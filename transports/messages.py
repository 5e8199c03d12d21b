"""Messages to a connection from all but its wire, and its requests to the supervisor. A leaf."""

from msgspec import Struct

from actors.messages.conversation import Address, Ready
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller
from transports.dialect import Client
from transports.supervisor_answers import SupervisorAnswer
from transports.supervisor_requests import SupervisorRequest


class NewsPosted(Struct, frozen=True):
    """An answer for the client, or the end of a subscription."""

    message: ReplyTo | EndSubscription


class SliceStreamed(Struct, frozen=True):
    """A slice for a reader, with the address for its Ready. Answers are handled before slices."""

    deliver: Deliver
    session: Address[Ready]


class ConnectionDismissed(Struct, frozen=True):
    """Close the connection when everything written so far has left."""

    reason: str


class ConfigReloaded(Struct, frozen=True):
    """The config was read again."""


class TextAnnounced(Struct, frozen=True):
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


class TimerFired(Struct, frozen=True):
    """The end of a Wake of the dialect."""

    name: str


class HeldTooLong(Struct, frozen=True):
    """Check whether this caller's answer still waits for events that do not come."""

    caller: Caller


class LingeredEnough(Struct, frozen=True):
    """The client closed its writing side a while ago."""


class ReadOn(Struct, frozen=True):
    """Continue reading lines, after others had a turn or the client's pause is over."""
