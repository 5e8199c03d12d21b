"""The shapes of answers and notifications of the control API: the models behind its schema.

`results` writes each answer with the members of its shape.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from actors.vocabulary.answers import Condition, Ending, LastEnding
from actors.vocabulary.events import (
    ApplyPatchApprovalRequest,
    ElicitationApprovalRequest,
    Envelope,
    ExecApprovalRequest,
    McpToolCallApprovalRequest,
    ToolUseApprovalRequest,
)
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import BusyPolicy, Decision, SettingChange, Settings

ENDED_DESCRIPTION = (
    "How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question."
)


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Empty(Shape):
    """Done; there is nothing more to say."""


class Reference(Shape):
    conversation: ConversationId = Field(description="Its id.")


class Created(Reference):
    settings: Settings = Field(description="How it is run.")
    notice: str | None = Field(
        description="One line for a person: which model was chosen, and how to choose another."
    )
    warnings: tuple[str, ...] = Field(description="Keys of the config that are ignored.")


class Row(Reference):
    name: str | None = Field(description="Its name.")
    state: Condition = Field(description="Its state.")
    cwd: str = Field(description="Its working directory.")
    agent: str = Field(description="The agent of its turns; empty: Greenroom's own.")
    model: str = Field(
        description="Its model, as far as it is known; empty: one that another agent has chosen itself."
    )
    preview: str = Field(description="What it is about: its agent's title for it, or how it began.")
    created: float = Field(description="When, in seconds since 1970.")
    updated: float = Field(description="When its last event happened.")
    seq: int = Field(description="The number of its last event.")
    tokens: int = Field(description="Tokens used so far.")
    usd: float = Field(description="Their price in US dollars, as far as it is known.")
    unpriced: int = Field(description="Responses whose price is not known.")
    uncounted: int = Field(description="Responses whose tokens the server has not told.")
    context_tokens: int | None = Field(description="How full the model's context is; null where nobody knows.")
    context_window: int | None = Field(description="Tokens that the model can read at once; null where unknown.")
    archived: bool = Field(description="Left out of lists unless asked for.")
    queued: int | None = Field(description="How many inputs wait; null where that was not noted.")
    ended: LastEnding | None = Field(description=ENDED_DESCRIPTION)


class Amounts(Shape):
    """Sums. Tokens are null if no server has reported any; else the sum of the known ones."""

    turns: int = Field(description="Turns that have ended.")
    requests: int = Field(description="Requests to models.")
    tool_calls: int = Field(description="Calls of tools.")
    seconds: float = Field(description="Time of work, without waiting for people.")
    input_tokens: int | None = Field(description="Tokens read.")
    cached_tokens: int | None = Field(description="How many of them came from a cache.")
    cache_written_tokens: int | None = Field(description="How many of them went into a cache.")
    output_tokens: int | None = Field(description="Tokens written.")
    reasoning_tokens: int | None = Field(description="How many of them were reasoning.")
    tokens: int | None = Field(description="Tokens read and written.")
    usd: float | None = Field(description="Their price in US dollars, as far as it is known; null: not at all.")
    unpriced: int = Field(description="Responses whose price is not known.")
    uncounted: int = Field(description="Responses whose tokens the server has not told.")


class UsageRow(Amounts):
    group: str = Field(description="The day, the model, the directory or the conversation's id.")


class Usage(Shape):
    rows: tuple[UsageRow, ...] = Field(description="Days from the newest on; all others from the most tokens on.")
    total: Amounts = Field(description="All of it, also what is in no row.")
    prices_of: str = Field("", description="The day of the list prices, 2026-01-31; what the config says goes first.")


class BudgetRow(Shape):
    scope: Literal["turn", "conversation", "day", "home"] = Field(description="Of what.")
    unit: Literal["requests", "tool_calls", "minutes", "tokens", "usd"] = Field(description="In what.")
    used: float = Field(description="What is used of it.")
    limit: float | None = Field(description="The budget; null: none.")
    raised_by: str | None = Field(None, description="The client that raised it for all conversations, or null.")
    raised_at: float | None = Field(None, description="When that was, in seconds since 1970.")


class Budgets(Shape):
    budgets: tuple[BudgetRow, ...] = Field(description="Each scope with each unit.")


class Rows(Shape):
    conversations: tuple[Row, ...] = Field(description="Most recently used first.")
    total: int = Field(description="How many there are on all pages.")
    next_cursor: str | None = Field(description="For the next page; null on the last.")


class Hit(Shape):
    conversation: ConversationId = Field(description="Where it was said: the conversation's id.")
    name: str | None = Field(description="The conversation's name.")
    cwd: str = Field(description="The conversation's working directory.")
    seq: int = Field(description="The event in which it was said.")
    ts: float = Field(description="When, in seconds since 1970.")
    kind: Literal["user", "agent", "reasoning", "command", "output", "name"] = Field(
        description="The source: a person, the model, its reasoning, a command or what that wrote, or a name given."
    )
    text: str = Field(description="The words of the query with some of the words around them.")
    marks: tuple[tuple[int, int], ...] = Field(description="Where in `text` they are: begin and end, in characters.")


class Hits(Shape):
    hits: tuple[Hit, ...] = Field(description="Hits in the order that was asked for.")
    next_cursor: str | None = Field(description="For the next page; null on the last.")
    read: float = Field(description="How much of all histories can be searched yet, from 0 to 1.")
    complete: bool = Field(description="False if the time for a search was over before all was searched.")


class Job(Shape):
    job: str = Field(description="The job's id.")
    conversation: ConversationId = Field(description="The conversation that started it.")
    command: tuple[str, ...] = Field(description="What runs.")
    cwd: str = Field(description="Where.")
    began: float = Field(description="When it was started, in seconds since 1970.")
    keeps: bool = Field(description="Whether it goes on after its turn.")
    running: bool = Field(description="Whether it runs.")
    state: str = Field(description="How it is, for people.")
    exit_code: int | None = Field(description="Its exit status; null while it runs.")
    written: int = Field(description="Bytes that it has written.")


class JobOutput(Job):
    output: str = Field(description="What it wrote behind the place asked for.")
    next: int = Field(description="The place to go on from.")
    lost: int = Field(description="Bytes between the place asked for and this output that are not kept any more.")


class Jobs(Shape):
    jobs: tuple[Job, ...] = Field(description="Background commands, oldest first; also some that have ended.")


class Server(Shape):
    name: str = Field(description="Its name.")
    kind: Literal["stdio", "http", "sse"] = Field(description="A program, or an address.")
    command: tuple[str, ...] = Field((), description="The program with its arguments.")
    variables: tuple[str, ...] = Field((), description="The names of the variables that it is given.")
    url: str = Field("", description="The address, without its query.")
    headers: tuple[str, ...] = Field((), description="The names of the headers that are sent there.")
    approved: bool | None = Field(description="The answer of a person; null: nobody was asked.")


class Servers(Shape):
    servers: tuple[Server, ...] = Field(description="In the order in which they were given.")


class Brought(Shape):
    what: str = Field(description="What it is, by names alone.")
    where: str = Field(description="The file or directory that it comes from.")


class Agent(Shape):
    name: str = Field(description="Its name, for `agent`.")
    title: str = Field(description="What people call it.")
    default: bool = Field(description="Conversations have it that name none.")
    state: Literal["ready", "installed", "no login", "missing"] = Field(
        description="installed: whether it is logged in is unknown."
    )
    start: tuple[str, ...] = Field(description="The program and its arguments; empty if it is missing.")
    login: Literal["yes", "no", "unknown"] = Field(description="A key or a file of credentials was found.")
    sign: str = Field(description="Which: a variable's name or a file's.")
    wrong: str = Field(description="Why it can't be started; empty: it can.")
    next: str = Field(description="What a person does next to use it; empty: nothing.")
    install: str = Field(description="The command that installs it; empty: unknown.")
    log_in: str = Field(description="The command that logs in; empty: unknown.")
    confine: Literal["workspace", "none"] = Field(description="none: it runs outside of every sandbox.")
    network: bool = Field(description="It may use the network.")
    own: tuple[str, ...] = Field(description="Files and directories of its own, which it may write.")
    itself: str = Field(description="The program that people know it by, if only its adapter is missing; or empty.")
    brings: tuple[Brought, ...] = Field(
        description="What it brings by itself: settings, servers, hooks, instructions."
    )


class Agents(Shape):
    agents: tuple[Agent, ...] = Field(description="Greenroom's own first, then the config's, then the known ones.")


class AgentTrial(Shape):
    agent: str = Field(description="Its name.")
    state: Literal["ready", "no login", "failed"] = Field(description="What came of it.")
    program: str = Field(description="What the program calls itself, with its version.")
    took_s: float = Field(description="Seconds until it was ready.")
    can: tuple[str, ...] = Field(description="What it said that it can do.")
    modes: tuple[str, ...] = Field(description="Its modes, by its ids of them.")
    models: tuple[str, ...] = Field(description="Its models, by its names of them; empty: it does not say.")
    options: tuple[str, ...] = Field(description="What can be set in it, by its ids.")
    logins: tuple[str, ...] = Field(description="Ways to log in.")
    needs_login: bool = Field(description="It says that nobody is logged in.")
    wrong: str = Field(description="Why it can't be used; empty: it can.")


class QuestionPlace(Shape):
    conversation: ConversationId = Field(description="The conversation that asks.")
    seq: int | None = Field(None, description="Its event, in lists, where that is known.")
    ts: float | None = Field(None, description="When it was asked, in lists, where that is known.")


class ExecQuestion(QuestionPlace, ExecApprovalRequest): ...


class PatchQuestion(QuestionPlace, ApplyPatchApprovalRequest): ...


class ToolQuestion(QuestionPlace, McpToolCallApprovalRequest): ...


class ServerQuestion(QuestionPlace, ElicitationApprovalRequest): ...


class AgentQuestion(QuestionPlace, ToolUseApprovalRequest): ...


AskedQuestion = ExecQuestion | PatchQuestion | ToolQuestion | ServerQuestion | AgentQuestion


class Reader(Shape):
    connection: ConnectionId = Field(description="Whose.")
    subscription: SubscriptionId = Field(description="Which.")
    seq: int = Field(description="The last event it was given.")
    behind: int = Field(description="How many it was not given yet.")
    read_only: bool = Field(description="It only watches.")


class Waiting(Shape):
    input: InputId = Field(description="Its id.")
    policy: BusyPolicy = Field(description="steer: joins the running turn. enqueue, interrupt: gets its own.")
    preview: str = Field(description="Its first words.")
    by: str = Field(description="Which client sent it.")
    since: float = Field(description="When, in seconds since 1970; 0 where that was not noted.")


class WaitingWhole(Waiting):
    items: tuple[InputItem, ...] = Field(description="The message whole.")


class WaitingInputs(Shape):
    paused: bool = Field(description="True while it is held until somebody lets it go on.")
    turn: TurnId | None = Field(description="The turn that runs before them.")
    waiting: tuple[Waiting | WaitingWhole, ...] = Field(description="In the order in which they will run.")


class OptionNow(Shape):
    id: str = Field(description="The agent's id of it.")
    name: str = Field(description="What it is, in the agent's words.")
    category: str = Field(description="mode, model, thought_level, or what the agent calls it.")
    value: str = Field(description="What it is now.")


class AgentNow(Shape):
    agent: str = Field(description="Its name in the config.")
    session: str = Field(description="Its own id of the session.")
    how: str = Field(description="How that began: new, resumed, loaded, seeded; empty: not yet.")
    program: str = Field(description="What the program calls itself, with its version.")
    can: tuple[str, ...] = Field(description="What it said that it can do.")
    note: str = Field(description="What a person should know about how it began; empty: nothing.")
    model: str = Field(description="Its model; empty: it has not said.")
    mode: str = Field(description="Its mode; empty: it has not said.")
    options: tuple[OptionNow, ...] = Field(description="All that can be set in it, with the values now.")


class Conversation(Reference):
    state: Condition = Field(description="Its state.")
    name: str | None = Field(description="Its name.")
    settings: Settings = Field(description="How it is run.")
    seq: int = Field(description="The number of its last stored event.")
    turn: TurnId | None = Field(description="The open turn.")
    queued: int = Field(description="How many inputs wait.")
    waiting: tuple[Waiting, ...] = Field(description="The inputs that wait, in the order in which they will run.")
    paused: bool = Field(description="True while queued inputs are held until somebody lets them go on.")
    pending: tuple[AskedQuestion, ...] = Field(description="Questions that wait for an answer.")
    readers: tuple[Reader, ...] = Field(description="Attached clients.")
    tokens: int = Field(description="Tokens used so far.")
    usd: float = Field(description="Their price in US dollars, as far as it is known.")
    unpriced: int = Field(description="Responses whose price is not known.")
    uncounted: int = Field(description="Responses whose tokens the server has not told.")
    context_tokens: int | None = Field(description="How full the model's context is; null where nobody knows.")
    context_window: int | None = Field(description="Tokens that the model can read at once; null where unknown.")
    created: float = Field(description="When, in seconds since 1970.")
    updated: float = Field(description="When its last event happened.")
    preview: str = Field(description="What it is about: its agent's title for it, or how it began.")
    agent_now: AgentNow | None = Field(
        description="What its agent has said of itself last; null: nothing yet, or it is Greenroom's own."
    )
    failed: str | None = Field(description="Why it was given up; null after a restart.")
    ended: LastEnding | None = Field(description=ENDED_DESCRIPTION)


class Changed(Shape):
    settings: Settings = Field(description="How it is run now.")
    name: str | None = Field(description="Its name now.")
    changed: tuple[SettingChange, ...] = Field(description="What has changed; empty if all of it was so already.")
    turn: TurnId | None = Field(description="The turn that goes on with them.")


class Taken(Shape):
    """Without `wait`: the input is stored."""

    input: InputId = Field(description="Its id.")
    turn: TurnId | None = Field(description="The turn that runs it; null while it waits.")
    seq: int = Field(description="The last event of that moment.")
    queued: int = Field(description="How many inputs wait.")
    duplicate: bool = Field(description="The key was known: this is the input of the first request.")


class TurnOver(Shape):
    """With `wait`: the turn that took the input has ended."""

    turn: TurnId = Field(description="Which turn.")
    ending: Ending = Field(description="How it ended.")
    message: str | None = Field(description="The last thing the model said, or what went wrong.")
    seq: int = Field(description="The number of its terminal event.")


class Stopped(Shape):
    turn: TurnId | None = Field(description="The turn that was stopped; null if nothing ran.")
    ending: Ending | None = Field(description="How it ended.")
    queued: int = Field(description="How many inputs wait, held until somebody lets them go on.")
    waiting: tuple[Waiting, ...] = Field(description="Those inputs, in the order in which they will run.")


class Why(Shape):
    code: str = Field(description="As in the table of errors.")
    message: str = Field(description="For people.")


class StoppedOne(Stopped):
    conversation: str = Field(description="As it was named.")


class NotStopped(Shape):
    conversation: str = Field(description="As it was named.")
    error: Why = Field(description="Why it was not.")


class StoppedMany(Shape):
    stopped: tuple[StoppedOne | NotStopped, ...] = Field(description="Each of them, in the order they were named.")


class Attachment(Shape):
    subscription: SubscriptionId = Field(description="The name that `events` and `ended` come under.")
    seq: int = Field(description="The last stored event at this moment.")
    summary: Conversation = Field(description="The conversation at this moment.")


class HistoryPage(Shape):
    events: tuple[Envelope, ...] = Field(description="Stored events, oldest first.")
    first_seq: int = Field(description="The oldest event that is still kept.")
    last_seq: int = Field(description="The newest event.")
    complete: bool = Field(description="There is nothing after this page; before it, if `before` was given.")


class NewsPage(Shape):
    events: tuple[Envelope, ...] = Field(description="Stored events of any conversation, in the order of storing.")
    cursor: int = Field(description="`after` of the next request.")
    lagged: bool = Field(description="Events before the first of them are not kept any more.")


class Exported(Shape):
    lines: tuple[str, ...] = Field(description="JSON lines: first a head, then an event each.")
    next_cursor: str | None = Field(description="For the next piece; null after the last.")
    partial: bool = Field(description="The last line is not whole: the first of the next piece goes on with it.")


class Uploaded(Shape):
    """With `more`: nothing is stored yet."""

    lines: int = Field(description="How many have come so far.")


class Differing(Shape):
    name: str = Field(description="The setting, as `greenroom set` calls it.")
    file: str = Field(description="What the file asked for, in words for people; empty: nothing was set.")
    here: str = Field(description="What the conversation has.")


class Imported(Reference):
    changed: tuple[Differing, ...] = Field(description="The settings in which it differs from its file.")


class Questions(Shape):
    approvals: tuple[AskedQuestion, ...] = Field(description="Open approvals.")


class Decided(Shape):
    approval: ApprovalId = Field(description="The question.")
    decision: Decision = Field(description="Its answer, as it is stored.")
    option: str = Field(description="The option that was chosen, by its id; empty: none was named.")
    outside: bool = Field(description="It is a yes to run it outside the sandbox, where a yes alone means inside.")


class Attached(Shape):
    conversation: ConversationId = Field(description="Which conversation.")
    subscription: SubscriptionId = Field(description="Which of its subscriptions.")
    seq: int = Field(description="The last event it was given.")
    behind: int = Field(description="How many it was not given yet.")
    read_only: bool = Field(description="It only watches.")


class ClientRow(Shape):
    connection: ConnectionId = Field(description="Its id.")
    name: str = Field(description="As its hello said.")
    version: str = Field(description="As its hello said.")
    pid: int | None = Field(description="As the kernel knows it.")
    cwd: str = Field(description="As its hello said.")
    you: bool = Field(description="It is the one who asks.")
    attached: tuple[Attached, ...] = Field((), description="Its subscriptions.")


class Clients(Shape):
    clients: tuple[ClientRow, ...] = Field(description="Connected clients.")


class Status(BaseModel):
    """Further members tell of the daemon's inside; they may change."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    pid: int = Field(description="The daemon's process.")
    version: str = Field(description="Of the program.")
    instance: str = Field(description="This one life of the daemon.")
    uptime_s: float = Field(description="Since it started.")
    config: str | None = Field(description="The config file in use.")
    warnings: tuple[str, ...] = Field(description="Keys of the config that are ignored.")
    journal: str = Field(description="The journal's file.")
    journal_bytes: int = Field(description="Its size on disk, write-ahead log included.")
    journal_repaired: object = Field(description="Report of a repair at the start; null if none was needed.")
    search_bytes: int = Field(0, description="Size of the search's file on disk; 0 if it is off.")
    search_trouble: str | None = Field(None, description="Why nothing new can be found now.")
    trouble: str | None = Field(None, description="What keeps the daemon from storing anything now, and what to do.")
    log: str = Field(description="The log's file.")
    sandbox: bool = Field(description="Whether commands can be confined here.")
    clients: int = Field(description="How many are connected.")


class Change(Shape):
    key: str = Field(description="Dotted.")
    old: str = Field(description="As a person reads it; secrets are masked.")
    new: str = Field(description="The same.")
    live: bool = Field(description="Whether it counts already; if not, it does from the next start of the daemon on.")


class Reloaded(Shape):
    changes: tuple[Change, ...] = Field(description="Keys that changed.")
    warnings: tuple[str, ...] = Field(description="Keys of the config that are ignored.")


class Stopping(Shape):
    drain_s: float = Field(description="How long running turns may go on.")


class Configured(Shape):
    value: object = Field(description="A value or a table; secrets are masked.")
    path: str | None = Field(description="The config file in use.")


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


class AnnouncedParams(Shape):
    message: str = Field(description="For people: what is wrong with the daemon as a whole, or well again.")


class EndedParams(Shape):
    subscription: SubscriptionId = Field(description="Which.")
    reason: str = Field(description="Why, for people. Attach again by cursor.")


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


NOTIFICATIONS: dict[str, tuple[str, type[BaseModel]]] = {
    "events": ("Events that a subscription has not seen: stored ones, then the unfinished tail.", EventsParams),
    "ended": ("The conversation ended a subscription by itself; attach again by cursor.", EndedParams),
    "announcement": ("The daemon has something to say that concerns every client, attached or not.", AnnouncedParams),
}
