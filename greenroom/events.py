"""The events of conversations, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypedDict

from greenroom.record import Event, QuestionEvent, fresh

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
    name: Annotated[str, "What is typed after a slash."]
    description: Annotated[str, "What it does."]
    hint: Annotated[str, "What may follow it."]


class OptionChoice(TypedDict):
    value: Annotated[str, "The value."]
    name: Annotated[str, "What it means, in the agent's words."]


class AgentOption(TypedDict):
    """Something about the agent that can be set."""

    id: Annotated[str, "The agent's id of it."]
    name: Annotated[str, "What it is, in the agent's words."]
    category: Annotated[str, "mode, model, thought_level, or what the agent calls it."]
    value: Annotated[str, "What it is now."]
    choices: Annotated[list[OptionChoice], "What it can be."]


class CommandHint(TypedDict):
    """The purpose of a command, or of one in a script: for display, and never a reason to let it run."""

    cmd: Annotated[str, "The command."]
    purpose: Annotated[Literal["reads", "lists", "searches", "formats", "tests", "lints", "nothing", "unknown"], "What it seems to do."]
    name: Annotated[str | None, "The name of the file that it reads."]
    path: Annotated[str | None, "The place that it lists or searches."]
    query: Annotated[str | None, "The text that it searches for."]
    tool: Annotated[str | None, "The formatter."]
    targets: Annotated[list[str] | None, "The files that it formats."]


class UpdatedFile(TypedDict):
    unified_diff: Annotated[str, "The change, one line of context, no file header."]
    move_path: Annotated[str | None, "New path of the file, if it moves."]


class CommandSubject(TypedDict):
    """A command that runs or would run."""

    kind: Annotated[Literal["command"], "Which subject it is."]
    command: Annotated[list[str], "Its words; empty where an agent does not say them."]
    cwd: Annotated[str | None, "Its directory, if that is known."]
    hints: Annotated[list[CommandHint], "Hints for display."]
    tool: Annotated[str, "The tool that looks at files without a program; empty: a program runs."]
    changes: Annotated[dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]], "Absolute path → the change of that file, where its agent shows such."]


class FilesSubject(TypedDict):
    """A change of files."""

    kind: Annotated[Literal["files"], "Which subject it is."]
    changes: Annotated[dict[str, Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile]], "Absolute path → the change of that file."]


class ToolSubject(TypedDict):
    """A tool of an MCP server. Servers run outside of every sandbox."""

    kind: Annotated[Literal["tool"], "Which subject it is."]
    server: Annotated[str, "The server, by its name in the config."]
    tool: Annotated[str, "Its tool."]
    arguments: Annotated[Any, "The arguments; in a question as JSON text, in which the middle of a long one is left out."]


class OtherSubject(TypedDict):
    """Work of a third-party agent that is neither a command nor a change of files: its own words say more."""

    kind: Annotated[Literal["other"], "Which subject it is."]


class FormField(TypedDict):
    """A field of a server's form."""

    name: Annotated[str, "The name under which it is told."]
    title: Annotated[str, "What it is called for people."]
    description: Annotated[str, "What it means."]
    type: Annotated[Literal["string", "number", "integer", "boolean", "array"], "What it is. array: some of the choices."]
    choices: Annotated[list[str], "What it can be; empty: anything of its type."]
    names: Annotated[list[str], "What each of the choices is called for people, if the server says."]
    required: Annotated[bool, "Whether the server needs it."]
    default: Annotated[str | bool | int | float | list[str] | None, "What a plain yes sends."]
    least: Annotated[float | None, "The smallest number, the shortest text, or the fewest choices."]
    most: Annotated[float | None, "The largest number, the longest text, or the most choices."]
    format: Annotated[str, "What the text has to look like: email, uri, date, date-time."]


class FormSubject(TypedDict):
    """A question of an MCP server in the middle of a call. Approved: accepted, with what it was told."""

    kind: Annotated[Literal["form"], "Which subject it is."]
    server: Annotated[str, "The server that asks, by its name in the config."]
    message: Annotated[str, "Its question."]
    fields: Annotated[list[str], "What it wants to be told, a line each, with what is sent."]
    form: Annotated[list[FormField], "The same for programs."]
    url: Annotated[str | None, "The page that it wants the person to visit; we never open it."]


class ApprovalOption(TypedDict):
    """An answer that the agent offers."""

    id: Annotated[str, "The agent's id of it."]
    name: Annotated[str, "What it means, in the agent's words."]
    kind: Annotated[Literal["allow_once", "allow_always", "reject_once", "reject_always"], "always: the agent does not ask again for what it takes to be the same."]
    rule: Annotated[str, "Whose rule an `always` makes, for what, where and until when. Such an option is sent to the agent only where an answer names it. Empty: it is about this one call."]


class Place(TypedDict):
    """A file that a tool looks at or changes."""

    path: Annotated[str, "The file."]
    line: Annotated[int | None, "A line in it, from 1."]


class AgentCall(TypedDict):
    """A call as the third-party agent that makes it describes it."""

    title: Annotated[str, "The call in the agent's words."]
    sort: Annotated[Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"], "The sort of tool."]
    places: Annotated[list[Place], "The files that it is about."]
    arguments: Annotated[str, "Its arguments as JSON; the middle of a long text is left out."]


class FurtherChange(TypedDict):
    path: Annotated[str, "The file."]
    change: Annotated[Literal["delete"] | dict[str, dict[str, str]] | dict[str, UpdatedFile], "What would become of it."]


class Beyond(TypedDict):
    """A part of a question that neither its command nor its changes show."""

    given: Annotated[str, "Arguments, as JSON; the middle of a long text is left out."]
    says: Annotated[str, "Words that the agent shows with the call."]
    changes: Annotated[list[FurtherChange], "Changes for which `changes` has no room: too many files, or another of the same file."]


class PlanStep(TypedDict):
    step: Annotated[str, "The step."]
    status: Annotated[Literal["pending", "in_progress", "completed"], "How far it is."]


class TextItem(TypedDict):
    type: Annotated[Literal["text"], "Words."]
    text: Annotated[str, "The words."]


class ImageItem(TypedDict):
    type: Annotated[Literal["image"], "A picture by address."]
    image_url: Annotated[str, "https: or data: address of the picture."]


class LocalImageItem(TypedDict):
    type: Annotated[Literal["local_image"], "A picture in a file."]
    path: Annotated[str, "The file, read when the input is consumed."]


class DangerFullAccess(TypedDict):
    mode: Annotated[Literal["danger-full-access"], "No sandbox."]


class ReadOnly(TypedDict):
    mode: Annotated[Literal["read-only"], "Read anything, write nothing, no network."]


class WorkspaceWrite(TypedDict):
    mode: Annotated[Literal["workspace-write"], "Write below the working directory, the temporary directories and the roots."]
    writable_roots: Annotated[list[str], "Further directories that may be written."]
    network_access: Annotated[bool, "Whether commands may use the network."]
    exclude_tmpdir_env_var: Annotated[bool, "Keep $TMPDIR read-only."]
    exclude_slash_tmp: Annotated[bool, "Keep /tmp read-only."]
    unix_sockets: Annotated[list[str], "Unix sockets outside that commands may connect to."]


class Pin(TypedDict):
    """A directory that a policy opens, as it was found when it was first named. Its name may come to mean another."""

    name: Annotated[str, "As the policy names it."]
    path: Annotated[str | None, "Where it really is; null: there was no such directory."]
    device: Annotated[int, "Device number; it is only good for one boot."]
    inode: Annotated[int, "Inode number."]
    boot: Annotated[str, "The boot in which it was looked at."]


class Settings(TypedDict):
    """The settings that a turn runs with. A conversation has its own; a turn may carry others for itself alone."""

    model: Annotated[str, "The model's name, as the provider knows it."]
    provider: Annotated[str, "Key of the model provider in the config; empty means the default one."]
    cwd: Annotated[str, "Absolute working directory of commands and patches."]
    approval_policy: Annotated[ApprovalPolicy, "When to ask a person."]
    sandbox: Annotated[DangerFullAccess | ReadOnly | WorkspaceWrite, "What commands may read and write."]
    effort: Annotated[ReasoningEffort, "How hard a reasoning model thinks."]
    summary: Annotated[ReasoningSummary, "How reasoning is summarised."]
    base_instructions: Annotated[str | None, "Replaces the built-in instructions."]
    developer_instructions: Annotated[str | None, "Told to the model before everything that is said, beside the built-in instructions."]
    include_plan_tool: Annotated[bool, "Offer update_plan to the model."]
    include_apply_patch_tool: Annotated[bool, "Offer apply_patch as a tool of its own."]
    roots: Annotated[list[Pin] | None, "What the writable directories were when they were first named; null: not looked at yet."]
    overrides: Annotated[dict[str, Any], "Overrides of the config that were given at creation; no secrets."]
    agent: Annotated[str, "The agent that carries out turns; empty means Greenroom's own."]
    agent_model: Annotated[str, "The model that was named for an agent that is not Greenroom's own; empty: its own choice."]
    agent_effort: Annotated[str, "The effort that was named for an agent that is not Greenroom's own, in its words; empty: none."]


class SettingChange(TypedDict):
    """A setting that has another value now, in words for people."""

    name: Annotated[str, "The setting, as `greenroom set` calls it."]
    before: Annotated[str, "What it was; empty: nothing was set."]
    after: Annotated[str, "What it is now."]


class UncountedAnswer(TypedDict):
    """The last answer of a turn whose server has not said how many tokens it took."""

    model: Annotated[str, "The model that was asked."]
    provider: Annotated[str, "Its provider; empty means the default one."]
    cost_usd: Annotated[float | None, "The price of the answer in US dollars; null: not known."]
    requests: Annotated[int, "Requests that it took, without those that `model_requested` told of."]


class ToolFailure(TypedDict):
    """A failed call, for people: the model reads why in the output."""

    kind: Annotated[Literal["arguments", "unknown_tool", "patch", "time_out", "refused", "tool"], "arguments: they could not be read. patch: it does not apply. time_out: a limit struck. refused: a person or a rule said no. tool: the tool itself says so."]
    message: Annotated[str, "What failed, in one line."]


class SearchSubject(TypedDict):
    """A search of the web, which the model's provider makes."""

    kind: Annotated[Literal["search"], "Which subject it is."]
    query: Annotated[str, "The words, or the page that was opened; empty where unknown."]
    wire: Annotated[Literal["responses", "messages"], "The wire that it came on."]
    model: Annotated[str, "The model that searched."]
    kept: Annotated[str, "The provider's own items, a JSON list, which go back with later requests."]


class PictureSubject(TypedDict):
    """A picture in a file, which the model looks at."""

    kind: Annotated[Literal["picture"], "Which subject it is."]
    path: Annotated[str, "The file."]


class Duration(TypedDict):
    secs: Annotated[int, "Whole seconds."]
    nanos: Annotated[int, "The rest, in nanoseconds."]


class AgentCommands(Event):
    """The commands that the agent understands in a message that begins with a slash."""

    type: ClassVar[str] = "agent_commands"
    agent: Annotated[str, "The agent."]
    commands: Annotated[list[AgentCommand], "All of them."]


class AgentMessage(Event):
    type: ClassVar[str] = "agent_message"
    message: Annotated[str, "What the model said."]
    item_id: Annotated[str, "The message's item id."] = ""
    partial: Annotated[bool, "True where the end of the turn cut it."] = False
    cut: Annotated[AbortReason | None, "How that turn ended; null in histories of before 0.2."] = None


class AgentMessageDelta(Event):
    type: ClassVar[str] = "agent_message_delta"
    delta: Annotated[str, "The next words."]
    item_id: Annotated[str, "The message they belong to."] = ""


class AgentOptions(Event):
    """The settings of the agent, and their values now."""

    type: ClassVar[str] = "agent_options"
    agent: Annotated[str, "The agent."]
    options: Annotated[list[AgentOption], "All of them."]


class AgentReasoning(Event):
    type: ClassVar[str] = "agent_reasoning"
    text: Annotated[str, "One part of the summary."]
    item_id: Annotated[str, "The reasoning's item id."] = ""
    partial: Annotated[bool, "True where the end of the turn cut it."] = False
    cut: Annotated[AbortReason | None, "How that turn ended; null in histories of before 0.2."] = None


class AgentReasoningDelta(Event):
    type: ClassVar[str] = "agent_reasoning_delta"
    delta: Annotated[str, "The next words."]
    item_id: Annotated[str, "The reasoning they belong to."] = ""


class AgentReasoningRawContent(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content"
    text: Annotated[str, "Reasoning as the model wrote it."]
    item_id: Annotated[str, "The reasoning's item id."] = ""
    partial: Annotated[bool, "True where the end of the turn cut it."] = False
    cut: Annotated[AbortReason | None, "How that turn ended; null in histories of before 0.2."] = None


class AgentReasoningRawContentDelta(Event):
    type: ClassVar[str] = "agent_reasoning_raw_content_delta"
    delta: Annotated[str, "The next words."]
    item_id: Annotated[str, "The reasoning they belong to."] = ""


class AgentReasoningSectionBreak(Event):
    type: ClassVar[str] = "agent_reasoning_section_break"
    item_id: Annotated[str, "The reasoning that goes on in a new section."] = ""


class AgentSession(Event):
    """An agent's own session begins or goes on, in a process that was started for it."""

    type: ClassVar[str] = "agent_session"
    agent: Annotated[str, "The agent, by its name in the config."]
    session: Annotated[str, "Its own id of the session."]
    how: Annotated[Literal["new", "resumed", "loaded", "seeded"], "new: nothing was said before. resumed, loaded: it remembers. seeded: it began anew, and was told what had been said."]
    program: Annotated[str, "What the program calls itself, with its version."] = ""
    can: Annotated[list[str], "What it said that it can do."] = fresh(default_factory=list)
    note: Annotated[str, "What a person should know about how it began; empty: nothing."] = ""


class AgentTitle(Event):
    """The agent's name for what the conversation is about."""

    type: ClassVar[str] = "agent_title"
    title: Annotated[str, "The title; empty takes it back."]


class ApprovalRequested(QuestionEvent):
    """A question for people: may the work of the subject begin, or what is the answer to a server's form?"""

    type: ClassVar[str] = "approval_requested"
    approval_id: Annotated[str, "Answer under this id."] = ""
    call_id: Annotated[str, "The call that waits."]
    item_id: Annotated[str, "The call's item id; of a form the question's own."] = ""
    subject: Annotated[CommandSubject | FilesSubject | ToolSubject | OtherSubject | FormSubject, "What would be done."]
    reason: Annotated[str | None, "Why it is asked: the model's justification, or ours."] = None
    outside_sandbox: Annotated[bool | None, "Whether it would run, or write, outside the sandbox; null where that says nothing."] = None
    deadline_s: Annotated[float | None, "Seconds until it is answered by default."] = None
    default: Annotated[Literal["denied", "abort"], "That answer."] = "denied"
    options: Annotated[list[ApprovalOption], "The answers that the agent offers, if it does."] = fresh(default_factory=list)
    retry: Annotated[bool, "It ran in the sandbox and failed; may it run again without?"] = False
    failed: Annotated[str, "Of a retry: how it failed in the sandbox. Empty: nobody has said."] = ""
    history_of: Annotated[str | None, "The repository whose history it may change, inside the sandbox: commits, branches and index, never hooks or configuration. An approval for the session is for all such commands there. Null: none."] = None
    background: Annotated[Literal["turn", "conversation"] | None, "It would run in the background, until its turn or its conversation is over, and may be written to without another question. Null: it runs while the model waits."] = None
    inside_or_outside: Annotated[bool, "A yes runs it in the sandbox; a yes with `outside` runs it without. False: `outside_sandbox` says what a yes means."] = False
    grant_root: Annotated[str | None, "A directory that would become writable."] = None
    obeyed_by: Annotated[list[str], "Agents, editors and shells of the person that would obey one of the files without asking."] = fresh(default_factory=list)
    fingerprint: Annotated[str, "Of all that is asked: for a server's tool as the server lists it, and its program or address. A yes for the session is kept under it, and ends when it changes. Empty: no such yes is kept."] = ""
    changed: Annotated[bool, "The tool or its server has changed since a yes for the session, which ends with this."] = False
    agent: Annotated[str, "The third-party agent that asks; `greenroom`: we do, about programs that a client gives."] = ""
    agent_call: Annotated[AgentCall | None, "The call in that agent's words."] = None
    beyond: Annotated[Beyond | None, "What of that call neither the command nor the changes show. Null: nobody has looked."] = None


class ApprovalResolved(Event):
    type: ClassVar[str] = "approval_resolved"
    approval_id: Annotated[str, "The question."]
    decision: Annotated[Decision, "The answer; withdrawn when its turn ended first."]
    by: Annotated[str, "Who answered."] = ""
    reason: Annotated[str, "Why, if they said."] = ""
    option: Annotated[str, "The option of the agent that was chosen, by its id; empty: none."] = ""
    content: Annotated[dict[str, str | bool | int | float | list[str]], "What the server is told, with the defaults of what was not said."] = fresh(default_factory=dict)
    outside: Annotated[bool, "A yes to run it outside the sandbox, where a yes alone means inside."] = False


class BackgroundEvent(Event):
    type: ClassVar[str] = "background_event"
    message: Annotated[str, "A notice that does not belong to the answer."]


class BudgetReached(Event):
    """The turn is about to end, because a budget is used up or can't be kept."""

    type: ClassVar[str] = "budget_reached"
    scope: Annotated[Literal["turn", "conversation", "day", "home"], "turn, conversation, day, or home: all conversations for ever."]
    unit: Annotated[Literal["requests", "tool_calls", "minutes", "tokens", "usd", "repetitions"], "The unit of the budget; repetitions: the same calls, again and again."]
    limit: Annotated[float | None, "The budget; null where there is none that could be named."] = None
    used: Annotated[float | None, "What was used of it; null where that is not known."] = None
    message: Annotated[str, "What happened, why, and how to go on."]


class CallsLeft(Event):
    """The turn ends with calls of its last answer that were not begun. They don't count as tool calls."""

    type: ClassVar[str] = "calls_left"
    count: Annotated[int, "How many."]


class Compacted(Event):
    """Summed-up history: from here on a model reads the summary in place of these events. People still read them."""

    type: ClassVar[str] = "compacted"
    why: Annotated[Literal["limit", "asked", "refused"], "limit: the context was nearly full. asked: by a person. refused: the model's server said so."]
    summary: Annotated[str, "The text that the model reads in their place."]
    first_seq: Annotated[int, "The first event that is summed up."]
    last_seq: Annotated[int, "The last of them. Later ones are read as they are."]
    plan: Annotated[list[PlanStep], "The plan as it was then."] = fresh(default_factory=list)
    files: Annotated[list[str], "Files that were read or changed last, the latest last."] = fresh(default_factory=list)
    model: Annotated[str, "The model that wrote the summary."] = ""
    response_id: Annotated[str, "The model's own id of the response that it was written in."] = ""
    requests: Annotated[int, "How many requests it took: a long history is summed up in pieces."] = 1
    left_out: Annotated[int, "Events among them that were too long for a request, and are not in it."] = 0
    words_cut_seq: Annotated[int | None, "People's messages up to this seq are shortened, as all together would not fit; null: none."] = None
    words_cut_to: Annotated[int, "How many characters are left of each of those."] = 0
    tokens_before: Annotated[int | None, "How full the context was, as far as known."] = None
    tokens_after: Annotated[int | None, "How full it is now, as an estimate."] = None
    context_window: Annotated[int | None, "Tokens that the model can read at once, where known."] = None


class ConversationArchived(Event):
    type: ClassVar[str] = "conversation_archived"
    archived: Annotated[bool, "False unarchives it."] = True


class ConversationFailed(Event):
    """The conversation was given up until somebody restarts it."""

    type: ClassVar[str] = "conversation_failed"
    message: Annotated[str, "What went wrong, in one line."]
    traceback: Annotated[str, "Where in our code."] = ""


class ConversationRenamed(Event):
    type: ClassVar[str] = "conversation_renamed"
    name: Annotated[str | None, "The new name; null removes it."]
    by: Annotated[str, "The client that renamed it."] = ""


class ConversationRestarted(Event):
    type: ClassVar[str] = "conversation_restarted"
    by: Annotated[str, "The client that restarted it."] = ""
    without_pictures: Annotated[bool, "The model no longer gets the pictures of earlier messages."] = False


class ErrorEvent(Event):
    type: ClassVar[str] = "error"
    message: Annotated[str, "What went wrong."]


class InputEdited(Event):
    """Waiting input has other content from here on; its id, its key and its place stay."""

    type: ClassVar[str] = "input_edited"
    input_id: Annotated[str, "The input that waits."]
    items: Annotated[list[TextItem | ImageItem | LocalImageItem], "Its content from now on."]
    by: Annotated[str, "Which client changed it."] = ""


class InputMoved(Event):
    """Waiting input has another place among those that wait as it does."""

    type: ClassVar[str] = "input_moved"
    input_id: Annotated[str, "The input that waits."]
    before: Annotated[str | None, "The input that comes after it now; null: it is the last."] = None
    by: Annotated[str, "Which client moved it."] = ""


class InputQueued(Event):
    """Input was accepted while a turn was running; a `user_message` with its id follows when it is taken."""

    type: ClassVar[str] = "input_queued"
    input_id: Annotated[str, "The input's id."]
    policy: Annotated[BusyPolicy, "steer: joins the running turn. enqueue, interrupt: gets its own."]
    items: Annotated[list[TextItem | ImageItem | LocalImageItem], "The content of the message."]
    settings: Annotated[Settings | None, "Settings of the turn it will start, if its own."] = None
    own: Annotated[list[str], "Which of those are its own; empty: all of them."] = fresh(default_factory=list)
    key: Annotated[str | None, "Idempotency key of the request."] = None
    by: Annotated[str, "Which client sent it."] = ""
    task: Annotated[Task, "What its turn is to do; compact has no message."] = "answer"


class InputWithdrawn(Event):
    type: ClassVar[str] = "input_withdrawn"
    input_id: Annotated[str, "The input that no turn will run."]
    reason: Annotated[str, "Why."] = ""
    by: Annotated[str, "Which client withdrew it, if one did."] = ""


class JobEnded(Event):
    type: ClassVar[str] = "job_ended"
    job: Annotated[str, "The job's id."]
    how: Annotated[Literal["exited", "ended", "not_started", "turn_over", "lost"], "exited: by itself. ended: somebody ended it. turn_over: with its turn. lost: with the daemon."]
    exit_code: Annotated[int, "Its exit status; -1 where it has none of its own."] = -1
    output: Annotated[str, "The end of what it wrote."] = ""
    by: Annotated[str, "The client that ended it, or the model."] = ""


class JobStarted(Event):
    """A command went into the background. A `job_ended` with its id follows, maybe after the turn."""

    type: ClassVar[str] = "job_started"
    job: Annotated[str, "The job's id."]
    call_id: Annotated[str, "The call that started it."]
    item_id: Annotated[str, "The call's item."] = ""
    command: Annotated[list[str], "What runs."]
    cwd: Annotated[str, "Where."]
    keeps: Annotated[bool, "True if it goes on after its turn."] = False


class KeptYesUsed(Event):
    """A question that nobody was asked: a yes for the session, given to the same question before, answers it."""

    type: ClassVar[str] = "kept_yes_used"
    approval_id: Annotated[str, "The question to which that yes was given; empty: in a history of before 0.2."]
    by: Annotated[str, "The client that gave it."] = ""
    call_id: Annotated[str, "The call that would have been asked about."] = ""
    item_id: Annotated[str, "The call's item id."] = ""
    outside: Annotated[bool, "The yes was to run it outside the sandbox."] = False


class ModelReasoning(Event):
    """A reasoning item as the model wants it back with the next request."""

    type: ClassVar[str] = "model_reasoning"
    item_id: Annotated[str, "The reasoning's item id."]
    id: Annotated[str, "The model's own id of it."]
    summary: Annotated[list[str], "Its summary parts."] = fresh(default_factory=list)
    encrypted_content: Annotated[str | None, "Data that only the model can read."] = None
    signature: Annotated[str, "What the model knows its own reasoning by."] = ""
    wire: Annotated[Literal["responses", "messages"], "The API that it came from."] = "responses"
    model: Annotated[str, "The model that wrote it; empty in older journals."] = ""


class ModelRequested(Event):
    """A request is about to be sent to the model. Said where a budget is set, so that it counts whatever happens."""

    type: ClassVar[str] = "model_requested"
    model: Annotated[str, "The model that is asked."] = ""
    provider: Annotated[str, "Its provider; empty means the default one."] = ""


class PlanUpdate(Event):
    type: ClassVar[str] = "plan_update"
    explanation: Annotated[str | None, "Why the plan is what it is."] = None
    plan: Annotated[list[PlanStep], "The steps in order."]
    item_id: Annotated[str, "The plan's item id."] = ""


class QueuePaused(Event):
    type: ClassVar[str] = "queue_paused"
    queued: Annotated[int, "How many inputs wait."]
    waiting: Annotated[list[str], "The first words of those that come first."] = fresh(default_factory=list)


class QueueResumed(Event):
    type: ClassVar[str] = "queue_resumed"
    queued: Annotated[int, "How many inputs wait."]
    by: Annotated[str, "Which client let it go on, if one asked for that alone."] = ""


class SessionConfigured(Event):
    """The first event of every conversation."""

    type: ClassVar[str] = "session_configured"
    session_id: Annotated[str, "The conversation's id."]
    model: Annotated[str, "The effective model."]
    history_log_id: Annotated[int, "Kept for clients that expect it; always 0."] = 0
    history_entry_count: Annotated[int, "Kept for clients that expect it; always 0."] = 0
    settings: Annotated[Settings | None, "How the conversation is run."] = None
    name: Annotated[str | None, "A name given at creation."] = None
    forked_from: Annotated[str | None, "`ID@SEQ` of the conversation this one was forked from."] = None


class SettingsChanged(Event):
    """New settings count from the next model request on, and from the next call on; in a turn that runs, too."""

    type: ClassVar[str] = "settings_changed"
    settings: Annotated[Settings, "The settings of the conversation from now on."]
    by: Annotated[str, "The client that changed them."] = ""
    changed: Annotated[list[SettingChange], "What has changed, for people."] = fresh(default_factory=list)


class StreamError(Event):
    """The model's answer broke and will be asked for again."""

    type: ClassVar[str] = "stream_error"
    message: Annotated[str, "What broke, which try comes next and when."]
    attempt: Annotated[int, "The number of the next try, from 1."] = 0
    delay_ms: Annotated[int, "How long until then."] = 0


class TaskComplete(Event):
    type: ClassVar[str] = "task_complete"
    uncounted: Annotated[UncountedAnswer | None, "The turn's last answer, if its server has not told its tokens; no `token_count` tells of it."] = None
    last_agent_message: Annotated[str | None, "The last thing the model said."] = None


class TaskStarted(Event):
    type: ClassVar[str] = "task_started"
    model_context_window: Annotated[int | None, "Tokens that the model can read at once, where known."] = None
    task: Annotated[Task, "answer: to what was said. compact: sums up the history, on request. follow: the agent began it by itself."] = "answer"
    input_id: Annotated[str | None, "The accepted request, where that is no message."] = None
    key: Annotated[str | None, "Idempotency key of that request."] = None
    settings: Annotated[Settings | None, "Settings of this turn, if they differ from the conversation's."] = None


class TokenCount(Event):
    type: ClassVar[str] = "token_count"
    input_tokens: Annotated[int, "Tokens read by the model in this response."]
    cached_input_tokens: Annotated[int | None, "How many of them came from its cache."] = None
    cache_written_tokens: Annotated[int | None, "How many of them were written to its cache."] = None
    output_tokens: Annotated[int, "Tokens written."]
    reasoning_output_tokens: Annotated[int | None, "How many of them were reasoning."] = None
    total_tokens: Annotated[int, "Both together."]
    context_tokens: Annotated[int | None, "How full the context is after this response; null where it does not become part of it."] = None
    context_window: Annotated[int | None, "Tokens that the model can read at once, where known."] = None
    model: Annotated[str, "The model that was asked; empty in histories of before 0.3."] = ""
    provider: Annotated[str, "Its provider; empty means the default one."] = ""
    cost_usd: Annotated[float | None, "The price of this response in US dollars; null: not known."] = None
    requests: Annotated[int, "Requests that this took, without those that `model_requested` told of."] = 1
    agent_sum_usd: Annotated[float | None, "The sum that a third-party agent has reported so far, of which `cost_usd` is what was new."] = None
    agent_sum_from_usd: Annotated[float | None, "The sum with which its process began. One that was killed may fall back to it."] = None
    counted: Annotated[bool, "False: the server has not said how many tokens this took. Its numbers are all 0 then."] = True


class ToolCall(Event):
    """The model asked for a tool. Exactly one `tool_output` with the same call id follows before the turn ends."""

    type: ClassVar[str] = "tool_call"
    call_id: Annotated[str, "The model's id of the call."]
    item_id: Annotated[str, "The item that the call becomes."]
    name: Annotated[str, "The tool's name."]
    arguments: Annotated[str, "The arguments as the model wrote them."]
    signature: Annotated[str, "What a Gemini model knows its own call by."] = ""


class ToolOutput(Event):
    type: ClassVar[str] = "tool_output"
    call_id: Annotated[str, "The call that this answers."]
    item_id: Annotated[str, "The call's item."]
    output: Annotated[str, "The text that the model gets."]
    failed: Annotated[ToolFailure | None, "What failed; null if nothing did."] = None
    pictures: Annotated[list[ImageItem], "Pictures that the model gets after it."] = fresh(default_factory=list)


class TurnAborted(Event):
    type: ClassVar[str] = "turn_aborted"
    uncounted: Annotated[UncountedAnswer | None, "The turn's last answer, if its server has not told its tokens; no `token_count` tells of it."] = None
    reason: Annotated[AbortReason, "interrupted, replaced by new input, failed in us, lost with the daemon, stopped by a budget."]
    message: Annotated[str, "More about it, for people."] = ""
    by: Annotated[list[str], "The clients that asked for it."] = fresh(default_factory=list)


class TurnDiff(Event):
    type: ClassVar[str] = "turn_diff"
    unified_diff: Annotated[str, "All that patches changed in this turn, git style."]


class UserMessage(Event):
    """Input that a turn has taken: from here on it is part of what the model reads."""

    type: ClassVar[str] = "user_message"
    message: Annotated[str, "The words of the message."]
    kind: Annotated[MessageKind, "plain: somebody said it. Others: we did."] = "plain"
    item_id: Annotated[str, "The message's item id."] = ""
    items: Annotated[list[TextItem | ImageItem | LocalImageItem], "The message whole, with its pictures."] = fresh(default_factory=list)
    input_id: Annotated[str | None, "The accepted input this is."] = None
    key: Annotated[str | None, "Idempotency key of the request."] = None
    by: Annotated[str, "Which client sent it."] = ""
    names: Annotated[str | None, "The name that the conversation got, as it had none."] = None


class WorkBegan(Event):
    """An agent's work outside of its answer has begun. One `work_ended` with the same item id follows."""

    type: ClassVar[str] = "work_began"
    call_id: Annotated[str, "The agent's id of the call."]
    item_id: Annotated[str, "The item that the call becomes."] = ""
    subject: Annotated[CommandSubject | FilesSubject | ToolSubject | SearchSubject | PictureSubject | OtherSubject, "What is done."]
    agent_call: Annotated[AgentCall | None, "The call in the words of a third-party agent; null: our own agent works."] = None
    auto_approved: Annotated[bool, "For a change of files: true when nobody was asked."] = False


class WorkEnded(Event):
    """Work is over. A search and a picture have this event alone, since they take no time of ours."""

    type: ClassVar[str] = "work_ended"
    call_id: Annotated[str, "The call that is over."]
    item_id: Annotated[str, "Its item id."] = ""
    kind: Annotated[Literal["command", "files", "tool", "search", "picture", "other"], "The kind of its subject, as it began."]
    subject: Annotated[CommandSubject | FilesSubject | ToolSubject | SearchSubject | PictureSubject | OtherSubject | None, "The subject as it is known now; null: as it began."] = None
    agent_call: Annotated[AgentCall | None, "The call in the words of a third-party agent, as far as they are known now."] = None
    status: Annotated[Literal["completed", "failed", "cancelled"], "completed: all went well. cancelled: the turn ended first, or a person said no."]
    output: Annotated[str, "Its output, head and tail kept."] = ""
    errors: Annotated[str, "What it wrote to stderr, or why it failed, head and tail kept."] = ""
    exit_code: Annotated[int | None, "A command's exit status; -1 where it has none of its own, null where that is not known."] = None
    result: Annotated[dict[str, Any] | None, "The result of an MCP server's tool."] = None
    duration: Annotated[Duration, "How long it took."] = fresh(default_factory=lambda: Duration(secs=0, nanos=0))
    cut: Annotated[AbortReason | None, "How the turn ended, where that cut the work short."] = None


class WorkOutput(Event):
    type: ClassVar[str] = "work_output"
    call_id: Annotated[str, "The call that goes on."]
    item_id: Annotated[str, "Its item id."] = ""
    kind: Annotated[Literal["command", "files", "tool", "search", "picture", "other"], "The kind of its subject, as it began."] = "command"
    stream: Annotated[Literal["stdout", "stderr"], "Which of its streams."] = "stdout"
    chunk: Annotated[bytes, "The bytes that it wrote, in base64."]
