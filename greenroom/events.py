"""The events of conversations, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from dataclasses import field
from typing import Any, ClassVar, Literal, TypedDict

from greenroom.record import Event, QuestionEvent

AbortReason = Literal["interrupted", "replaced", "failed", "lost", "budget"]

Decision = Literal["approved", "approved_for_session", "denied", "abort", "withdrawn"]

BusyPolicy = Literal["steer", "enqueue", "reject", "interrupt"]

ApprovalPolicy = Literal["untrusted", "on-failure", "on-request", "never"]

ReasoningEffort = Literal["minimal", "low", "medium", "high", "none"]

ReasoningSummary = Literal["auto", "concise", "detailed", "none"]

Task = Literal["answer", "compact", "follow"]

MessageKind = Literal["plain", "user_instructions", "environment_context", "jobs", "skills"]

SandboxMode = Literal["read-only", "workspace-write", "danger-full-access"]


class AgentCommand(TypedDict):
    name: str  # What is typed after a slash.
    description: str  # What it does.
    hint: str  # What may follow it.


class OptionChoice(TypedDict):
    value: str  # The value.
    name: str  # What it means, in the agent's words.


class AgentOption(TypedDict):
    """Something about the agent that can be set."""

    id: str  # The agent's id of it.
    name: str  # What it is, in the agent's words.
    category: str  # mode, model, thought_level, or what the agent calls it.
    value: str  # What it is now.
    choices: list[OptionChoice]  # What it can be.


class UpdatedFile(TypedDict):
    unified_diff: str  # The change, one line of context, no file header.
    move_path: str | None  # New path of the file, if it moves.


class PlanStep(TypedDict):
    step: str  # The step.
    status: Literal["pending", "in_progress", "completed"]  # How far it is.


class FormField(TypedDict):
    """A field of a server's form."""

    name: str  # The name under which it is told.
    title: str  # What it is called for people.
    description: str  # What it means.
    type: Literal["string", "number", "integer", "boolean", "array"]  # What it is. array: some of the choices.
    choices: list[str]  # What it can be; empty: anything of its type.
    names: list[str]  # What each of the choices is called for people, if the server says.
    required: bool  # Whether the server needs it.
    default: str | bool | int | float | list[str] | None  # What a plain yes sends.
    least: float | None  # The smallest number, the shortest text, or the fewest choices.
    most: float | None  # The largest number, the longest text, or the most choices.
    format: str  # What the text has to look like: email, uri, date, date-time.


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
    agent: str  # The agent that carries out turns; empty means Greenroom's own.
    agent_model: str  # The model that was named for an agent that is not Greenroom's own; empty: its own choice.
    agent_effort: str  # The effort that was named for an agent that is not Greenroom's own, in its words; empty: none.


class McpInvocation(TypedDict):
    server: str  # The server asked.
    tool: str  # Its tool.
    arguments: Any  # The arguments.


class SettingChange(TypedDict):
    """A setting that has another value now, in words for people."""

    name: str  # The setting, as `greenroom set` calls it.
    before: str  # What it was; empty: nothing was set.
    after: str  # What it is now.


class UncountedAnswer(TypedDict):
    """The last answer of a turn whose server has not said how many tokens it took."""

    model: str  # The model that was asked.
    provider: str  # Its provider; empty means the default one.
    cost_usd: float | None  # The price of the answer in US dollars; null: not known.
    requests: int  # Requests that it took, without those that `model_requested` told of.


class ToolFailure(TypedDict):
    """A failed call, for people: the model reads why in the output."""

    kind: Literal["arguments", "unknown_tool", "patch", "time_out", "refused", "tool"]  # arguments: they could not be read. patch: it does not apply. time_out: a limit struck. refused: a person or a rule said no. tool: the tool itself says so.
    message: str  # What failed, in one line.


class Place(TypedDict):
    """A file that a tool looks at or changes."""

    path: str  # The file.
    line: int | None  # A line in it, from 1.


class ApprovalOption(TypedDict):
    """An answer that the agent offers."""

    id: str  # The agent's id of it.
    name: str  # What it means, in the agent's words.
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]  # always: the agent does not ask again for what it takes to be the same.
    rule: str  # Whose rule an `always` makes, for what, where and until when. Such an option is sent to the agent only where an answer names it. Empty: it is about this one call.


class FurtherChange(TypedDict):
    path: str  # The file.
    change: Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]  # What would become of it.


class Beyond(TypedDict):
    """A part of a question that neither its command nor its changes show."""

    given: str  # Arguments, as JSON; the middle of a long text is left out.
    says: str  # Words that the agent shows with the call.
    changes: list[FurtherChange]  # Changes for which `changes` has no room: too many files, or another of the same file.


class AgentCommands(Event):
    """The commands that the agent understands in a message that begins with a slash."""

    type: ClassVar[str] = "agent_commands"
    agent: str  # The agent.
    commands: list[AgentCommand]  # All of them.


class AgentMessage(Event):
    type: ClassVar[str] = "agent_message"
    message: str  # What the model said.
    item_id: str = ""  # The message's item id.
    partial: bool = False  # True where the end of the turn cut it.
    cut: AbortReason | None = None  # How that turn ended; null in histories of before 0.2.


class AgentMessageDelta(Event):
    type: ClassVar[str] = "agent_message_delta"
    delta: str  # The next words.
    item_id: str = ""  # The message they belong to.


class AgentOptions(Event):
    """The settings of the agent, and their values now."""

    type: ClassVar[str] = "agent_options"
    agent: str  # The agent.
    options: list[AgentOption]  # All of them.


class AgentReasoning(Event):
    type: ClassVar[str] = "agent_reasoning"
    text: str  # One part of the summary.
    item_id: str = ""  # The reasoning's item id.
    partial: bool = False  # True where the end of the turn cut it.
    cut: AbortReason | None = None  # How that turn ended; null in histories of before 0.2.


class AgentReasoningDelta(Event):
    type: ClassVar[str] = "agent_reasoning_delta"
    delta: str  # The next words.
    item_id: str = ""  # The reasoning they belong to.


class AgentReasoningRawContent(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content"
    text: str  # Reasoning as the model wrote it.
    item_id: str = ""  # The reasoning's item id.
    partial: bool = False  # True where the end of the turn cut it.
    cut: AbortReason | None = None  # How that turn ended; null in histories of before 0.2.


class AgentReasoningRawContentDelta(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content_delta"
    delta: str  # The next words.
    item_id: str = ""  # The reasoning they belong to.


class AgentReasoningSectionBreak(Event):
    type: ClassVar[str] = "agent_reasoning_section_break"
    item_id: str = ""  # The reasoning that goes on in a new section.


class AgentSession(Event):
    """An agent's own session begins or goes on, in a process that was started for it."""

    type: ClassVar[str] = "agent_session"
    agent: str  # The agent, by its name in the config.
    session: str  # Its own id of the session.
    how: Literal["new", "resumed", "loaded", "seeded"]  # new: nothing was said before. resumed, loaded: it remembers. seeded: it began anew, and was told what had been said.
    program: str = ""  # What the program calls itself, with its version.
    can: list[str] = field(default_factory=list)  # What it said that it can do.
    note: str = ""  # What a person should know about how it began; empty: nothing.


class AgentTitle(Event):
    """The agent's name for what the conversation is about."""

    type: ClassVar[str] = "agent_title"
    title: str  # The title; empty takes it back.


class ApplyPatchApprovalRequest(QuestionEvent):
    type: ClassVar[str] = "apply_patch_approval_request"
    call_id: str  # The call that waits.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what would become of the file.
    reason: str | None = None  # Why it is asked.
    grant_root: str | None = None  # A directory that would become writable.
    outside_sandbox: bool | None = None  # Whether it writes what a command in the sandbox could not; null where nobody said.
    obeyed_by: list[str] = field(default_factory=list)  # Agents, editors and shells of the person that would obey one of the files without asking.
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
    option: str = ""  # The option of the agent that was chosen, by its id; empty: none.
    content: dict[str, str | bool | int | float | list[str]] = field(default_factory=dict)  # What the server is told, with the defaults of what was not said.
    outside: bool = False  # A yes to run it outside the sandbox, where a yes alone means inside.


class BackgroundEvent(Event):
    type: ClassVar[str] = "background_event"
    message: str  # A notice that does not belong to the answer.


class BudgetReached(Event):
    """The turn is about to end, because a budget is used up or can't be kept."""

    type: ClassVar[str] = "budget_reached"
    scope: Literal["turn", "conversation", "day", "home"]  # turn, conversation, day, or home: all conversations for ever.
    unit: Literal["requests", "tool_calls", "minutes", "tokens", "usd", "repetitions"]  # The unit of the budget; repetitions: the same calls, again and again.
    limit: float | None = None  # The budget; null where there is none that could be named.
    used: float | None = None  # What was used of it; null where that is not known.
    message: str  # What happened, why, and how to go on.


class CallsLeft(Event):
    """The turn ends with calls of its last answer that were not begun. They don't count as tool calls."""

    type: ClassVar[str] = "calls_left"
    count: int  # How many.


class Compacted(Event):
    """Summed-up history: from here on a model reads the summary in place of these events. People still read them."""

    type: ClassVar[str] = "compacted"
    why: Literal["limit", "asked", "refused"]  # limit: the context was nearly full. asked: by a person. refused: the model's server said so.
    summary: str  # The text that the model reads in their place.
    first_seq: int  # The first event that is summed up.
    last_seq: int  # The last of them. Later ones are read as they are.
    plan: list[PlanStep] = field(default_factory=list)  # The plan as it was then.
    files: list[str] = field(default_factory=list)  # Files that were read or changed last, the latest last.
    model: str = ""  # The model that wrote the summary.
    response_id: str = ""  # The model's own id of the response that it was written in.
    requests: int = 1  # How many requests it took: a long history is summed up in pieces.
    left_out: int = 0  # Events among them that were too long for a request, and are not in it.
    words_cut_seq: int | None = None  # People's messages up to this seq are shortened, as all together would not fit; null: none.
    words_cut_to: int = 0  # How many characters are left of each of those.
    tokens_before: int | None = None  # How full the context was, as far as known.
    tokens_after: int | None = None  # How full it is now, as an estimate.
    context_window: int | None = None  # Tokens that the model can read at once, where known.


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
    by: str = ""  # The client that renamed it.


class ConversationRestarted(Event):
    type: ClassVar[str] = "conversation_restarted"
    by: str = ""  # The client that restarted it.
    without_pictures: bool = False  # The model no longer gets the pictures of earlier messages.


class ElicitationApprovalRequest(QuestionEvent):
    """A question of an MCP server, in the middle of a call. Approved: accepted, with what it was told."""

    type: ClassVar[str] = "elicitation_approval_request"
    call_id: str  # The call that waits.
    server: str  # The server that asks, by its name in the config.
    message: str  # Its question.
    fields: list[str] = field(default_factory=list)  # What it wants to be told, a line each, with what is sent.
    form: list[FormField] = field(default_factory=list)  # The same for programs.
    url: str | None = None  # The page that it wants the person to visit; we never open it.
    reason: str | None = None  # Why it is asked.
    outside_sandbox: bool | None = None  # Says nothing: nothing runs.
    approval_id: str = ""  # Answer under this id.
    item_id: str = ""  # The question's own item id.
    deadline_s: float | None = None  # Seconds until it is answered by default.
    default: Literal["denied", "abort"] = "denied"  # That answer.


class ErrorEvent(Event):
    type: ClassVar[str] = "error"
    message: str  # What went wrong.


class ExecApprovalRequest(QuestionEvent):
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
    history_of: str | None = None  # The repository whose history it may change, inside the sandbox: commits, branches and index, never hooks or configuration. An approval for the session is for all such commands there. Null: none.
    background: Literal["turn", "conversation"] | None = None  # It would run in the background, until its turn or its conversation is over, and may be written to without another question. Null: it runs while the model waits.
    inside_or_outside: bool = False  # A yes runs it in the sandbox; a yes with `outside` runs it without. False: `outside_sandbox` says what a yes means.
    failed: str = ""  # Of a retry: how it failed in the sandbox. Empty: nobody has said.


class ExecCommandBegin(Event):
    type: ClassVar[str] = "exec_command_begin"
    call_id: str  # The call that runs.
    command: list[str]  # What runs.
    cwd: str  # Where.
    parsed_cmd: list[dict[str, ReadCommand] | dict[str, ListFilesCommand] | dict[str, SearchCommand] | dict[str, FormatCommand] | dict[str, PlainCommand]] = field(default_factory=list)  # A hint for display.
    item_id: str = ""  # The command's item id.
    tool: str = ""  # The tool that looks at files without a program; empty: a program runs.


class ExecCommandEnd(Event):
    type: ClassVar[str] = "exec_command_end"
    call_id: str  # The call that ran.
    stdout: str = ""  # What it wrote, head and tail kept.
    stderr: str = ""  # What it wrote to stderr, head and tail kept.
    exit_code: int  # Its exit status; -1 where it has none of its own.
    duration: Duration = field(default_factory=lambda: Duration(secs=0, nanos=0))  # How long it ran.
    item_id: str = ""  # The command's item id.
    cut: AbortReason | None = None  # How the turn ended, where that cut the command short.


class ExecCommandOutputDelta(Event):
    type: ClassVar[str] = "exec_command_output_delta"
    call_id: str  # The call that runs.
    stream: Literal["stdout", "stderr"]  # Which of its streams.
    chunk: bytes  # What it wrote, in base64.
    item_id: str = ""  # The command's item id.


class InputEdited(Event):
    """Waiting input has other content from here on; its id, its key and its place stay."""

    type: ClassVar[str] = "input_edited"
    input_id: str  # The input that waits.
    items: list[TextItem | ImageItem | LocalImageItem]  # Its content from now on.
    by: str = ""  # Which client changed it.


class InputMoved(Event):
    """Waiting input has another place among those that wait as it does."""

    type: ClassVar[str] = "input_moved"
    input_id: str  # The input that waits.
    before: str | None = None  # The input that comes after it now; null: it is the last.
    by: str = ""  # Which client moved it.


class InputQueued(Event):
    """Input was accepted while a turn was running; a `user_message` with its id follows when it is taken."""

    type: ClassVar[str] = "input_queued"
    input_id: str  # The input's id.
    policy: BusyPolicy  # steer: joins the running turn. enqueue, interrupt: gets its own.
    items: list[TextItem | ImageItem | LocalImageItem]  # The content of the message.
    settings: Settings | None = None  # Settings of the turn it will start, if its own.
    own: list[str] = field(default_factory=list)  # Which of those are its own; empty: all of them.
    key: str | None = None  # Idempotency key of the request.
    by: str = ""  # Which client sent it.
    task: Task = "answer"  # What its turn is to do; compact has no message.


class InputWithdrawn(Event):
    type: ClassVar[str] = "input_withdrawn"
    input_id: str  # The input that no turn will run.
    reason: str = ""  # Why.
    by: str = ""  # Which client withdrew it, if one did.


class JobEnded(Event):
    type: ClassVar[str] = "job_ended"
    job: str  # The job's id.
    how: Literal["exited", "ended", "not_started", "turn_over", "lost"]  # exited: by itself. ended: somebody ended it. turn_over: with its turn. lost: with the daemon.
    exit_code: int = -1  # Its exit status; -1 where it has none of its own.
    output: str = ""  # The end of what it wrote.
    by: str = ""  # The client that ended it, or the model.


class JobStarted(Event):
    """A command went into the background. A `job_ended` with its id follows, maybe after the turn."""

    type: ClassVar[str] = "job_started"
    job: str  # The job's id.
    call_id: str  # The call that started it.
    item_id: str = ""  # The call's item.
    command: list[str]  # What runs.
    cwd: str  # Where.
    keeps: bool = False  # True if it goes on after its turn.


class KeptYesUsed(Event):
    """A question that nobody was asked: a yes for the session, given to the same question before, answers it."""

    type: ClassVar[str] = "kept_yes_used"
    approval_id: str  # The question to which that yes was given; empty: in a history of before 0.2.
    by: str = ""  # The client that gave it.
    call_id: str = ""  # The call that would have been asked about.
    item_id: str = ""  # The call's item id.
    outside: bool = False  # The yes was to run it outside the sandbox.


class McpToolCallApprovalRequest(QuestionEvent):
    """May a tool of an MCP server be called? Servers run outside of every sandbox."""

    type: ClassVar[str] = "mcp_tool_call_approval_request"
    call_id: str  # The call that waits.
    server: str  # The server, by its name in the config.
    tool: str  # Its tool.
    arguments: str = ""  # The arguments as JSON, the middle of a long text left out.
    reason: str | None = None  # Why it is asked.
    outside_sandbox: bool | None = True  # Always: servers run outside the sandbox.
    approval_id: str = ""  # Answer under this id.
    item_id: str = ""  # The call's item id.
    deadline_s: float | None = None  # Seconds until it is answered by default.
    default: Literal["denied", "abort"] = "denied"  # That answer.
    fingerprint: str = ""  # Of the tool as its server lists it, and of the program or address that the server is. A yes for the session ends when it changes. Empty, as in older histories: such a yes is not kept.
    changed: bool = False  # The tool or its server has changed since a yes for the session, which ends with this.


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
    signature: str = ""  # What the model knows its own reasoning by.
    wire: Literal["responses", "messages"] = "responses"  # The API that it came from.
    model: str = ""  # The model that wrote it; empty in older journals.


class ModelRequested(Event):
    """A request is about to be sent to the model. Said where a budget is set, so that it counts whatever happens."""

    type: ClassVar[str] = "model_requested"
    model: str = ""  # The model that is asked.
    provider: str = ""  # Its provider; empty means the default one.


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
    waiting: list[str] = field(default_factory=list)  # The first words of those that come first.


class QueueResumed(Event):
    type: ClassVar[str] = "queue_resumed"
    queued: int  # How many inputs wait.
    by: str = ""  # Which client let it go on, if one asked for that alone.


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
    """New settings count from the next model request on, and from the next call on; in a turn that runs, too."""

    type: ClassVar[str] = "settings_changed"
    settings: Settings  # The settings of the conversation from now on.
    by: str = ""  # The client that changed them.
    changed: list[SettingChange] = field(default_factory=list)  # What has changed, for people.


class StreamError(Event):
    """The model's answer broke and will be asked for again."""

    type: ClassVar[str] = "stream_error"
    message: str  # What broke, which try comes next and when.
    attempt: int = 0  # The number of the next try, from 1.
    delay_ms: int = 0  # How long until then.


class TaskComplete(Event):
    type: ClassVar[str] = "task_complete"
    uncounted: UncountedAnswer | None = None  # The turn's last answer, if its server has not told its tokens; no `token_count` tells of it.
    last_agent_message: str | None = None  # The last thing the model said.


class TaskStarted(Event):
    type: ClassVar[str] = "task_started"
    model_context_window: int | None = None  # Tokens that the model can read at once, where known.
    task: Task = "answer"  # answer: to what was said. compact: sums up the history, on request. follow: the agent began it by itself.
    input_id: str | None = None  # The accepted request, where that is no message.
    key: str | None = None  # Idempotency key of that request.
    settings: Settings | None = None  # Settings of this turn, if they differ from the conversation's.


class TokenCount(Event):
    type: ClassVar[str] = "token_count"
    input_tokens: int  # Tokens read by the model in this response.
    cached_input_tokens: int | None = None  # How many of them came from its cache.
    cache_written_tokens: int | None = None  # How many of them were written to its cache.
    output_tokens: int  # Tokens written.
    reasoning_output_tokens: int | None = None  # How many of them were reasoning.
    total_tokens: int  # Both together.
    context_tokens: int | None = None  # How full the context is after this response; null where it does not become part of it.
    context_window: int | None = None  # Tokens that the model can read at once, where known.
    model: str = ""  # The model that was asked; empty in histories of before 0.3.
    provider: str = ""  # Its provider; empty means the default one.
    cost_usd: float | None = None  # The price of this response in US dollars; null: not known.
    requests: int = 1  # Requests that this took, without those that `model_requested` told of.
    agent_sum_usd: float | None = None  # The sum that a third-party agent has reported so far, of which `cost_usd` is what was new.
    agent_sum_from_usd: float | None = None  # The sum with which its process began. One that was killed may fall back to it.
    counted: bool = True  # False: the server has not said how many tokens this took. Its numbers are all 0 then.


class ToolCall(Event):
    """The model asked for a tool. Exactly one `tool_output` with the same call id follows before the turn ends."""

    type: ClassVar[str] = "tool_call"
    call_id: str  # The model's id of the call.
    item_id: str  # The item that the call becomes.
    name: str  # The tool's name.
    arguments: str  # The arguments as the model wrote them.
    signature: str = ""  # What a Gemini model knows its own call by.


class ToolOutput(Event):
    type: ClassVar[str] = "tool_output"
    call_id: str  # The call that this answers.
    item_id: str  # The call's item.
    output: str  # The text that the model gets.
    failed: ToolFailure | None = None  # What failed; null if nothing did.
    pictures: list[ImageItem] = field(default_factory=list)  # Pictures that the model gets after it.


class ToolUseApprovalRequest(QuestionEvent):
    """May an agent use a tool of its own? What it may reach at all is settled by the sandbox around the agent."""

    type: ClassVar[str] = "tool_use_approval_request"
    call_id: str  # The agent's id of the call that waits.
    agent: str = ""  # The agent that asks; `greenroom`: Greenroom does, about programs that a client gives.
    title: str = ""  # What it would do, in the agent's words.
    kind: Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] = "other"  # What sort of tool it is.
    command: list[str] = field(default_factory=list)  # The command that would run, where it is one and is known.
    cwd: str | None = None  # Where that would run, if it is known.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what would become of the file.
    places: list[Place] = field(default_factory=list)  # The files that it is about.
    arguments: str = ""  # What it would be given, as JSON; the middle of a long text is left out.
    options: list[ApprovalOption] = field(default_factory=list)  # The answers that the agent offers.
    reason: str | None = None  # Why it is asked.
    outside_sandbox: bool | None = None  # Null: the sandbox is around the agent, not the call.
    obeyed_by: list[str] = field(default_factory=list)  # Agents, editors and shells of the person that would obey one of the files without asking.
    approval_id: str = ""  # Answer under this id.
    item_id: str = ""  # The call's item id.
    deadline_s: float | None = None  # Seconds until it is answered by default.
    default: Literal["denied", "abort"] = "denied"  # That answer.
    beyond: Beyond | None = None  # What of it neither the command nor the changes show. Null: nobody has looked.
    fingerprint: str = ""  # Of all that is asked: the command or the tool, its arguments, the files, the directory. We keep a yes for the session under it. Empty: what is asked can't be told from other things, so none is kept.


class ToolUseBegin(Event):
    """An agent uses a tool of its own. A command or a change of files is one, too: `kind` says which."""

    type: ClassVar[str] = "tool_use_begin"
    call_id: str  # The agent's id of the call.
    item_id: str = ""  # The call's item id.
    title: str = ""  # What it does, in the agent's words.
    kind: Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] = "other"  # What sort of tool it is.
    command: list[str] = field(default_factory=list)  # The command that runs, where it is one and is known.
    cwd: str | None = None  # Where that runs, if it is known.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what becomes of the file, as far as it is known.
    places: list[Place] = field(default_factory=list)  # The files that it is about.
    arguments: str = ""  # What it was given, as JSON; the middle of a long text is left out.
    reads_as: Literal["command", "patch", "other"] = "other"  # What it is to clients that know commands and patches alone.


class ToolUseDelta(Event):
    type: ClassVar[str] = "tool_use_delta"
    call_id: str  # The call that goes on.
    delta: str  # What it has written since.
    item_id: str = ""  # The call's item id.
    reads_as: Literal["command", "patch", "other"] = "other"  # The same as its beginning has.


class ToolUseEnd(Event):
    """The use of a tool is over. The members of its beginning are said again, as they are known now."""

    type: ClassVar[str] = "tool_use_end"
    call_id: str  # The call that is over.
    item_id: str = ""  # The call's item id.
    title: str = ""  # What it did, in the agent's words.
    kind: Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] = "other"  # What sort of tool it was.
    command: list[str] = field(default_factory=list)  # The command that ran, where it was one and is known.
    cwd: str | None = None  # Where that ran, if it is known.
    changes: dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]]  # Absolute path → what became of the file.
    places: list[Place] = field(default_factory=list)  # The files that it was about.
    status: Literal["completed", "failed", "cancelled"]  # completed, failed: the agent says so. cancelled: the turn ended first, or a person said no.
    output: str = ""  # What came of it, head and tail kept.
    exit_code: int | None = None  # The command's exit status, where it is known.
    duration: Duration = field(default_factory=lambda: Duration(secs=0, nanos=0))  # How long it took.
    cut: AbortReason | None = None  # How the turn ended, where that cut it short.
    reads_as: Literal["command", "patch", "other"] = "other"  # The same as its beginning has.


class TurnAborted(Event):
    type: ClassVar[str] = "turn_aborted"
    uncounted: UncountedAnswer | None = None  # The turn's last answer, if its server has not told its tokens; no `token_count` tells of it.
    reason: AbortReason  # interrupted, replaced by new input, failed in us, lost with the daemon, stopped by a budget.
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
    names: str | None = None  # The name that the conversation got, as it had none.


class ViewImageToolCall(Event):
    """The model looks at a picture in a file."""

    type: ClassVar[str] = "view_image_tool_call"
    call_id: str  # The call.
    path: str  # The file.
    item_id: str = ""  # The call's item id.


class WebSearchEnd(Event):
    """The model's provider has searched the web for it."""

    type: ClassVar[str] = "web_search_end"
    call_id: str  # The provider's id of the search.
    query: str = ""  # What was searched for, or the page that was opened; empty where unknown.
    item_id: str = ""  # The search's item id.
    wire: Literal["responses", "messages"] = "responses"  # The wire that it came on.
    model: str = ""  # The model that searched.
    kept: str = ""  # The provider's own items, a JSON list, which go back with later requests.
