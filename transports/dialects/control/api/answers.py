"""Answers that the control API puts together itself, and its short notifications."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from actors.vocabulary.answers import InterruptedTurn
from actors.vocabulary.events import Envelope
from actors.vocabulary.ids import ConversationId, SubscriptionId
from actors.vocabulary.records import ConversationRow
from actors.vocabulary.settings import Settings


class Encodes(Struct, frozen=True):
    """Beside the type of a member that is JSON already: the type of its value, for the schema."""

    type: object


Events = Annotated[Raw, Encodes(tuple[Envelope, ...])]


class CreatedConversation(Struct, frozen=True):
    conversation: Annotated[ConversationId, Meta(description="Its id.")]
    settings: Annotated[Settings, Meta(description="How it is run.")]
    notice: Annotated[
        str | None,
        Meta(description="One line for a person: which model was chosen, and how to choose another."),
    ]
    warnings: Annotated[tuple[str, ...], Meta(description="Keys of the config that are ignored.")]


class ConversationPage(Struct, frozen=True):
    conversations: Annotated[tuple[ConversationRow, ...], Meta(description="Most recently used first.")]
    total: Annotated[int, Meta(description="How many there are on all pages.")]
    next_cursor: Annotated[str | None, Meta(description="For the next page; null on the last.")]


class HistoryPage(Struct, frozen=True):
    events: Annotated[Events, Meta(description="Stored events, oldest first.")]
    first_seq: Annotated[int, Meta(description="The oldest event that is still kept.")]
    last_seq: Annotated[int, Meta(description="The newest event.")]
    complete: Annotated[bool, Meta(description="There is nothing after this page; before it, if `before` was given.")]


class NewsPage(Struct, frozen=True):
    events: Annotated[Events, Meta(description="Stored events of any conversation, in the order of storing.")]
    cursor: Annotated[int, Meta(description="`after` of the next request.")]
    lagged: Annotated[bool, Meta(description="Events before the first of them are not kept any more.")]


class RequestError(Struct, frozen=True):
    code: Annotated[str, Meta(description="As in the table of errors.")]
    message: Annotated[str, Meta(description="For people.")]


class InterruptOutcome(InterruptedTurn, frozen=True, kw_only=True):
    """The outcome for one of several conversations."""

    conversation: Annotated[str, Meta(description="As it was named.")]
    error: Annotated[RequestError | None, Meta(description="Why nothing was stopped, or null.")] = None


class InterruptOutcomes(Struct, frozen=True):
    stopped: Annotated[tuple[InterruptOutcome, ...], Meta(description="Each of them, in the order they were named.")]


class EndedSubscription(Struct, frozen=True):
    subscription: Annotated[SubscriptionId, Meta(description="Which.")]
    reason: Annotated[str, Meta(description="Why, for people. Attach again by cursor.")]


class Announcement(Struct, frozen=True):
    message: Annotated[str, Meta(description="For people: what is wrong with the daemon as a whole, or well again.")]
