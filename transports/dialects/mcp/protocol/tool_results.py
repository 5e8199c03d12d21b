"""Results of tools, as structures for programs: their schemas are the `outputSchema` of `tools/list`. A leaf."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId
from actors.vocabulary.settings import Decision, SettingChange
from transports.dialects.mcp.protocol.arguments import ID

ThreadId = Annotated[ConversationId, Meta(description=ID)]
Cursor = Annotated[int, Meta(description="The last event told; where wait_conversation goes on.")]


class AboutConversation(Struct, frozen=True, rename="camel"):
    thread_id: ThreadId


class TurnContent(AboutConversation, frozen=True, omit_defaults=True):
    session_id: Annotated[ConversationId, Meta(description="The same id under its older name.")]
    content: Annotated[str, Meta(description="The agent's last message, or what went wrong.")]
    notices: Annotated[tuple[str, ...], Meta(description="What was ignored, or denied unanswered.")] = ()


class SentMessage(AboutConversation, frozen=True, omit_defaults=True):
    input_id: Annotated[InputId, Meta(description="The message's id.")]
    waits: Annotated[bool, Meta(description="True if no turn has taken it yet.")]
    after: Cursor
    note: Annotated[str, Meta(description="How to go on.")]
    notices: Annotated[tuple[str, ...], Meta(description="What was ignored.")] = ()


class QuestionToAnswer(Struct, frozen=True, rename="camel"):
    approval_id: ApprovalId
    asks: str


class ConversationNews(AboutConversation, frozen=True, omit_defaults=True):
    state: Annotated[
        Condition, Meta(description="Its state; failed, denied, lost and over-budget stand until the next message.")
    ]
    text: Annotated[str, Meta(description="What was said since the cursor, in Markdown.")]
    after: Cursor
    complete: Annotated[bool, Meta(description="False if there is more to read already.")]
    questions: Annotated[
        tuple[QuestionToAnswer, ...], Meta(description="What waits for an answer; answer_approval gives it.")
    ]
    note: Annotated[str, Meta(description="The state in words, and how to go on.")]
    ending: Annotated[Ending | None, Meta(description="How the last turn ended, if none runs.")] = None
    content: Annotated[str | None, Meta(description="That turn's last message, or what went wrong.")] = None


class FoundWords(Struct, frozen=True):
    seq: Annotated[int, Meta(description="The newest event with the words; the one before is `after`.")]
    text: Annotated[str, Meta(description="The words with some of those around them.")]


class WaitingMessage(Struct, frozen=True, rename="camel"):
    input_id: Annotated[InputId, Meta(description="The message's id.")]
    text: Annotated[str, Meta(description="Its first words.")]
    by: Annotated[str, Meta(description="Which client sent it.")]
    joins: Annotated[bool, Meta(description="True if it joins the running turn, not one of its own.")]


class InterruptResult(AboutConversation, frozen=True, omit_defaults=True):
    interrupted: Annotated[bool, Meta(description="False if nothing was running.")]
    queued: Annotated[int, Meta(description="Inputs that still wait.")]
    waiting: Annotated[tuple[WaitingMessage, ...], Meta(description="Those inputs, in their order.")]
    note: Annotated[str, Meta(description="How they go on.")] = ""


class WaitingMessages(AboutConversation, frozen=True):
    held: Annotated[bool, Meta(description="True if they wait until somebody lets them go on.")]
    waiting: Annotated[tuple[WaitingMessage, ...], Meta(description="What waits now, in its order.")]


class ChangedConversation(AboutConversation, frozen=True):
    name: Annotated[str | None, Meta(description="Its name now.")]
    changed: Annotated[
        tuple[SettingChange, ...], Meta(description="What has changed; empty if all of it was so already.")
    ]


class TranscriptPage(AboutConversation, frozen=True):
    text: Annotated[str, Meta(description="The transcript of this page, in Markdown.")]
    after: Annotated[int, Meta(description="The last event of this page; where the next begins.")]
    before: Annotated[int, Meta(description="The first event of this page, for the page before it.")]
    complete: Annotated[
        bool, Meta(description="True if nothing comes after this page, or before it if `before` was given.")
    ]


class GivenAnswer(AboutConversation, frozen=True):
    approval_id: ApprovalId
    decision: Decision


# --- of August 2025 -------------------------------------------------------------------------------------------------


class ConversationCreateContent(Struct, frozen=True):
    conversation_id: ThreadId | UnsetType = UNSET
    model: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class SendMessageContent(Struct, frozen=True, omit_defaults=True):
    status: str
    message: str = ""


class StreamContent(Struct, frozen=True): ...


class TitledConversation(Struct, frozen=True):
    conversation_id: ThreadId
    title: str


class ConversationsListContent(Struct, frozen=True):
    conversations: tuple[TitledConversation, ...] | UnsetType = UNSET
    next_cursor: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
