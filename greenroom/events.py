"""The events of conversations, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from dataclasses import field
from typing import Any, ClassVar, Literal, TypedDict

from greenroom.record import Event

Decision = Literal["approved", "approved_for_session", "denied", "abort", "withdrawn"]

BusyPolicy = Literal["steer", "enqueue", "reject", "interrupt"]

ApprovalPolicy = Literal["untrusted", "on-failure", "on-request", "never"]

ReasoningEffort = Literal["minimal", "low", "medium", "high", "none"]

ReasoningSummary = Literal["auto", "concise", "detailed", "none"]

AbortReason = Literal["interrupted", "replaced", "failed", "lost"]

MessageKind = Literal["plain", "user_instructions", "environment_context"]

SandboxMode = Literal["read-only", "workspace-write", "danger-full-access"]


class UpdatedFile(TypedDict):
    unified_diff: str  # The change, one line of context, no file header.
    move_path: str | None  # New path of the file, if it moves.


class ReadCommand(TypedDict):
    cmd: str  # The command.
    name: str  # The file's name.


class ListFilesCommand(TypedDict):
    cmd: str  # The command.
    path: str | None  # Where.


class SearchCommand(TypedDict):
    cmd: str  # The command.
    query: str | None  # What for.
    path: str | None  # Where.


class FormatCommand(TypedDict):
    cmd: str  # The command.
    tool: str | None  # The formatter.
    targets: list[str] | None  # What it formats.


class PlainCommand(TypedDict):
    cmd: str  # The command.


class Duration(TypedDict):
    secs: int  # Whole seconds.
    nanos: int  # The rest, in nanoseconds.


class HistoryEntry(TypedDict):
    session_id: str  # Whose.
    ts: int  # When, in seconds.
    text: str  # What.


class TextItem(TypedDict):
    type: Literal["text"]  # Words.
    text: str  # The words.


class ImageItem(TypedDict):
    type: Literal["image"]  # A picture by address.
    image_url: str  # https: or data: address of the picture.


class LocalImageItem(TypedDict):
    type: Literal["local_image"]  # A picture in a file.
    path: str  # The file, read when the input is consumed.


class DangerFullAccess(TypedDict):
    mode: Literal["danger-full-access"]  # No sandbox.


class ReadOnly(TypedDict):
    mode: Literal["read-only"]  # Read anything, write nothing, no network.


class WorkspaceWrite(TypedDict):
    mode: Literal["workspace-write"]  # Write below the working directory, the temporary directories and the roots.
    writable_roots: list[str]  # Further directories that may be written.
    network_access: bool  # Whether commands may use the network.
    exclude_tmpdir_env_var: bool  # Keep $TMPDIR read-only.
    exclude_slash_tmp: bool  # Keep /tmp read-only.
    unix_sockets: list[str]  # Unix sockets outside that commands may connect to.


class Pin(TypedDict):
    """A directory that a policy opens, as it was found when it was first named. Its name may come to mean another."""

    name: str  # As the policy names it.
    path: str | None  # Where it really is; null: there was no such directory.
    device: int  # Device number; it is only good for one boot.
    inode: int  # Inode number.
    boot: str  # The boot in which it was looked at.


class Settings(TypedDict):
    """The settings that a turn runs with. A conversation has its own; a turn may carry others for itself alone."""

    model: str  # The model's name, as the provider knows it.
    provider: str  # Key of the model provider in the config; empty means the default one.
    cwd: str  # Absolute working directory of commands and patches.
    approval_policy: ApprovalPolicy  # When to ask a person.
    sandbox: DangerFullAccess | ReadOnly | WorkspaceWrite  # What commands may read and write.
    effort: ReasoningEffort  # How hard a reasoning model thinks.
    summary: ReasoningSummary  # How reasoning is summarised.
    base_instructions: str | None  # Replaces the built-in instructions.
    developer_instructions: str | None  # Told to the model before everything that is said, beside the built-in instructions.
    include_plan_tool: bool  # Offer update_plan to the model.
    include_apply_patch_tool: bool  # Offer apply_patch as a tool of its own.
    roots: list[Pin] | None  # What the writable directories were when they were first named; null: not looked at yet.
    overrides: dict[str, Any]  # Overrides of the config that were given at creation; no secrets.


class McpInvocation(TypedDict):
    server: str  # The server asked.
    tool: str  # Its tool.
    arguments: Any  # The arguments.


class PlanStep(TypedDict):
    step: str  # The step.
    status: Literal["pending", "in_progress", "completed"]  # How far it is.


class AgentMessage(Event):
    type: ClassVar[str] = "agent_message"
    message: str  # What the model said.
    item_id: str = ""  # The message's item id.
    partial: bool = False  # True where an interrupt cut it.


class AgentMessageDelta(Event):
    type: ClassVar[str] = "agent_message_delta"
    delta: str  # The next words.
    item_id: str = ""  # The message they belong to.


class AgentReasoning(Event):
    type: ClassVar[str] = "agent_reasoning"
    text: str  # One part of the summary.
    item_id: str = ""  # The reasoning's item id.
    partial: bool = False  # True where an interrupt cut it.


class AgentReasoningDelta(Event):
    type: ClassVar[str] = "agent_reasoning_delta"
    delta: str  # The next words.
    item_id: str = ""  # The reasoning they belong to.


class AgentReasoningRawContent(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content"
    text: str  # Reasoning as the model wrote it.
    item_id: str = ""  # The reasoning's item id.
    partial: bool = False  # True where an interrupt cut it.


class AgentReasoningRawContentDelta(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content_delta"
    delta: str  # The next words.
    item_id: str = ""  # The reasoning they belong to.


class AgentReasoningSectionBreak(Event):
    type: ClassVar[str] = "agent_reasoning_section_break"
    item_id: str = ""  # The reasoning that goes on in a new section.


class ApplyPatchApprovalRequest(Event):
    type: ClassVar[str] = "apply_patch_approval_request"
    call_id: str  # The call that waits.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what would become of the file.
    reason: str | None = None  # Why it is asked.
    grant_root: str | None = None  # A directory that would become writable.
    outside_sandbox: bool | None = None  # Whether it writes what a command in the sandbox could not; null where nobody said.
    approval_id: str = ""  # Answer under this id.
    item_id: str = ""  # The patch's item id.
    deadline_s: float | None = None  # Seconds until it is answered by default.
    default: Literal["denied", "abort"] = "denied"  # That answer.


class ApprovalResolved(Event):
    type: ClassVar[str] = "approval_resolved"
    approval_id: str  # The question.
    decision: Decision  # The answer; withdrawn when its turn ended first.
    by: str = ""  # Who answered.
    reason: str = ""  # Why, if they said.


class BackgroundEvent(Event):
    type: ClassVar[str] = "background_event"
    message: str  # A notice that does not belong to the answer.


class ConversationArchived(Event):
    type: ClassVar[str] = "conversation_archived"
    archived: bool = True  # False unarchives it.


class ConversationFailed(Event):
    """The conversation was given up until somebody restarts it."""

    type: ClassVar[str] = "conversation_failed"
    message: str  # What went wrong, in one line.
    traceback: str = ""  # Where in our code.


class ConversationRenamed(Event):
    type: ClassVar[str] = "conversation_renamed"
    name: str | None  # The new name; null removes it.


class ConversationRestarted(Event):
    type: ClassVar[str] = "conversation_restarted"
    by: str = ""  # The client that restarted it.
    without_pictures: bool = False  # The model no longer gets the pictures of earlier messages.


class ErrorEvent(Event):
    type: ClassVar[str] = "error"
    message: str  # What went wrong.


class ExecApprovalRequest(Event):
    type: ClassVar[str] = "exec_approval_request"
    call_id: str  # The call that waits.
    command: list[str]  # What would run.
    cwd: str  # Where.
    reason: str | None = None  # Why it is asked: the model's justification, or ours.
    approval_id: str = ""  # Answer under this id.
    item_id: str = ""  # The command's item id.
    retry: bool = False  # It ran in the sandbox and failed; may it run again without?
    outside_sandbox: bool | None = None  # Whether it would run outside the sandbox; null in histories of before 0.2, where it did.
    deadline_s: float | None = None  # Seconds until it is answered by default.
    default: Literal["denied", "abort"] = "denied"  # That answer.


class ExecCommandBegin(Event):
    type: ClassVar[str] = "exec_command_begin"
    call_id: str  # The call that runs.
    command: list[str]  # What runs.
    cwd: str  # Where.
    parsed_cmd: list[dict[str, ReadCommand] | dict[str, ListFilesCommand] | dict[str, SearchCommand] | dict[str, FormatCommand] | dict[str, PlainCommand]] = field(default_factory=list)  # A hint for display.
    item_id: str = ""  # The command's item id.


class ExecCommandEnd(Event):
    type: ClassVar[str] = "exec_command_end"
    call_id: str  # The call that ran.
    stdout: str = ""  # What it wrote, head and tail kept.
    stderr: str = ""  # What it wrote to stderr, head and tail kept.
    exit_code: int  # Its exit status; -1 where it has none of its own.
    duration: Duration = field(default_factory=lambda: Duration(secs=0, nanos=0))  # How long it ran.
    item_id: str = ""  # The command's item id.


class ExecCommandOutputDelta(Event):
    type: ClassVar[str] = "exec_command_output_delta"
    call_id: str  # The call that runs.
    stream: Literal["stdout", "stderr"]  # Which of its streams.
    chunk: bytes  # What it wrote, in base64.
    item_id: str = ""  # The command's item id.


class GetHistoryEntryResponse(Event):
    type: ClassVar[str] = "get_history_entry_response"
    offset: int  # Which entry.
    log_id: int  # Of which log.
    entry: HistoryEntry | None = None  # The entry, if there is one.


class InputQueued(Event):
    """Input was accepted while a turn was running; a `user_message` with its id follows when it is taken."""

    type: ClassVar[str] = "input_queued"
    input_id: str  # The input's id.
    policy: BusyPolicy  # steer: joins the running turn. enqueue, interrupt: gets its own.
    items: list[TextItem | ImageItem | LocalImageItem]  # The content of the message.
    settings: Settings | None = None  # Settings of the turn it will start, if its own.
    key: str | None = None  # Idempotency key of the request.
    by: str = ""  # Which client sent it.


class InputWithdrawn(Event):
    type: ClassVar[str] = "input_withdrawn"
    input_id: str  # The input that no turn will run.
    reason: str = ""  # Why.


class McpToolCallBegin(Event):
    type: ClassVar[str] = "mcp_tool_call_begin"
    call_id: str  # The call.
    invocation: McpInvocation  # What is called.
    item_id: str = ""  # The call's item id.


class McpToolCallEnd(Event):
    type: ClassVar[str] = "mcp_tool_call_end"
    call_id: str  # The call.
    invocation: McpInvocation  # What was called.
    duration: Duration = field(default_factory=lambda: Duration(secs=0, nanos=0))  # How long it took.
    result: dict[str, dict[str, Any]] | dict[str, str]  # How it went.
    item_id: str = ""  # The call's item id.


class ModelReasoning(Event):
    """A reasoning item as the model wants it back with the next request."""

    type: ClassVar[str] = "model_reasoning"
    item_id: str  # The reasoning's item id.
    id: str  # The model's own id of it.
    summary: list[str] = field(default_factory=list)  # Its summary parts.
    encrypted_content: str | None = None  # Data that only the model can read.


class PatchApplyBegin(Event):
    type: ClassVar[str] = "patch_apply_begin"
    call_id: str  # The call that is applied.
    auto_approved: bool  # True when nobody was asked.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what becomes of the file.
    item_id: str = ""  # The patch's item id.


class PatchApplyEnd(Event):
    type: ClassVar[str] = "patch_apply_end"
    call_id: str  # The call that was applied.
    stdout: str = ""  # What was done.
    stderr: str = ""  # What went wrong.
    success: bool  # All of it, or nothing.
    item_id: str = ""  # The patch's item id.


class PlanUpdate(Event):
    type: ClassVar[str] = "plan_update"
    explanation: str | None = None  # Why the plan is what it is.
    plan: list[PlanStep]  # The steps in order.
    item_id: str = ""  # The plan's item id.


class QueuePaused(Event):
    type: ClassVar[str] = "queue_paused"
    queued: int  # How many inputs wait.


class QueueResumed(Event):
    type: ClassVar[str] = "queue_resumed"
    queued: int  # How many inputs wait.


class SessionConfigured(Event):
    """The first event of every conversation."""

    type: ClassVar[str] = "session_configured"
    session_id: str  # The conversation's id.
    model: str  # The effective model.
    history_log_id: int = 0  # Kept for clients that expect it; always 0.
    history_entry_count: int = 0  # Kept for clients that expect it; always 0.
    settings: Settings | None = None  # How the conversation is run.
    name: str | None = None  # A name given at creation.
    forked_from: str | None = None  # `ID@SEQ` of the conversation this one was forked from.


class SettingsChanged(Event):
    type: ClassVar[str] = "settings_changed"
    settings: Settings  # The settings of later turns.


class ShutdownComplete(Event):
    type: ClassVar[str] = "shutdown_complete"


class StreamError(Event):
    """The model's answer broke and will be asked for again."""

    type: ClassVar[str] = "stream_error"
    message: str  # What broke, which try comes next and when.
    attempt: int = 0  # The number of the next try, from 1.
    delay_ms: int = 0  # How long until then.


class TaskComplete(Event):
    type: ClassVar[str] = "task_complete"
    last_agent_message: str | None = None  # The last thing the model said.


class TaskStarted(Event):
    type: ClassVar[str] = "task_started"
    model_context_window: int | None = None  # Tokens that fit, where known.
    settings: Settings | None = None  # Settings of this turn, if they differ from the conversation's.


class TokenCount(Event):
    type: ClassVar[str] = "token_count"
    input_tokens: int  # Tokens read by the model in this response.
    cached_input_tokens: int | None = None  # How many of them came from its cache.
    output_tokens: int  # Tokens written.
    reasoning_output_tokens: int | None = None  # How many of them were reasoning.
    total_tokens: int  # Both together.


class ToolCall(Event):
    """The model asked for a tool. Exactly one `tool_output` with the same call id follows before the turn ends."""

    type: ClassVar[str] = "tool_call"
    call_id: str  # The model's id of the call.
    item_id: str  # The item that the call becomes.
    name: str  # The tool's name.
    arguments: str  # The arguments as the model wrote them.


class ToolOutput(Event):
    type: ClassVar[str] = "tool_output"
    call_id: str  # The call that this answers.
    item_id: str  # The call's item.
    output: str  # The text that the model gets.


class TurnAborted(Event):
    type: ClassVar[str] = "turn_aborted"
    reason: AbortReason  # interrupted, replaced by new input, failed in us, lost with the daemon.
    message: str = ""  # More about it, for people.
    by: list[str] = field(default_factory=list)  # The clients that asked for it.


class TurnDiff(Event):
    type: ClassVar[str] = "turn_diff"
    unified_diff: str  # All that patches changed in this turn, git style.


class UserMessage(Event):
    """Input that a turn has taken: from here on it is part of what the model reads."""

    type: ClassVar[str] = "user_message"
    message: str  # The words of the message.
    kind: MessageKind = "plain"  # plain: somebody said it. Others: we did.
    item_id: str = ""  # The message's item id.
    items: list[TextItem | ImageItem | LocalImageItem] = field(default_factory=list)  # The message whole, with its pictures.
    input_id: str | None = None  # The accepted input this is.
    key: str | None = None  # Idempotency key of the request.
    by: str = ""  # Which client sent it.
