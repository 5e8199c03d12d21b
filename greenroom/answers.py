"""The daemon's answers, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from typing import Any, Literal, TypedDict

from greenroom.events import (
    ApplyPatchApprovalRequest,
    BusyPolicy,
    ElicitationApprovalRequest,
    ExecApprovalRequest,
    ImageItem,
    LocalImageItem,
    McpToolCallApprovalRequest,
    SettingChange,
    Settings,
    TextItem,
    ToolUseApprovalRequest,
)
from greenroom.record import FromJson

Condition = Literal["starting", "idle", "running", "waiting", "interrupting", "parked", "failed", "denied", "lost", "over-budget", "archived"]

Ending = Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget"]


class InheritedThing(TypedDict):
    """A thing that an agent brings by itself."""

    what: str  # What it is, by names alone.
    where: str  # The file or directory that it comes from.


class WaitingInput(TypedDict):
    """Accepted input that no turn has taken yet."""

    input: str  # Its id.
    policy: BusyPolicy  # steer: joins the running turn. enqueue, interrupt: gets its own.
    preview: str  # Its first words.
    by: str  # Which client sent it.
    since: float  # When, in seconds since 1970; 0 where that was not noted.
    items: list[TextItem | ImageItem | LocalImageItem] | None  # The message whole, where it was asked for; else null.


class ReaderStatus(TypedDict):
    connection: str  # Whose.
    subscription: str  # Which.
    seq: int  # The last event it was given.
    behind: int  # How many it was not given yet.
    read_only: bool  # It only watches.


class AgentOptionValue(TypedDict):
    """A setting of the agent, and its value. The other possible values are in the event."""

    id: str  # The agent's id of it.
    name: str  # What it is, in the agent's words.
    category: str  # mode, model, thought_level, or what the agent calls it.
    value: str  # What it is now.


class AgentNow(TypedDict):
    """A third-party agent in a conversation, as clients see it."""

    agent: str  # Its name in the config.
    session: str  # Its own id of the session.
    how: str  # How that began: new, resumed, loaded, seeded; empty: not yet.
    program: str  # What the program calls itself, with its version.
    can: list[str]  # What it said that it can do.
    note: str  # What a person should know about how it began; empty: nothing.
    model: str  # Its model; empty: it has not said.
    mode: str  # Its mode; empty: it has not said.
    options: list[AgentOptionValue]  # All that can be set in it, with the values now.


class Agent(FromJson):
    """An agent as it is on this machine, for a client's variables."""

    name: str  # Its name, for `agent`.
    title: str  # What people call it.
    default: bool  # Conversations have it that name none.
    state: Literal["ready", "installed", "no login", "missing"]  # installed: whether it is logged in is unknown.
    start: list[str]  # The program and its arguments; empty if it is missing.
    login: Literal["yes", "no", "unknown"]  # Whether a key or a file of credentials was found.
    sign: str  # What was found: a variable's name or a file's.
    wrong: str  # Why it can't be started; empty: it can.
    next: str  # What a person does next to use it; empty: nothing.
    install: str  # The command that installs it; empty: unknown.
    log_in: str  # The command that logs in; empty: unknown.
    confine: Literal["workspace", "none"]  # workspace: in the conversation's sandbox. none: outside of every sandbox.
    network: bool  # It may use the network.
    own: list[str]  # Files and directories of its own, which it may write.
    itself: str  # The program that people know it by, if only its adapter is missing; or empty.
    brings: list[InheritedThing]  # What it brings by itself: settings, servers, hooks, instructions.


class AgentTrial(FromJson):
    """What came of starting an agent."""

    agent: str  # Its name.
    state: Literal["ready", "no login", "failed"]  # What came of it.
    program: str  # What the program calls itself, with its version.
    took_s: float  # Seconds until it was ready.
    can: list[str]  # What it said that it can do.
    modes: list[str]  # Its modes, by its ids of them.
    models: list[str]  # Its models, by its names of them; empty: it does not say.
    options: list[str]  # What can be set in it, by its ids.
    logins: list[str]  # Ways to log in.
    needs_login: bool  # It says that nobody is logged in.
    wrong: str  # Why it can't be used; empty: it can.


class CreatedConversation(FromJson):
    conversation: str  # Its id.
    settings: Settings  # How it is run.
    notice: str | None  # One line for a person: which model was chosen, and how to choose another.
    warnings: list[str]  # Keys of the config that are ignored.


class ConversationRow(FromJson):
    conversation: str  # The conversation's id.
    name: str | None  # Its name.
    cwd: str  # Its working directory.
    model: str  # Its model, as far as it is known; empty: one that another agent has chosen itself.
    state: Condition  # Its state.
    preview: str  # What it is about: its agent's title for it, or how it began.
    created: float  # When, in seconds since 1970.
    updated: float  # When its last event happened.
    seq: int  # The number of its last event.
    archived: bool  # Left out of lists unless asked for.
    tokens: int  # Tokens used so far, as far as servers tell them.
    context_tokens: int | None  # How full the model's context is; null where nobody knows.
    context_window: int | None  # Tokens that the model can read at once; null where unknown.
    usd: float  # Their price in US dollars, as far as it is known.
    unpriced: int  # Responses whose price is not known.
    queued: int | None  # How many inputs wait; null where that was not noted.
    agent: str  # The agent of its turns; empty: Greenroom's own.
    uncounted: int  # Responses whose tokens the server has not told.
    ended: Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"] | None  # How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question.
    self_named: bool  # Its name was made of its first words.


class SearchHit(FromJson):
    conversation: str  # Where it was said: the conversation's id.
    name: str | None  # The conversation's name.
    cwd: str  # The conversation's working directory.
    seq: int  # The event in which it was said.
    ts: float  # When, in seconds since 1970.
    kind: Literal["user", "agent", "reasoning", "command", "output", "name"]  # A person, the model, its reasoning, a command or what that wrote, or a name given.
    text: str  # The words of the query with some of the words around them.
    marks: list[list[Any]]  # Where in `text` they are: begin and end, in characters.


class Job(FromJson):
    job: str  # The job's id.
    conversation: str  # The conversation that started it.
    command: list[str]  # What runs.
    cwd: str  # Where.
    began: float  # When it was started, in seconds since 1970.
    keeps: bool  # Whether it goes on after its turn.
    running: bool  # Whether it runs.
    state: str  # How it is, for people.
    exit_code: int | None  # Its exit status; null while it runs.
    written: int  # Bytes that it has written.


class JobOutput(FromJson):
    job: str  # The job's id.
    conversation: str  # The conversation that started it.
    command: list[str]  # What runs.
    cwd: str  # Where.
    began: float  # When it was started, in seconds since 1970.
    keeps: bool  # Whether it goes on after its turn.
    running: bool  # Whether it runs.
    state: str  # How it is, for people.
    exit_code: int | None  # Its exit status; null while it runs.
    written: int  # Bytes that it has written.
    output: str  # What it wrote after the place asked for.
    next: int  # The place to go on from.
    lost: int  # Bytes between the place asked for and this output that are not kept any more.


class ConversationSummary(FromJson):
    """A conversation at this moment."""

    conversation: str  # Its id.
    state: Condition  # Its state.
    name: str | None  # Its name.
    self_named: bool  # Its name was made of its first words.
    settings: Settings  # How it is run.
    seq: int  # The number of its last stored event.
    turn: str | None  # The open turn.
    queued: int  # How many inputs wait.
    waiting: list[WaitingInput]  # The inputs that wait, in the order in which they will run.
    paused: bool  # True while queued inputs are held until somebody lets them go on.
    pending: list[ToolUseApprovalRequest | ExecApprovalRequest | ApplyPatchApprovalRequest | McpToolCallApprovalRequest | ElicitationApprovalRequest]  # Questions that wait for an answer.
    readers: list[ReaderStatus]  # Attached clients.
    tokens: int  # Tokens used so far.
    usd: float  # Their price in US dollars, as far as it is known.
    unpriced: int  # Responses whose price is not known.
    uncounted: int  # Responses whose tokens the server has not told.
    context_tokens: int | None  # How full the model's context is; null where nobody knows.
    context_window: int | None  # Tokens that the model can read at once; null where unknown.
    created: float  # When, in seconds since 1970.
    updated: float  # When its last event happened.
    preview: str  # What it is about: its agent's title for it, or how it began.
    agent_now: AgentNow | None  # What its agent has said of itself last; null: nothing yet, or it is Greenroom's own.
    failed: str | None  # Why it was given up; null after a restart.
    ended: Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"] | None  # How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question.


class AcceptedInput(FromJson):
    """Without `wait`: the input is stored."""

    input: str  # Its id.
    turn: str | None  # The turn that runs it; null while it waits.
    seq: int  # The last event of that moment.
    queued: int  # How many inputs wait.
    duplicate: bool  # The key was known: this is the input of the first request.
    ended: int | None  # The last event of its turn, if that had ended when the input was repeated.


class TurnResult(FromJson):
    """With `wait`: the turn that took the input has ended."""

    turn: str  # Which turn.
    ending: Ending  # How it ended.
    message: str | None  # The last thing the model said, or what went wrong.
    seq: int  # The number of its terminal event.
    by: list[str]  # The clients that asked for its end.


class InterruptedTurn(FromJson):
    """The turn has ended, and its processes are gone."""

    turn: str | None  # The turn that was stopped; null if nothing ran.
    ending: Ending | None  # How it ended.
    queued: int  # How many inputs wait, held until somebody lets them go on.
    waiting: list[WaitingInput]  # Those inputs, in the order in which they will run.


class ChangedSettings(FromJson):
    settings: Settings  # How it is run now.
    name: str | None  # Its name now.
    changed: list[SettingChange]  # What has changed; empty if all of it was so already.
    turn: str | None  # The turn that goes on with them.


class WaitingInputs(FromJson):
    paused: bool  # True while it is held until somebody lets it go on.
    turn: str | None  # The turn that runs before them.
    waiting: list[WaitingInput]  # In the order in which they will run.


class DaemonStatus(FromJson):
    """The daemon itself. The last members tell of its inside, and may change."""

    pid: int  # The daemon's process.
    version: str  # Of the program.
    instance: str  # This one life of the daemon.
    uptime_s: float  # Since it started.
    config: str | None  # The config file in use.
    warnings: list[str]  # Keys of the config that are ignored.
    journal: str  # The journal's file.
    journal_bytes: int  # Its size on disk, write-ahead log included.
    journal_repaired: Any  # Report of a repair at the start; null if none was needed.
    search_bytes: int  # Size of the search's file on disk; 0 if it is off.
    search_trouble: str | None  # Why nothing new can be found now.
    trouble: str | None  # What keeps the daemon from storing anything now, and what to do.
    log: str  # The log's file.
    sandbox: bool  # Whether commands can be confined here.
    clients: int  # How many are connected.
    librarian: dict[str, Any]  # Reads for sessions.
    journalist: dict[str, Any]  # Writes of the journal.
    directory: dict[str, Any]  # Searches for conversations that sleep.
    registry: dict[str, Any]  # Conversations, and how many are live.
    agents: dict[str, Any]  # Turns that run.
    histories: dict[str, Any]  # Histories that are kept for the next request.
    other_agents: dict[str, Any]  # Programs of third-party agents.
    processes: dict[str, Any]  # Processes that turns have started.
