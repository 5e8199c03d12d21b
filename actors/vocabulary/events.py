"""The events of a conversation: everything that is journalled and everything that is seen on a wire. A leaf.

The names and members are those that Codex clients of August 2025 know; what we add (`item_id`, approvals with an id
of their own, the model's tool calls as it made them) are further members and further types, which a dialect may leave
out. Two families:

* **durable** events get a `seq` and are committed before anybody sees them;
* **deltas** have none: they are the unfinished tail of an item, and its finished event says everything again.

What the program has to know of a type stands on its class: in its base, where the type checker holds it, or in a
class variable. The tables at the end of this file are computed from that, so a new type is one class here and what
`apply` makes of it.
"""

from base64 import b64encode, urlsafe_b64decode
from enum import StrEnum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, TypeAdapter, WithJsonSchema

from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import FROZEN, AbortReason, BusyPolicy, Decision, Settings

MOST = 2**63 - 1


def _within_64_bits(value: Any) -> Any:
    """Read a number that no column and few clients can hold as the largest they can: history stays readable."""
    return max(-MOST, min(value, MOST)) if type(value) is int else value


Whole = Annotated[int, BeforeValidator(_within_64_bits)]


class Duration(BaseModel):
    model_config = FROZEN
    secs: Whole = Field(0, description="Whole seconds.")
    nanos: Whole = Field(0, description="The rest, in nanoseconds.")


class Event(BaseModel):
    model_config = FROZEN

    activity: ClassVar[str] = ""  # what the conversation is busy with from then on, for people; empty: as before

    type: str


class DurableEvent(Event):
    synced: ClassVar[bool] = False  # a power cut must not take it: something was said, decided, ended
    headline: ClassVar[bool] = False  # after it the row that `ls` and a wake-up read is not true any more
    terminal: ClassVar[bool] = False  # its turn is over
    said_by_client: ClassVar[bool] = False  # it is as long as a client's message may be
    read_by_models: ClassVar[bool] = False  # the transcript that a model gets depends on it


class AgentEvent(DurableEvent):
    """An agent may say it."""


# --- the conversation ------------------------------------------------------------------


class SessionConfigured(DurableEvent):
    """The first event of every conversation."""

    synced = headline = True
    type: Literal["session_configured"] = "session_configured"
    session_id: ConversationId = Field(description="The conversation's id.")
    model: str = Field(description="The effective model.")
    history_log_id: Whole = Field(0, description="Kept for clients that expect it; always 0.")
    history_entry_count: Whole = Field(0, description="Kept for clients that expect it; always 0.")
    settings: Settings | None = Field(None, description="How the conversation is run.")
    name: str | None = Field(None, description="A name given at creation.")
    forked_from: str | None = Field(None, description="`ID@SEQ` of the conversation this one was forked from.")


class SettingsChanged(DurableEvent):
    headline = True
    type: Literal["settings_changed"] = "settings_changed"
    settings: Settings = Field(description="The settings of later turns.")


class ConversationRenamed(DurableEvent):
    headline = True
    type: Literal["conversation_renamed"] = "conversation_renamed"
    name: str | None = Field(description="The new name; null removes it.")


class ConversationArchived(DurableEvent):
    synced = headline = True
    type: Literal["conversation_archived"] = "conversation_archived"
    archived: bool = Field(True, description="False unarchives it.")


class ConversationFailed(DurableEvent):
    """The conversation was given up until somebody restarts it."""

    synced = headline = True
    type: Literal["conversation_failed"] = "conversation_failed"
    message: str = Field(description="What went wrong, in one line.")
    traceback: str = Field("", description="Where in our code.")


class ConversationRestarted(DurableEvent):
    synced = headline = read_by_models = True
    type: Literal["conversation_restarted"] = "conversation_restarted"
    by: str = Field("", description="The client that restarted it.")
    without_pictures: bool = Field(False, description="The model no longer gets the pictures of earlier messages.")


# --- input -----------------------------------------------------------------------------


class InputQueued(DurableEvent):
    """Input was accepted while a turn was running; a `user_message` with its id follows when it is taken."""

    synced = headline = said_by_client = True
    type: Literal["input_queued"] = "input_queued"
    input_id: InputId = Field(description="The input's id.")
    policy: BusyPolicy = Field(description="steer: joins the running turn. enqueue, interrupt: gets its own.")
    items: tuple[InputItem, ...] = Field(description="The content of the message.")
    settings: Settings | None = Field(None, description="Settings of the turn it will start, if its own.")
    key: str | None = Field(None, description="Idempotency key of the request.")
    by: str = Field("", description="Which client sent it.")


class InputWithdrawn(DurableEvent):
    synced = headline = True
    type: Literal["input_withdrawn"] = "input_withdrawn"
    input_id: InputId = Field(description="The input that no turn will run.")
    reason: str = Field("", description="Why.")


class QueuePaused(DurableEvent):
    headline = True
    activity = "waiting; the queue is paused since the last turn was interrupted"
    type: Literal["queue_paused"] = "queue_paused"
    queued: Whole = Field(description="How many inputs wait.")


class QueueResumed(DurableEvent):
    headline = True
    activity = "waiting"
    type: Literal["queue_resumed"] = "queue_resumed"
    queued: Whole = Field(description="How many inputs wait.")


class MessageKind(StrEnum):
    PLAIN = "plain"
    USER_INSTRUCTIONS = "user_instructions"
    ENVIRONMENT_CONTEXT = "environment_context"


class UserMessage(AgentEvent):
    """Input that a turn has taken: from here on it is part of what the model reads."""

    synced = headline = said_by_client = read_by_models = True
    type: Literal["user_message"] = "user_message"
    message: str = Field(description="The words of the message.")
    kind: MessageKind = Field(MessageKind.PLAIN, description="plain: somebody said it. Others: we did.")
    item_id: ItemId = Field(ItemId(""), description="The message's item id.")
    items: tuple[InputItem, ...] = Field((), description="The message whole, with its pictures.")
    input_id: InputId | None = Field(None, description="The accepted input this is.")
    key: str | None = Field(None, description="Idempotency key of the request.")
    by: str = Field("", description="Which client sent it.")


# --- the turn --------------------------------------------------------------------------


class TaskStarted(DurableEvent):
    headline = read_by_models = True
    activity = "thinking"
    type: Literal["task_started"] = "task_started"
    model_context_window: Whole | None = Field(None, description="Tokens that fit, where known.")
    settings: Settings | None = Field(
        None, description="Settings of this turn, if they differ from the conversation's."
    )


class TaskComplete(DurableEvent):
    synced = headline = terminal = True
    type: Literal["task_complete"] = "task_complete"
    last_agent_message: str | None = Field(None, description="The last thing the model said.")


class TurnAborted(DurableEvent):
    synced = headline = terminal = True
    type: Literal["turn_aborted"] = "turn_aborted"
    reason: AbortReason = Field(description="interrupted, replaced by new input, failed in us, lost with the daemon.")
    message: str = Field("", description="More about it, for people.")
    by: tuple[str, ...] = Field((), description="The clients that asked for it.")


class ErrorEvent(AgentEvent):
    type: Literal["error"] = "error"
    message: str = Field(description="What went wrong.")


class StreamError(AgentEvent):
    """The model's answer broke and will be asked for again."""

    activity = "waiting to ask the model again"
    type: Literal["stream_error"] = "stream_error"
    message: str = Field(description="What broke, which try comes next and when.")
    attempt: Whole = Field(0, description="The number of the next try, from 1.")
    delay_ms: Whole = Field(0, description="How long until then.")


class BackgroundEvent(AgentEvent):
    activity = "thinking"
    type: Literal["background_event"] = "background_event"
    message: str = Field(description="A notice that does not belong to the answer.")


class TokenCount(AgentEvent):
    type: Literal["token_count"] = "token_count"
    input_tokens: Whole = Field(description="Tokens read by the model in this response.")
    cached_input_tokens: Whole | None = Field(None, description="How many of them came from its cache.")
    output_tokens: Whole = Field(description="Tokens written.")
    reasoning_output_tokens: Whole | None = Field(None, description="How many of them were reasoning.")
    total_tokens: Whole = Field(description="Both together.")


# --- what the model says ---------------------------------------------------------------


class AgentMessage(AgentEvent):
    read_by_models = True
    activity = "thinking"
    type: Literal["agent_message"] = "agent_message"
    message: str = Field(description="What the model said.")
    item_id: ItemId = Field(ItemId(""), description="The message's item id.")
    partial: bool = Field(False, description="True where an interrupt cut it.")


class AgentMessageDelta(Event):
    activity = "answering"
    type: Literal["agent_message_delta"] = "agent_message_delta"
    delta: str = Field(description="The next words.")
    item_id: ItemId = Field(ItemId(""), description="The message they belong to.")


class AgentReasoning(AgentEvent):
    activity = "thinking"
    type: Literal["agent_reasoning"] = "agent_reasoning"
    text: str = Field(description="One part of the summary.")
    item_id: ItemId = Field(ItemId(""), description="The reasoning's item id.")
    partial: bool = Field(False, description="True where an interrupt cut it.")


class AgentReasoningDelta(Event):
    type: Literal["agent_reasoning_delta"] = "agent_reasoning_delta"
    delta: str = Field(description="The next words.")
    item_id: ItemId = Field(ItemId(""), description="The reasoning they belong to.")


class AgentReasoningSectionBreak(AgentEvent):
    type: Literal["agent_reasoning_section_break"] = "agent_reasoning_section_break"
    item_id: ItemId = Field(ItemId(""), description="The reasoning that goes on in a new section.")


class AgentReasoningRawContent(AgentEvent):
    type: Literal["agent_reasoning_raw_content"] = "agent_reasoning_raw_content"
    text: str = Field(description="Reasoning as the model wrote it.")
    item_id: ItemId = Field(ItemId(""), description="The reasoning's item id.")
    partial: bool = Field(False, description="True where an interrupt cut it.")


class AgentReasoningRawContentDelta(Event):
    type: Literal["agent_reasoning_raw_content_delta"] = "agent_reasoning_raw_content_delta"
    delta: str = Field(description="The next words.")
    item_id: ItemId = Field(ItemId(""), description="The reasoning they belong to.")


class ModelReasoning(AgentEvent):
    """A reasoning item as the model wants it back with the next request."""

    read_by_models = True
    type: Literal["model_reasoning"] = "model_reasoning"
    item_id: ItemId = Field(description="The reasoning's item id.")
    id: str = Field(description="The model's own id of it.")
    summary: tuple[str, ...] = Field((), description="Its summary parts.")
    encrypted_content: str | None = Field(None, description="Data that only the model can read.")


class ToolCall(AgentEvent):
    """The model asked for a tool. Exactly one `tool_output` with the same call id follows before the turn ends."""

    read_by_models = True
    type: Literal["tool_call"] = "tool_call"
    call_id: CallId = Field(description="The model's id of the call.")
    item_id: ItemId = Field(description="The item that the call becomes.")
    name: str = Field(description="The tool's name.")
    arguments: str = Field(description="The arguments as the model wrote them.")


class ToolOutput(AgentEvent):
    read_by_models = True
    type: Literal["tool_output"] = "tool_output"
    call_id: CallId = Field(description="The call that this answers.")
    item_id: ItemId = Field(description="The call's item.")
    output: str = Field(description="The text that the model gets.")


# --- commands and patches --------------------------------------------------------------

Standing = tuple[tuple[str, ...], str]  # the same argv in the same directory


class ApprovalRequest(AgentEvent):
    """A question for people. Each kind declares these members itself: their order is that of the stored bytes."""

    synced = headline = read_by_models = True
    activity = "waiting for an approval"
    if TYPE_CHECKING:
        call_id: CallId
        reason: str | None
        outside_sandbox: bool | None
        approval_id: ApprovalId
        item_id: ItemId
        deadline_s: float | None
        default: Decision

    @property
    def standing(self) -> Standing | None:
        """The approval that an answer for the whole session gives; None if the next question is asked, too."""
        return None


class ExecApprovalRequest(ApprovalRequest):
    type: Literal["exec_approval_request"] = "exec_approval_request"
    call_id: CallId = Field(description="The call that waits.")
    command: tuple[str, ...] = Field(description="What would run.")
    cwd: Path = Field(description="Where.")
    reason: str | None = Field(None, description="Why it is asked: the model's justification, or ours.")
    approval_id: ApprovalId = Field(ApprovalId(""), description="Answer under this id.")
    item_id: ItemId = Field(ItemId(""), description="The command's item id.")
    retry: bool = Field(False, description="It ran in the sandbox and failed; may it run again without?")
    outside_sandbox: bool | None = Field(
        None, description="Whether it would run outside the sandbox; null in histories of before 0.2, where it did."
    )
    deadline_s: float | None = Field(None, description="Seconds until it is answered by default.")
    default: Literal[Decision.DENIED, Decision.ABORT] = Field(Decision.DENIED, description="That answer.")

    @property
    def standing(self) -> Standing:
        return self.command, str(self.cwd)


FileAdd = dict[Literal["add"], dict[Literal["content"], str]]


class UpdatedFile(BaseModel):
    model_config = FROZEN
    unified_diff: str = Field(description="The change, one line of context, no file header.")
    move_path: Path | None = Field(None, description="New path of the file, if it moves.")


FileUpdate = dict[Literal["update"], UpdatedFile]
FileChange = Literal["delete"] | FileAdd | FileUpdate


class ApplyPatchApprovalRequest(ApprovalRequest):
    type: Literal["apply_patch_approval_request"] = "apply_patch_approval_request"
    call_id: CallId = Field(description="The call that waits.")
    changes: dict[str, FileChange] = Field(description="Absolute path → what would become of the file.")
    reason: str | None = Field(None, description="Why it is asked.")
    grant_root: Path | None = Field(None, description="A directory that would become writable.")
    outside_sandbox: bool | None = Field(
        None, description="Whether it writes what a command in the sandbox could not; null where nobody said."
    )
    approval_id: ApprovalId = Field(ApprovalId(""), description="Answer under this id.")
    item_id: ItemId = Field(ItemId(""), description="The patch's item id.")
    deadline_s: float | None = Field(None, description="Seconds until it is answered by default.")
    default: Literal[Decision.DENIED, Decision.ABORT] = Field(Decision.DENIED, description="That answer.")


class ApprovalResolved(DurableEvent):
    synced = headline = read_by_models = True
    activity = "thinking"
    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: ApprovalId = Field(description="The question.")
    decision: Decision = Field(description="The answer; withdrawn when its turn ended first.")
    by: str = Field("", description="Who answered.")
    reason: str = Field("", description="Why, if they said.")


class ReadCommand(BaseModel):
    model_config = FROZEN
    cmd: str = Field(description="The command.")
    name: str = Field(description="The file's name.")


class ListFilesCommand(BaseModel):
    model_config = FROZEN
    cmd: str = Field(description="The command.")
    path: str | None = Field(None, description="Where.")


class SearchCommand(BaseModel):
    model_config = FROZEN
    cmd: str = Field(description="The command.")
    query: str | None = Field(None, description="What for.")
    path: str | None = Field(None, description="Where.")


class FormatCommand(BaseModel):
    model_config = FROZEN
    cmd: str = Field(description="The command.")
    tool: str | None = Field(None, description="The formatter.")
    targets: tuple[str, ...] | None = Field(None, description="What it formats.")


class PlainCommand(BaseModel):
    model_config = FROZEN
    cmd: str = Field(description="The command.")


ParsedCommand = (
    dict[Literal["Read"], ReadCommand]
    | dict[Literal["ListFiles"], ListFilesCommand]
    | dict[Literal["Search"], SearchCommand]
    | dict[Literal["Format"], FormatCommand]
    | dict[Literal["Test", "Lint", "Noop", "Unknown"], PlainCommand]
)


class ExecCommandBegin(AgentEvent):
    type: Literal["exec_command_begin"] = "exec_command_begin"
    call_id: CallId = Field(description="The call that runs.")
    command: tuple[str, ...] = Field(description="What runs.")
    cwd: Path = Field(description="Where.")
    parsed_cmd: tuple[ParsedCommand, ...] = Field((), description="A hint for display.")
    item_id: ItemId = Field(ItemId(""), description="The command's item id.")


def _bytes_read(value: Any) -> Any:
    """Codex wrote a chunk as a list of byte numbers until September 2025, and as base64 since; either alphabet."""
    if isinstance(value, list):
        return bytes(value)
    return urlsafe_b64decode(value.replace("+", "-").replace("/", "_")) if isinstance(value, str) else value


def _base64_written(value: bytes) -> str:
    """The ordinary alphabet: pydantic's own is the one for addresses, which other decoders misread."""
    return b64encode(value).decode()


class ExecCommandOutputDelta(Event):
    type: Literal["exec_command_output_delta"] = "exec_command_output_delta"
    call_id: CallId = Field(description="The call that runs.")
    stream: Literal["stdout", "stderr"] = Field(description="Which of its streams.")
    chunk: Annotated[
        bytes,
        BeforeValidator(_bytes_read),
        PlainSerializer(_base64_written, when_used="json"),
        WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
    ] = Field(description="What it wrote, in base64.")
    item_id: ItemId = Field(ItemId(""), description="The command's item id.")


class ExecCommandEnd(AgentEvent):
    read_by_models = True
    activity = "thinking"
    type: Literal["exec_command_end"] = "exec_command_end"
    call_id: CallId = Field(description="The call that ran.")
    stdout: str = Field("", description="What it wrote, head and tail kept.")
    stderr: str = Field("", description="What it wrote to stderr, head and tail kept.")
    exit_code: Whole = Field(description="Its exit status; -1 where it has none of its own.")
    duration: Duration = Field(Duration(), description="How long it ran.")
    item_id: ItemId = Field(ItemId(""), description="The command's item id.")


class PatchApplyBegin(AgentEvent):
    activity = "applying a patch"
    type: Literal["patch_apply_begin"] = "patch_apply_begin"
    call_id: CallId = Field(description="The call that is applied.")
    auto_approved: bool = Field(description="True when nobody was asked.")
    changes: dict[str, FileChange] = Field(description="Absolute path → what becomes of the file.")
    item_id: ItemId = Field(ItemId(""), description="The patch's item id.")


class PatchApplyEnd(AgentEvent):
    activity = "thinking"
    type: Literal["patch_apply_end"] = "patch_apply_end"
    call_id: CallId = Field(description="The call that was applied.")
    stdout: str = Field("", description="What was done.")
    stderr: str = Field("", description="What went wrong.")
    success: bool = Field(description="All of it, or nothing.")
    item_id: ItemId = Field(ItemId(""), description="The patch's item id.")


class TurnDiff(AgentEvent):
    type: Literal["turn_diff"] = "turn_diff"
    unified_diff: str = Field(description="All that patches changed in this turn, git style.")


class PlanStep(BaseModel):
    model_config = FROZEN
    step: str = Field(description="The step.")
    status: Literal["pending", "in_progress", "completed"] = Field(description="How far it is.")


class PlanUpdate(AgentEvent):
    type: Literal["plan_update"] = "plan_update"
    explanation: str | None = Field(None, description="Why the plan is what it is.")
    plan: tuple[PlanStep, ...] = Field(description="The steps in order.")
    item_id: ItemId = Field(ItemId(""), description="The plan's item id.")


# --- kept for clients that know them ---------------------------------------------------


class McpInvocation(BaseModel):
    model_config = FROZEN
    server: str = Field(description="The server asked.")
    tool: str = Field(description="Its tool.")
    arguments: Any = Field(None, description="The arguments.")


class McpToolCallBegin(AgentEvent):
    type: Literal["mcp_tool_call_begin"] = "mcp_tool_call_begin"
    call_id: CallId = Field(description="The call.")
    invocation: McpInvocation = Field(description="What is called.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")


class McpToolCallEnd(AgentEvent):
    type: Literal["mcp_tool_call_end"] = "mcp_tool_call_end"
    call_id: CallId = Field(description="The call.")
    invocation: McpInvocation = Field(description="What was called.")
    duration: Duration = Field(Duration(), description="How long it took.")
    result: dict[Literal["Ok"], dict[str, Any]] | dict[Literal["Err"], str] = Field(description="How it went.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")


class HistoryEntry(BaseModel):
    model_config = FROZEN
    session_id: str = Field(description="Whose.")
    ts: Whole = Field(description="When, in seconds.")
    text: str = Field(description="What.")


class GetHistoryEntryResponse(DurableEvent):
    type: Literal["get_history_entry_response"] = "get_history_entry_response"
    offset: Whole = Field(description="Which entry.")
    log_id: Whole = Field(description="Of which log.")
    entry: HistoryEntry | None = Field(None, description="The entry, if there is one.")


class ShutdownComplete(DurableEvent):
    type: Literal["shutdown_complete"] = "shutdown_complete"


# --- what the classes say, as tables ---------------------------------------------------


Delta = AgentMessageDelta | AgentReasoningDelta | AgentReasoningRawContentDelta | ExecCommandOutputDelta


def type_of(kind: type[Event]) -> str:
    return str(kind.model_fields["type"].default)


E = TypeVar("E", bound=Event)


def kinds_of(family: type[E]) -> tuple[type[E], ...]:
    """The event types of a family, in the order of this file."""
    classes = (one for one in globals().values() if isinstance(one, type) and issubclass(one, family))
    return tuple(one for one in classes if not one.model_fields["type"].is_required())


DURABLE_EVENTS = kinds_of(DurableEvent)
DELTAS: tuple[type[Delta], ...] = get_args(Delta)
EVENTS: tuple[type[Event], ...] = (*DURABLE_EVENTS, *DELTAS)

APPROVAL_REQUESTS = frozenset(map(type_of, kinds_of(ApprovalRequest)))
TERMINAL = frozenset(type_of(kind) for kind in DURABLE_EVENTS if kind.terminal)
READ_BY_MODELS = frozenset(type_of(kind) for kind in DURABLE_EVENTS if kind.read_by_models)
ACTIVITIES = {type_of(kind): kind.activity for kind in EVENTS if kind.activity}

if TYPE_CHECKING:
    AnyApprovalRequest = ApprovalRequest
    AnyDurableEvent = DurableEvent
    AnyEvent = DurableEvent | Delta
else:  # pydantic reads a family as the union of its members
    AnyApprovalRequest = reduce(or_, kinds_of(ApprovalRequest))
    AnyDurableEvent = Annotated[reduce(or_, DURABLE_EVENTS), Field(discriminator="type")]
    AnyEvent = Annotated[reduce(or_, EVENTS), Field(discriminator="type")]

LATER = ConfigDict(defer_build=True)  # at the first event: an idle daemon needs none

event_adapter: TypeAdapter[DurableEvent | Delta] = TypeAdapter(AnyEvent, config=LATER)
durable_adapter: TypeAdapter[DurableEvent] = TypeAdapter(AnyDurableEvent, config=LATER)


class Envelope(BaseModel):
    """An event as clients of our own API get it."""

    model_config = FROZEN
    conversation: ConversationId = Field(description="Whose history this is.")
    seq: Whole | None = Field(description="Its place, dense from 1; null for a delta.")
    ts: float = Field(description="When it happened, in seconds since 1970.")
    turn: TurnId | None = Field(None, description="The turn it belongs to.")
    event: AnyEvent = Field(description="What happened.")
