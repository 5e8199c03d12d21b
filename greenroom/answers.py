"""The daemon's answers, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from greenroom.record import FromJson

if TYPE_CHECKING:
    from greenroom.events import (
        ApprovalRequested,
        BusyPolicy,
        Decision,
        ImageItem,
        LocalImageItem,
        SettingChange,
        Settings,
        TextItem,
    )

Condition = Literal["starting", "idle", "running", "waiting", "interrupting", "parked", "failed", "denied", "lost", "over-budget", "archived"]

Ending = Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget"]


class InheritedThing(TypedDict):
    """A thing that an agent brings by itself."""

    what: Annotated[str, "What it is, by names alone."]
    where: Annotated[str, "The file or directory that it comes from."]


class WaitingInput(TypedDict):
    """Accepted input that no turn has taken yet."""

    input: Annotated[str, "Its id."]
    policy: Annotated[BusyPolicy, "steer: joins the running turn. enqueue, interrupt: gets its own."]
    preview: Annotated[str, "Its first words."]
    by: Annotated[str, "Which client sent it."]
    since: Annotated[float, "When, in seconds since 1970; 0 where that was not noted."]
    items: Annotated[list[TextItem | ImageItem | LocalImageItem] | None, "The message whole, where it was asked for; else null."]


class ReaderStatus(TypedDict):
    connection: Annotated[str, "Whose."]
    subscription: Annotated[str, "Which."]
    seq: Annotated[int, "The last event it was given."]
    behind: Annotated[int, "How many it was not given yet."]
    read_only: Annotated[bool, "It only watches."]


class AgentOptionValue(TypedDict):
    """A setting of the agent, and its value. The other possible values are in the event."""

    id: Annotated[str, "The agent's id of it."]
    name: Annotated[str, "What it is, in the agent's words."]
    category: Annotated[str, "mode, model, thought_level, or what the agent calls it."]
    value: Annotated[str, "What it is now."]


class AgentNow(TypedDict):
    """A third-party agent in a conversation, as clients see it."""

    agent: Annotated[str, "Its name in the config."]
    session: Annotated[str, "Its own id of the session."]
    how: Annotated[str, "How that began: new, resumed, loaded, seeded; empty: not yet."]
    program: Annotated[str, "What the program calls itself, with its version."]
    can: Annotated[list[str], "What it said that it can do."]
    note: Annotated[str, "What a person should know about how it began; empty: nothing."]
    model: Annotated[str, "Its model; empty: it has not said."]
    mode: Annotated[str, "Its mode; empty: it has not said."]
    options: Annotated[list[AgentOptionValue], "All that can be set in it, with the values now."]


class UsageRow(TypedDict):
    """The sums of a group."""

    turns: Annotated[int, "Turns that have ended."]
    requests: Annotated[int, "Requests to models."]
    tool_calls: Annotated[int, "Calls of tools."]
    seconds: Annotated[float, "Time of work, without waiting for people."]
    input_tokens: Annotated[int | None, "Tokens read."]
    cached_tokens: Annotated[int | None, "How many of them came from a cache."]
    cache_written_tokens: Annotated[int | None, "How many of them went into a cache."]
    output_tokens: Annotated[int | None, "Tokens written."]
    reasoning_tokens: Annotated[int | None, "How many of them were reasoning."]
    tokens: Annotated[int | None, "Tokens read and written."]
    usd: Annotated[float | None, "Their price in US dollars, as far as it is known; null: not at all."]
    unpriced: Annotated[int, "Responses whose price is not known."]
    uncounted: Annotated[int, "Responses whose tokens the server has not told."]
    group: Annotated[str, "The day, the model, the directory or the conversation's id."]


class UsageSums(TypedDict):
    """Sums. Tokens are null if no server has reported any; else the sum of the known ones."""

    turns: Annotated[int, "Turns that have ended."]
    requests: Annotated[int, "Requests to models."]
    tool_calls: Annotated[int, "Calls of tools."]
    seconds: Annotated[float, "Time of work, without waiting for people."]
    input_tokens: Annotated[int | None, "Tokens read."]
    cached_tokens: Annotated[int | None, "How many of them came from a cache."]
    cache_written_tokens: Annotated[int | None, "How many of them went into a cache."]
    output_tokens: Annotated[int | None, "Tokens written."]
    reasoning_tokens: Annotated[int | None, "How many of them were reasoning."]
    tokens: Annotated[int | None, "Tokens read and written."]
    usd: Annotated[float | None, "Their price in US dollars, as far as it is known; null: not at all."]
    unpriced: Annotated[int, "Responses whose price is not known."]
    uncounted: Annotated[int, "Responses whose tokens the server has not told."]


class ClientSubscription(TypedDict):
    conversation: Annotated[str, "Which conversation."]
    subscription: Annotated[str, "Which of its subscriptions."]
    seq: Annotated[int, "The last event it was given."]
    behind: Annotated[int, "How many it was not given yet."]
    read_only: Annotated[bool, "It only watches."]


class KeyChange(TypedDict):
    """A changed key of the config. A missing value is `unset`."""

    key: Annotated[str, "Dotted."]
    old: Annotated[str, "As a person reads it; secrets are masked."]
    new: Annotated[str, "The same."]
    live: Annotated[bool, "Whether it counts already; if not, it does from the next start of the daemon on."]


class Agent(FromJson):
    """An agent as it is on this machine, for a client's variables."""

    name: Annotated[str, "Its name, for `agent`."]
    title: Annotated[str, "What people call it."]
    default: Annotated[bool, "Conversations have it that name none."]
    state: Annotated[Literal["ready", "installed", "no login", "missing"], "installed: whether it is logged in is unknown."]
    start: Annotated[list[str], "The program and its arguments; empty if it is missing."]
    login: Annotated[Literal["yes", "no", "unknown"], "Whether a key or a file of credentials was found."]
    sign: Annotated[str, "What was found: a variable's name or a file's."]
    wrong: Annotated[str, "Why it can't be started; empty: it can."]
    next: Annotated[str, "What a person does next to use it; empty: nothing."]
    install: Annotated[str, "The command that installs it; empty: unknown."]
    log_in: Annotated[str, "The command that logs in; empty: unknown."]
    confine: Annotated[Literal["workspace", "none"], "workspace: in the conversation's sandbox. none: outside of every sandbox."]
    network: Annotated[bool, "It may use the network."]
    own: Annotated[list[str], "Files and directories of its own, which it may write."]
    itself: Annotated[str, "The program that people know it by, if only its adapter is missing; or empty."]
    brings: Annotated[list[InheritedThing], "What it brings by itself: settings, servers, hooks, instructions."]


class AgentTrial(FromJson):
    """What came of starting an agent."""

    agent: Annotated[str, "Its name."]
    state: Annotated[Literal["ready", "no login", "failed"], "What came of it."]
    program: Annotated[str, "What the program calls itself, with its version."]
    took_s: Annotated[float, "Seconds until it was ready."]
    can: Annotated[list[str], "What it said that it can do."]
    modes: Annotated[list[str], "Its modes, by its ids of them."]
    models: Annotated[list[str], "Its models, by its names of them; empty: it does not say."]
    options: Annotated[list[str], "What can be set in it, by its ids."]
    logins: Annotated[list[str], "Ways to log in."]
    needs_login: Annotated[bool, "It says that nobody is logged in."]
    wrong: Annotated[str, "Why it can't be used; empty: it can."]


class CreatedConversation(FromJson):
    conversation: Annotated[str, "Its id."]
    settings: Annotated[Settings, "How it is run."]
    notice: Annotated[str | None, "One line for a person: which model was chosen, and how to choose another."]
    warnings: Annotated[list[str], "Keys of the config that are ignored."]


class ConversationRow(FromJson):
    conversation: Annotated[str, "The conversation's id."]
    name: Annotated[str | None, "Its name."]
    cwd: Annotated[str, "Its working directory."]
    model: Annotated[str, "Its model, as far as it is known; empty: one that another agent has chosen itself."]
    state: Annotated[Condition, "Its state; failed, denied, lost and over-budget stand until the next message."]
    preview: Annotated[str, "What it is about: its agent's title for it, or how it began."]
    created: Annotated[float, "When, in seconds since 1970."]
    updated: Annotated[float, "When its last event happened."]
    seq: Annotated[int, "The number of its last event."]
    archived: Annotated[bool, "Left out of lists unless asked for."]
    tokens: Annotated[int, "Tokens used so far, as far as servers tell them."]
    context_tokens: Annotated[int | None, "How full the model's context is; null where nobody knows."]
    context_window: Annotated[int | None, "Tokens that the model can read at once; null where unknown."]
    usd: Annotated[float, "Their price in US dollars, as far as it is known."]
    unpriced: Annotated[int, "Responses whose price is not known."]
    queued: Annotated[int | None, "How many inputs wait; null where that was not noted."]
    agent: Annotated[str, "The agent of its turns; empty: Greenroom's own."]
    uncounted: Annotated[int, "Responses whose tokens the server has not told."]
    ended: Annotated[Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"] | None, "How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question."]
    self_named: Annotated[bool, "Its name was made of its first words."]


class SearchHit(FromJson):
    conversation: Annotated[str, "Where it was said: the conversation's id."]
    name: Annotated[str | None, "The conversation's name."]
    cwd: Annotated[str, "The conversation's working directory."]
    seq: Annotated[int, "The event in which it was said."]
    ts: Annotated[float, "When, in seconds since 1970."]
    kind: Annotated[Literal["user", "agent", "reasoning", "command", "output", "name"], "A person, the model, its reasoning, a command or what that wrote, or a name given."]
    text: Annotated[str, "The words of the query with some of the words around them."]
    marks: Annotated[list[list[Any]], "Where in `text` they are: begin and end, in characters."]


class Job(FromJson):
    job: Annotated[str, "The job's id."]
    conversation: Annotated[str, "The conversation that started it."]
    command: Annotated[list[str], "What runs."]
    cwd: Annotated[str, "Where."]
    began: Annotated[float, "When it was started, in seconds since 1970."]
    keeps: Annotated[bool, "Whether it goes on after its turn."]
    running: Annotated[bool, "Whether it runs."]
    state: Annotated[str, "How it is, for people."]
    exit_code: Annotated[int | None, "Its exit status; null while it runs."]
    written: Annotated[int, "Bytes that it has written."]


class JobOutput(FromJson):
    job: Annotated[str, "The job's id."]
    conversation: Annotated[str, "The conversation that started it."]
    command: Annotated[list[str], "What runs."]
    cwd: Annotated[str, "Where."]
    began: Annotated[float, "When it was started, in seconds since 1970."]
    keeps: Annotated[bool, "Whether it goes on after its turn."]
    running: Annotated[bool, "Whether it runs."]
    state: Annotated[str, "How it is, for people."]
    exit_code: Annotated[int | None, "Its exit status; null while it runs."]
    written: Annotated[int, "Bytes that it has written."]
    output: Annotated[str, "What it wrote after the place asked for."]
    next: Annotated[int, "The place to go on from."]
    lost: Annotated[int, "Bytes between the place asked for and this output that are not kept any more."]


class ConversationSummary(FromJson):
    """A conversation at this moment."""

    conversation: Annotated[str, "Its id."]
    state: Annotated[Condition, "Its state; failed, denied, lost and over-budget stand until the next message."]
    name: Annotated[str | None, "Its name."]
    self_named: Annotated[bool, "Its name was made of its first words."]
    settings: Annotated[Settings, "How it is run."]
    seq: Annotated[int, "The number of its last stored event."]
    turn: Annotated[str | None, "The open turn."]
    queued: Annotated[int, "How many inputs wait."]
    waiting: Annotated[list[WaitingInput], "The inputs that wait, in the order in which they will run."]
    paused: Annotated[bool, "True while queued inputs are held until somebody lets them go on."]
    pending: Annotated[list[ApprovalRequested], "Questions that wait for an answer."]
    readers: Annotated[list[ReaderStatus], "Attached clients."]
    tokens: Annotated[int, "Tokens used so far."]
    usd: Annotated[float, "Their price in US dollars, as far as it is known."]
    unpriced: Annotated[int, "Responses whose price is not known."]
    uncounted: Annotated[int, "Responses whose tokens the server has not told."]
    context_tokens: Annotated[int | None, "How full the model's context is; null where nobody knows."]
    context_window: Annotated[int | None, "Tokens that the model can read at once; null where unknown."]
    created: Annotated[float, "When, in seconds since 1970."]
    updated: Annotated[float, "When its last event happened."]
    preview: Annotated[str, "What it is about: its agent's title for it, or how it began."]
    agent_now: Annotated[AgentNow | None, "What its agent has said of itself last; null: nothing yet, or it is Greenroom's own."]
    failed: Annotated[str | None, "Why it was given up; null after a restart."]
    ended: Annotated[Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"] | None, "How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question."]


class AcceptedInput(FromJson):
    """Without `wait`: the input is stored."""

    input: Annotated[str, "Its id."]
    turn: Annotated[str | None, "The turn that runs it; null while it waits."]
    seq: Annotated[int, "The last event of that moment."]
    queued: Annotated[int, "How many inputs wait."]
    duplicate: Annotated[bool, "The key was known: this is the input of the first request."]
    ended: Annotated[int | None, "The last event of its turn, if that had ended when the input was repeated."]


class TurnResult(FromJson):
    """With `wait`: the turn that took the input has ended."""

    turn: Annotated[str, "Which turn."]
    ending: Annotated[Ending, "How it ended."]
    message: Annotated[str | None, "The last thing the model said, or what went wrong."]
    seq: Annotated[int, "The number of its terminal event."]
    by: Annotated[list[str], "The clients that asked for its end."]


class InterruptedTurn(FromJson):
    """The turn has ended, and its processes are gone."""

    turn: Annotated[str | None, "The turn that was stopped; null if nothing ran."]
    ending: Annotated[Ending | None, "How it ended."]
    queued: Annotated[int, "How many inputs wait, held until somebody lets them go on."]
    waiting: Annotated[list[WaitingInput], "Those inputs, in the order in which they will run."]


class ChangedSettings(FromJson):
    settings: Annotated[Settings, "How it is run now."]
    name: Annotated[str | None, "Its name now."]
    changed: Annotated[list[SettingChange], "What has changed; empty if all of it was so already."]
    turn: Annotated[str | None, "The turn that goes on with them."]


class WaitingInputs(FromJson):
    paused: Annotated[bool, "True while it is held until somebody lets it go on."]
    turn: Annotated[str | None, "The turn that runs before them."]
    waiting: Annotated[list[WaitingInput], "In the order in which they will run."]


class AnsweredApproval(FromJson):
    approval: Annotated[str, "The question."]
    decision: Annotated[Decision, "Its answer, as it is stored."]
    option: Annotated[str, "The option that was chosen, by its id; empty: none was named."]
    outside: Annotated[bool, "It is a yes to run it outside the sandbox, where a yes alone means inside."]


class DaemonStatus(FromJson):
    """The daemon itself. The last members tell of its inside, and may change."""

    pid: Annotated[int, "The daemon's process."]
    version: Annotated[str, "Of the program."]
    instance: Annotated[str, "This one life of the daemon."]
    uptime_s: Annotated[float, "Since it started."]
    config: Annotated[str | None, "The config file in use."]
    warnings: Annotated[list[str], "Keys of the config that are ignored."]
    journal: Annotated[str, "The journal's file."]
    journal_bytes: Annotated[int, "Its size on disk, write-ahead log included."]
    journal_repaired: Annotated[Any, "Report of a repair at the start; null if none was needed."]
    search_bytes: Annotated[int, "Size of the search's file on disk; 0 if it is off."]
    search_trouble: Annotated[str | None, "Why nothing new can be found now."]
    trouble: Annotated[str | None, "What keeps the daemon from storing anything now, and what to do."]
    log: Annotated[str, "The log's file."]
    sandbox: Annotated[bool, "Whether commands can be confined here."]
    clients: Annotated[int, "How many are connected."]
    librarian: Annotated[dict[str, Any], "Reads for sessions."]
    journalist: Annotated[dict[str, Any], "Writes of the journal."]
    directory: Annotated[dict[str, Any], "Searches for conversations that sleep."]
    registry: Annotated[dict[str, Any], "Conversations, and how many are live."]
    agents: Annotated[dict[str, Any], "Turns that run."]
    histories: Annotated[dict[str, Any], "Histories that are kept for the next request."]
    other_agents: Annotated[dict[str, Any], "Programs of third-party agents."]
    processes: Annotated[dict[str, Any], "Processes that turns have started."]


class Usage(FromJson):
    rows: Annotated[list[UsageRow], "Days from the newest on; all others from the most tokens on."]
    total: Annotated[UsageSums, "All of it, also what is in no row."]
    prices_of: Annotated[str, "The day of the list prices, 2026-01-31; what the config says goes first."]


class BudgetRow(FromJson):
    scope: Annotated[Literal["turn", "conversation", "day", "home"], "Of what."]
    unit: Annotated[Literal["requests", "tool_calls", "minutes", "tokens", "usd"], "In what."]
    used: Annotated[float, "What is used of it."]
    limit: Annotated[float | None, "The budget; null: none."]
    raised_by: Annotated[str | None, "The client that raised it for all conversations, or null."]
    raised_at: Annotated[float | None, "When that was, in seconds since 1970."]


class ClientRow(FromJson):
    connection: Annotated[str, "Its id."]
    name: Annotated[str, "As its hello said."]
    version: Annotated[str, "As its hello said."]
    pid: Annotated[int | None, "As the kernel knows it."]
    cwd: Annotated[str, "As its hello said."]
    you: Annotated[bool, "It is the one who asks."]
    attached: Annotated[list[ClientSubscription], "Its subscriptions."]


class Server(FromJson):
    """An MCP server that a client has given a conversation, without secrets."""

    name: Annotated[str, "Its name."]
    kind: Annotated[Literal["stdio", "http", "sse"], "A program, or an address."]
    command: Annotated[list[str], "The program with its arguments."]
    variables: Annotated[list[str], "The names of the variables that it is given."]
    url: Annotated[str, "The address, without its query."]
    headers: Annotated[list[str], "The names of the headers that are sent there."]
    approved: Annotated[bool | None, "The answer of a person; null: nobody was asked."]


class ImportedConversation(FromJson):
    """The conversation that an import has made."""

    conversation: Annotated[str, "Its id."]
    changed: Annotated[list[SettingChange], "The settings in which it differs from its file: `before` is the file's."]


class ReloadedConfig(FromJson):
    changes: Annotated[list[KeyChange], "Keys that changed."]
    warnings: Annotated[list[str], "Keys of the config that are ignored."]


class ConfigValue(FromJson):
    value: Annotated[Any, "A value or a table; secrets are masked."]
    path: Annotated[str | None, "The config file in use."]


class StoppingDaemon(FromJson):
    drain_s: Annotated[float, "How long running turns may go on."]
