"""The shapes of questions, notifications and errors of the control API, which are written by hand; for its schema."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from actors.vocabulary.events import ApprovalRequested, Envelope
from actors.vocabulary.ids import ConversationId, SubscriptionId
from transports.dialects.control.api.answers import Announcement, EndedSubscription


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class QuestionPlace(Shape):
    conversation: ConversationId = Field(description="The conversation that asks.")
    seq: int | None = Field(None, description="Its event, in lists, where that is known.")
    ts: float | None = Field(None, description="When it was asked, in lists, where that is known.")


class AskedQuestion(QuestionPlace, ApprovalRequested): ...


class Questions(Shape):
    approvals: tuple[AskedQuestion, ...] = Field(description="Open approvals.")


class Schema(BaseModel):
    """The schema of the control API."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class EventsParams(Shape):
    subscription: SubscriptionId = Field(description="Whose slice this is.")
    events: tuple[Envelope, ...] = Field(description="Stored events in order, then the unfinished tail as deltas.")
    live: bool = Field(description="It reaches the present.")
    lagged: bool = Field(description="The reader had fallen behind what memory keeps; said once.")
    gap: tuple[int, int] | None = Field(None, description="Events from-to that are not kept any more.")
    pending: tuple[AskedQuestion, ...] | None = Field(
        None, description="On the first slice that is live, if any wait: the questions to be answered."
    )


class ErrorData(BaseModel):
    """Further members are the error's own, as the table in docs/control-api.md has them."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    code: str = Field(description="The error's stable name.")
    retryable: bool = Field(description="The same request may succeed later.")


class Error(Shape):
    code: int = Field(description="JSON-RPC's number, or ours.")
    message: str = Field(description="For people.")
    data: ErrorData | None = Field(None, description="Not with JSON-RPC's own errors.")


class ErrorMessage(Shape):
    jsonrpc: Literal["2.0"]
    id: int | str | None = Field(description="The request's; null where it could not be read.")
    error: Error


NOTIFICATIONS: dict[str, tuple[str, type]] = {
    "events": ("Events that a subscription has not seen: stored ones, then the unfinished tail.", EventsParams),
    "ended": ("The conversation ended a subscription by itself; attach again by cursor.", EndedSubscription),
    "announcement": ("The daemon has something to say that concerns every client, attached or not.", Announcement),
}
