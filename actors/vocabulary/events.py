"""The events of a conversation: everything that is journalled and everything that is seen on a wire. A leaf.

A dialect says them in the words of its clients, and may leave some out. Two families:

* **durable** events get a `seq` and are committed before anybody sees them;
* **deltas** have none: they are the unfinished tail of an item, and its finished event says everything again.

All properties of a type stand on its class: in its base, where the type checker holds it, or in a class variable. The
tables at the end of this file are computed from that, so a new type is one class here and one case in `apply`.
"""

from enum import StrEnum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from actors.vocabulary.agent_events import (
    AgentCommand as AgentCommand,
    AgentCommands as AgentCommands,
    AgentOption as AgentOption,
    AgentOptions as AgentOptions,
    AgentSession as AgentSession,
    AgentTitle as AgentTitle,
    OptionChoice as OptionChoice,
)
from actors.vocabulary.event_bases import (
    FORM_LIMITS as FORM_LIMITS,
    MOST as MOST,
    AgentEvent as AgentEvent,
    BaseEvent as BaseEvent,
    Duration as Duration,
    DurableEvent as DurableEvent,
    FileAdd as FileAdd,
    FileChange as FileChange,
    FileUpdate as FileUpdate,
    FormField as FormField,
    FormValue as FormValue,
    UpdatedFile as UpdatedFile,
    Whole as Whole,
)
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId, JobId, TurnId
from actors.vocabulary.items import ImageItem, InputItem
from actors.vocabulary.settings import FROZEN, AbortReason, BusyPolicy, Decision, SettingChange, Settings, Task
from actors.vocabulary.subjects import (
    AgentCall as AgentCall,
    ApprovalOption as ApprovalOption,
    Beyond as Beyond,
    CommandHint as CommandHint,
    CommandSubject as CommandSubject,
    FilesSubject as FilesSubject,
    FormSubject as FormSubject,
    FurtherChange as FurtherChange,
    OtherSubject as OtherSubject,
    PictureSubject as PictureSubject,
    Place as Place,
    QuestionSubject as QuestionSubject,
    SearchSubject as SearchSubject,
    ToolSort as ToolSort,
    ToolSubject as ToolSubject,
    WorkKind as WorkKind,
    WorkSubject as WorkSubject,
)
from actors.vocabulary.work_events import (
    ONE_EVENT as ONE_EVENT,
    ApprovalRequested as ApprovalRequested,
    Standing as Standing,
    WorkBegan as WorkBegan,
    WorkEnded as WorkEnded,
    WorkOutput as WorkOutput,
    WorkStatus as WorkStatus,
)

BudgetScope = Literal["turn", "conversation", "day", "home"]
BudgetUnit = Literal["requests", "tool_calls", "minutes", "tokens", "usd", "repetitions"]


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
    """New settings count from the next model request on, and from the next call on; in a turn that runs, too."""

    headline = True
    type: Literal["settings_changed"] = "settings_changed"
    settings: Settings = Field(description="The settings of the conversation from now on.")
    by: str = Field("", description="The client that changed them.")
    changed: tuple[SettingChange, ...] = Field((), description="What has changed, for people.")


class ConversationRenamed(DurableEvent):
    headline = True
    type: Literal["conversation_renamed"] = "conversation_renamed"
    name: str | None = Field(description="The new name; null removes it.")
    by: str = Field("", description="The client that renamed it.")


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
    own: tuple[str, ...] = Field((), description="Which of those are its own; empty: all of them.")
    key: str | None = Field(None, description="Idempotency key of the request.")
    by: str = Field("", description="Which client sent it.")
    task: Task = Field(Task.ANSWER, description="What its turn is to do; compact has no message.")


class InputEdited(DurableEvent):
    """Waiting input has other content from here on; its id, its key and its place stay."""

    synced = headline = said_by_client = True
    type: Literal["input_edited"] = "input_edited"
    input_id: InputId = Field(description="The input that waits.")
    items: tuple[InputItem, ...] = Field(description="Its content from now on.")
    by: str = Field("", description="Which client changed it.")


class InputMoved(DurableEvent):
    """Waiting input has another place among those that wait as it does."""

    synced = headline = True
    type: Literal["input_moved"] = "input_moved"
    input_id: InputId = Field(description="The input that waits.")
    before: InputId | None = Field(None, description="The input that comes after it now; null: it is the last.")
    by: str = Field("", description="Which client moved it.")


class InputWithdrawn(DurableEvent):
    synced = headline = True
    type: Literal["input_withdrawn"] = "input_withdrawn"
    input_id: InputId = Field(description="The input that no turn will run.")
    reason: str = Field("", description="Why.")
    by: str = Field("", description="Which client withdrew it, if one did.")


class QueuePaused(DurableEvent):
    headline = True
    activity = "waiting; the queue is paused since the last turn was interrupted"
    type: Literal["queue_paused"] = "queue_paused"
    queued: Whole = Field(description="How many inputs wait.")
    waiting: tuple[str, ...] = Field((), description="The first words of those that come first.")


class QueueResumed(DurableEvent):
    headline = True
    activity = "waiting"
    type: Literal["queue_resumed"] = "queue_resumed"
    queued: Whole = Field(description="How many inputs wait.")
    by: str = Field("", description="Which client let it go on, if one asked for that alone.")


class MessageKind(StrEnum):
    PLAIN = "plain"
    USER_INSTRUCTIONS = "user_instructions"
    ENVIRONMENT_CONTEXT = "environment_context"
    JOBS = "jobs"
    SKILLS = "skills"


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
    names: str | None = Field(None, description="The name that the conversation got, as it had none.")


# --- the turn --------------------------------------------------------------------------


class TaskStarted(DurableEvent):
    headline = read_by_models = True
    activity = "thinking"
    type: Literal["task_started"] = "task_started"
    model_context_window: Whole | None = Field(
        None, description="Tokens that the model can read at once, where known."
    )
    task: Task = Field(
        Task.ANSWER,
        description="answer: to what was said. compact: sums up the history, on request. follow: the agent began "
        "it by itself.",
    )
    input_id: InputId | None = Field(None, description="The accepted request, where that is no message.")
    key: str | None = Field(None, description="Idempotency key of that request.")
    settings: Settings | None = Field(
        None, description="Settings of this turn, if they differ from the conversation's."
    )


class UncountedAnswer(BaseModel):
    """The last answer of a turn whose server has not said how many tokens it took."""

    model_config = FROZEN
    model: str = Field("", description="The model that was asked.")
    provider: str = Field("", description="Its provider; empty means the default one.")
    cost_usd: float | None = Field(None, description="The price of the answer in US dollars; null: not known.")
    requests: Whole = Field(1, description="Requests that it took, without those that `model_requested` told of.")


class TurnEnd(DurableEvent):
    """The one event that ends a turn. It tells of a last answer that has no numbers."""

    synced = headline = terminal = True
    uncounted: UncountedAnswer | None = Field(
        None,
        description="The turn's last answer, if its server has not told its tokens; no `token_count` tells of it.",
    )


class TaskComplete(TurnEnd):
    type: Literal["task_complete"] = "task_complete"
    last_agent_message: str | None = Field(None, description="The last thing the model said.")


class TurnAborted(TurnEnd):
    type: Literal["turn_aborted"] = "turn_aborted"
    reason: AbortReason = Field(
        description="interrupted, replaced by new input, failed in us, lost with the daemon, stopped by a budget."
    )
    message: str = Field("", description="More about it, for people.")
    by: tuple[str, ...] = Field((), description="The clients that asked for it.")


class BudgetReached(AgentEvent):
    """The turn is about to end, because a budget is used up or can't be kept."""

    type: Literal["budget_reached"] = "budget_reached"
    scope: BudgetScope = Field(description="turn, conversation, day, or home: all conversations for ever.")
    unit: BudgetUnit = Field(description="The unit of the budget; repetitions: the same calls, again and again.")
    limit: float | None = Field(None, description="The budget; null where there is none that could be named.")
    used: float | None = Field(None, description="What was used of it; null where that is not known.")
    message: str = Field(description="What happened, why, and how to go on.")


class CallsLeft(AgentEvent):
    """The turn ends with calls of its last answer that were not begun. They don't count as tool calls."""

    type: Literal["calls_left"] = "calls_left"
    count: Whole = Field(description="How many.")


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


class ModelRequested(AgentEvent):
    """A request is about to be sent to the model. Said where a budget is set, so that it counts whatever happens.

    Without a budget it is said at the end of its turn, and only of a request that got no answer.
    """

    type: Literal["model_requested"] = "model_requested"
    model: str = Field("", description="The model that is asked.")
    provider: str = Field("", description="Its provider; empty means the default one.")


class TokenCount(AgentEvent):
    read_by_models = True
    type: Literal["token_count"] = "token_count"
    input_tokens: Whole = Field(description="Tokens read by the model in this response.")
    cached_input_tokens: Whole | None = Field(None, description="How many of them came from its cache.")
    cache_written_tokens: Whole | None = Field(None, description="How many of them were written to its cache.")
    output_tokens: Whole = Field(description="Tokens written.")
    reasoning_output_tokens: Whole | None = Field(None, description="How many of them were reasoning.")
    total_tokens: Whole = Field(description="Both together.")
    context_tokens: Whole | None = Field(
        None, description="How full the context is after this response; null where it does not become part of it."
    )
    context_window: Whole | None = Field(None, description="Tokens that the model can read at once, where known.")
    model: str = Field("", description="The model that was asked; empty in histories of before 0.3.")
    provider: str = Field("", description="Its provider; empty means the default one.")
    cost_usd: float | None = Field(None, description="The price of this response in US dollars; null: not known.")
    requests: Whole = Field(1, description="Requests that this took, without those that `model_requested` told of.")
    agent_sum_usd: float | None = Field(
        None, description="The sum that a third-party agent has reported so far, of which `cost_usd` is what was new."
    )
    agent_sum_from_usd: float | None = Field(
        None, description="The sum with which its process began. One that was killed may fall back to it."
    )
    counted: bool = Field(
        True, description="False: the server has not said how many tokens this took. Its numbers are all 0 then."
    )


class PlanStep(BaseModel):
    model_config = FROZEN
    step: str = Field(description="The step.")
    status: Literal["pending", "in_progress", "completed"] = Field(description="How far it is.")


class Compacted(AgentEvent):
    """Summed-up history: from here on a model reads the summary in place of these events. People still read them.

    What people said is no part of it: their words, the plan and the names of open files stay beside the summary.
    """

    synced = headline = read_by_models = True
    activity = "thinking"
    type: Literal["compacted"] = "compacted"
    why: Literal["limit", "asked", "refused"] = Field(
        description="limit: the context was nearly full. asked: by a person. refused: the model's server said so."
    )
    summary: str = Field(description="The text that the model reads in their place.")
    first_seq: Whole = Field(description="The first event that is summed up.")
    last_seq: Whole = Field(description="The last of them. Later ones are read as they are.")
    plan: tuple[PlanStep, ...] = Field((), description="The plan as it was then.")
    files: tuple[str, ...] = Field((), description="Files that were read or changed last, the latest last.")
    model: str = Field("", description="The model that wrote the summary.")
    response_id: str = Field("", description="The model's own id of the response that it was written in.")
    requests: Whole = Field(1, description="How many requests it took: a long history is summed up in pieces.")
    left_out: Whole = Field(0, description="Events among them that were too long for a request, and are not in it.")
    words_cut_seq: Whole | None = Field(
        None, description="People's messages up to this seq are shortened, as all together would not fit; null: none."
    )
    words_cut_to: Whole = Field(0, description="How many characters are left of each of those.")
    tokens_before: Whole | None = Field(None, description="How full the context was, as far as known.")
    tokens_after: Whole | None = Field(None, description="How full it is now, as an estimate.")
    context_window: Whole | None = Field(None, description="Tokens that the model can read at once, where known.")


# --- what the model says ---------------------------------------------------------------


class AgentMessage(AgentEvent):
    read_by_models = True
    activity = "thinking"
    type: Literal["agent_message"] = "agent_message"
    message: str = Field(description="What the model said.")
    item_id: ItemId = Field(ItemId(""), description="The message's item id.")
    partial: bool = Field(False, description="True where the end of the turn cut it.")
    cut: AbortReason | None = Field(None, description="How that turn ended; null in histories of before 0.2.")


class AgentMessageDelta(BaseEvent):
    activity = "answering"
    type: Literal["agent_message_delta"] = "agent_message_delta"
    delta: str = Field(description="The next words.")
    item_id: ItemId = Field(ItemId(""), description="The message they belong to.")


class AgentReasoning(AgentEvent):
    activity = "thinking"
    type: Literal["agent_reasoning"] = "agent_reasoning"
    text: str = Field(description="One part of the summary.")
    item_id: ItemId = Field(ItemId(""), description="The reasoning's item id.")
    partial: bool = Field(False, description="True where the end of the turn cut it.")
    cut: AbortReason | None = Field(None, description="How that turn ended; null in histories of before 0.2.")


class AgentReasoningDelta(BaseEvent):
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
    partial: bool = Field(False, description="True where the end of the turn cut it.")
    cut: AbortReason | None = Field(None, description="How that turn ended; null in histories of before 0.2.")


class AgentReasoningRawContentDelta(BaseEvent):
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
    signature: str = Field("", description="What the model knows its own reasoning by.")
    wire: Literal["responses", "messages"] = Field("responses", description="The API that it came from.")
    model: str = Field("", description="The model that wrote it; empty in older journals.")


class ToolCall(AgentEvent):
    """The model asked for a tool. Exactly one `tool_output` with the same call id follows before the turn ends."""

    read_by_models = True
    type: Literal["tool_call"] = "tool_call"
    call_id: CallId = Field(description="The model's id of the call.")
    item_id: ItemId = Field(description="The item that the call becomes.")
    name: str = Field(description="The tool's name.")
    arguments: str = Field(description="The arguments as the model wrote them.")
    signature: str = Field("", description="What a Gemini model knows its own call by.")


class ToolFailure(BaseModel):
    """A failed call, for people: the model reads why in the output."""

    model_config = FROZEN
    kind: Literal["arguments", "unknown_tool", "patch", "time_out", "refused", "tool"] = Field(
        description="arguments: they could not be read. patch: it does not apply. time_out: a limit struck. refused: "
        "a person or a rule said no. tool: the tool itself says so."
    )
    message: str = Field(description="What failed, in one line.")


class ToolOutput(AgentEvent):
    read_by_models = True
    type: Literal["tool_output"] = "tool_output"
    call_id: CallId = Field(description="The call that this answers.")
    item_id: ItemId = Field(description="The call's item.")
    output: str = Field(description="The text that the model gets.")
    failed: ToolFailure | None = Field(None, description="What failed; null if nothing did.")
    pictures: tuple[ImageItem, ...] = Field((), description="Pictures that the model gets after it.")


# --- questions, jobs, plans --------------------------------------------------------------


class ApprovalResolved(DurableEvent):
    synced = headline = read_by_models = True
    activity = "thinking"
    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: ApprovalId = Field(description="The question.")
    decision: Decision = Field(description="The answer; withdrawn when its turn ended first.")
    by: str = Field("", description="Who answered.")
    reason: str = Field("", description="Why, if they said.")
    option: str = Field("", description="The option of the agent that was chosen, by its id; empty: none.")
    content: dict[str, FormValue] = Field(
        {}, description="What the server is told, with the defaults of what was not said."
    )
    outside: bool = Field(False, description="A yes to run it outside the sandbox, where a yes alone means inside.")


class KeptYesUsed(DurableEvent):
    """A question that nobody was asked: a yes for the session, given to the same question before, answers it."""

    type: Literal["kept_yes_used"] = "kept_yes_used"
    approval_id: ApprovalId = Field(
        description="The question to which that yes was given; empty: in a history of before 0.2."
    )
    by: str = Field("", description="The client that gave it.")
    call_id: CallId = Field(CallId(""), description="The call that would have been asked about.")
    item_id: ItemId = Field(ItemId(""), description="The call's item id.")
    outside: bool = Field(False, description="The yes was to run it outside the sandbox.")


class JobStarted(AgentEvent):
    """A command went into the background. A `job_ended` with its id follows, maybe after the turn."""

    headline = True
    type: Literal["job_started"] = "job_started"
    job: JobId = Field(description="The job's id.")
    call_id: CallId = Field(description="The call that started it.")
    item_id: ItemId = Field(ItemId(""), description="The call's item.")
    command: tuple[str, ...] = Field(description="What runs.")
    cwd: Path = Field(description="Where.")
    keeps: bool = Field(False, description="True if it goes on after its turn.")


class JobEnded(DurableEvent):
    headline = read_by_models = True
    type: Literal["job_ended"] = "job_ended"
    job: JobId = Field(description="The job's id.")
    how: Literal["exited", "ended", "not_started", "turn_over", "lost"] = Field(
        description="exited: by itself. ended: somebody ended it. turn_over: with its turn. lost: with the daemon."
    )
    exit_code: Whole = Field(-1, description="Its exit status; -1 where it has none of its own.")
    output: str = Field("", description="The end of what it wrote.")
    by: str = Field("", description="The client that ended it, or the model.")


class TurnDiff(AgentEvent):
    type: Literal["turn_diff"] = "turn_diff"
    unified_diff: str = Field(description="All that patches changed in this turn, git style.")


class PlanUpdate(AgentEvent):
    type: Literal["plan_update"] = "plan_update"
    explanation: str | None = Field(None, description="Why the plan is what it is.")
    plan: tuple[PlanStep, ...] = Field(description="The steps in order.")
    item_id: ItemId = Field(ItemId(""), description="The plan's item id.")


# --- tables of the classes -------------------------------------------------------------


Delta = AgentMessageDelta | AgentReasoningDelta | AgentReasoningRawContentDelta | WorkOutput


def type_of(kind: type[BaseEvent]) -> str:
    return str(kind.model_fields["type"].default)


E = TypeVar("E", bound=BaseEvent)


def kinds_of(family: type[E]) -> tuple[type[E], ...]:
    """The event types of a family, in the order of this file, and after them those of other files."""
    classes = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, family)]
    classes.sort(key=lambda kind: kind.__module__ != __name__)
    return tuple(kind for kind in classes if not kind.model_fields["type"].is_required())


DURABLE_EVENTS = kinds_of(DurableEvent)
DELTAS: tuple[type[Delta], ...] = get_args(Delta)
EVENTS: tuple[type[BaseEvent], ...] = (*DURABLE_EVENTS, *DELTAS)

APPROVAL_REQUESTED = type_of(ApprovalRequested)
APPROVAL_RESOLVED = type_of(ApprovalResolved)
USER_MESSAGE = type_of(UserMessage)
TERMINAL = frozenset(type_of(kind) for kind in DURABLE_EVENTS if kind.terminal)
READ_BY_MODELS = frozenset(type_of(kind) for kind in DURABLE_EVENTS if kind.read_by_models)
ACTIVITIES = {type_of(kind): kind.activity for kind in EVENTS if kind.activity}

if TYPE_CHECKING:
    AnyDurableEvent = DurableEvent
    AnyEvent = DurableEvent | Delta
else:  # pydantic reads a family as the union of its members
    AnyDurableEvent = Annotated[reduce(or_, DURABLE_EVENTS), Field(discriminator="type")]
    AnyEvent = Annotated[reduce(or_, EVENTS), Field(discriminator="type")]

LATER = ConfigDict(defer_build=True)  # at the first event: an idle daemon needs none

durable_adapter: TypeAdapter[DurableEvent] = TypeAdapter(AnyDurableEvent, config=LATER)


class Envelope(BaseModel):
    """An event as clients of our own API get it."""

    model_config = FROZEN
    conversation: ConversationId = Field(description="Whose history this is.")
    seq: Whole | None = Field(description="Its place, dense from 1; null for a delta.")
    ts: float = Field(description="When it happened, in seconds since 1970.")
    turn: TurnId | None = Field(None, description="The turn it belongs to.")
    event: AnyEvent = Field(description="What happened.")
