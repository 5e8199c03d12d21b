"""Answers of the supervisor to dialects. A leaf.

A struct whose members have descriptions is also the answer on the wire of the control API: its schema, the reference
and the classes of the Python client are made of it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.vocabulary.answers import Done
from actors.vocabulary.budget_raises import Unit
from actors.vocabulary.ids import ConnectionId, ConversationId, SubscriptionId
from actors.vocabulary.records import Page, Record
from actors.vocabulary.settings import SettingChange, Settings

# --- settings and histories -----------------------------------------------------------------------------------------


class SettingsMade(Struct, frozen=True):
    """`notice`: one line for a person, said once per client: the chosen model, and how to choose another."""

    settings: Settings
    notice: str | None = None
    warnings: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # the fields that were asked for, in a change of settings


class HistoryRead(Struct, frozen=True):
    """`complete`: nothing follows the page; for a page requested by its end, nothing precedes it."""

    page: Page
    complete: bool


class NewsRead(Struct, frozen=True):
    """`cursor`: where to go on. `lagged`: events before the first of these are missing."""

    records: tuple[tuple[ConversationId, Record], ...]
    cursor: int
    lagged: bool = False


class ApprovalPlaces(Struct, frozen=True):
    """The places (seq and time) of questions, in their order; None where unknown."""

    places: tuple[tuple[int, float] | None, ...]


class ExportedHistory(Struct, frozen=True):
    lines: Annotated[int, Meta(description="How many lines the file has: a head, then an event each.")]


class StoredConversation(Struct, frozen=True):
    """The conversation that was made or deleted."""

    conversation: Annotated[ConversationId, Meta(description="Its id.")]


class ImportedConversation(Struct, frozen=True):
    """The conversation that an import has made."""

    conversation: Annotated[ConversationId, Meta(description="Its id.")]
    changed: Annotated[
        tuple[SettingChange, ...],
        Meta(description="The settings in which it differs from its file: `before` is the file's."),
    ]


Source = Literal["user", "agent", "reasoning", "command", "output", "name"]


class SearchHit(Struct, frozen=True):
    conversation: Annotated[ConversationId, Meta(description="Where it was said: the conversation's id.")]
    name: Annotated[str | None, Meta(description="The conversation's name.")]
    cwd: Annotated[str, Meta(description="The conversation's working directory.")]
    seq: Annotated[int, Meta(description="The event in which it was said.")]
    ts: Annotated[float, Meta(description="When, in seconds since 1970.")]
    kind: Annotated[
        Source,
        Meta(description="A person, the model, its reasoning, a command or what that wrote, or a name given."),
    ]
    text: Annotated[str, Meta(description="The words of the query with some of the words around them.")]
    marks: Annotated[
        tuple[tuple[int, int], ...], Meta(description="Where in `text` they are: begin and end, in characters.")
    ]


class SearchHits(Struct, frozen=True):
    hits: Annotated[tuple[SearchHit, ...], Meta(description="Hits in the order that was asked for.")]
    next_cursor: Annotated[str | None, Meta(description="For the next page; null on the last.")]
    read: Annotated[float, Meta(description="How much of all histories can be searched yet, from 0 to 1.")]
    complete: Annotated[
        bool, Meta(description="False if the time for a search was over before all was searched.")
    ] = True


# --- spending -------------------------------------------------------------------------------------------------------


class UsageSums(Struct, frozen=True, kw_only=True):
    """Sums. Tokens are null if no server has reported any; else the sum of the known ones."""

    turns: Annotated[int, Meta(description="Turns that have ended.")]
    requests: Annotated[int, Meta(description="Requests to models.")]
    tool_calls: Annotated[int, Meta(description="Calls of tools.")]
    seconds: Annotated[float, Meta(description="Time of work, without waiting for people.")]
    input_tokens: Annotated[int | None, Meta(description="Tokens read.")]
    cached_tokens: Annotated[int | None, Meta(description="How many of them came from a cache.")]
    cache_written_tokens: Annotated[int | None, Meta(description="How many of them went into a cache.")]
    output_tokens: Annotated[int | None, Meta(description="Tokens written.")]
    reasoning_tokens: Annotated[int | None, Meta(description="How many of them were reasoning.")]
    tokens: Annotated[int | None, Meta(description="Tokens read and written.")]
    usd: Annotated[
        float | None, Meta(description="Their price in US dollars, as far as it is known; null: not at all.")
    ]
    unpriced: Annotated[int, Meta(description="Responses whose price is not known.")]
    uncounted: Annotated[int, Meta(description="Responses whose tokens the server has not told.")]


class UsageRow(UsageSums, frozen=True, kw_only=True):
    """The sums of a group."""

    group: Annotated[str, Meta(description="The day, the model, the directory or the conversation's id.")]


class Usage(Struct, frozen=True):
    rows: Annotated[
        tuple[UsageRow, ...], Meta(description="Days from the newest on; all others from the most tokens on.")
    ]
    total: Annotated[UsageSums, Meta(description="All of it, also what is in no row.")]
    prices_of: Annotated[
        str, Meta(description="The day of the list prices, 2026-01-31; what the config says goes first.")
    ]


Scope = Literal["turn", "conversation", "day", "home"]


class BudgetRow(Struct, frozen=True):
    scope: Annotated[Scope, Meta(description="Of what.")]
    unit: Annotated[Unit, Meta(description="In what.")]
    used: Annotated[float, Meta(description="What is used of it.")]
    limit: Annotated[float | None, Meta(description="The budget; null: none.")]
    raised_by: Annotated[
        str | None, Meta(description="The client that raised it for all conversations, or null.")
    ] = None
    raised_at: Annotated[float | None, Meta(description="When that was, in seconds since 1970.")] = None


class Budgets(Struct, frozen=True):
    budgets: Annotated[tuple[BudgetRow, ...], Meta(description="Each scope with each unit.")]


class BudgetRead(Struct, frozen=True):
    """Budgets with the use of each. `settings` contain the limits that were asked for."""

    settings: Settings
    budgets: Budgets


# --- background commands --------------------------------------------------------------------------------------------


class Job(Struct, frozen=True, kw_only=True):
    job: Annotated[str, Meta(description="The job's id.")]
    conversation: Annotated[ConversationId, Meta(description="The conversation that started it.")]
    command: Annotated[tuple[str, ...], Meta(description="What runs.")]
    cwd: Annotated[str, Meta(description="Where.")]
    began: Annotated[float, Meta(description="When it was started, in seconds since 1970.")]
    keeps: Annotated[bool, Meta(description="Whether it goes on after its turn.")]
    running: Annotated[bool, Meta(description="Whether it runs.")]
    state: Annotated[str, Meta(description="How it is, for people.")]
    exit_code: Annotated[int | None, Meta(description="Its exit status; null while it runs.")]
    written: Annotated[int, Meta(description="Bytes that it has written.")]


class JobOutput(Job, frozen=True, kw_only=True):
    output: Annotated[str, Meta(description="What it wrote after the place asked for.")]
    next: Annotated[int, Meta(description="The place to go on from.")]
    lost: Annotated[
        int, Meta(description="Bytes between the place asked for and this output that are not kept any more.")
    ]


class Jobs(Struct, frozen=True):
    jobs: Annotated[
        tuple[Job, ...], Meta(description="Background commands, oldest first; also some that have ended.")
    ]


# --- agents and servers ---------------------------------------------------------------------------------------------


class InheritedThing(Struct, frozen=True):
    """A thing that an agent brings by itself."""

    what: Annotated[str, Meta(description="What it is, by names alone.")]
    where: Annotated[str, Meta(description="The file or directory that it comes from.")]


class Agent(Struct, frozen=True):
    """An agent as it is on this machine, for a client's variables."""

    name: Annotated[str, Meta(description="Its name, for `agent`.")]
    title: Annotated[str, Meta(description="What people call it.")]
    default: Annotated[bool, Meta(description="Conversations have it that name none.")]
    state: Annotated[
        Literal["ready", "installed", "no login", "missing"],
        Meta(description="installed: whether it is logged in is unknown."),
    ]
    start: Annotated[tuple[str, ...], Meta(description="The program and its arguments; empty if it is missing.")] = ()
    login: Annotated[
        Literal["yes", "no", "unknown"], Meta(description="Whether a key or a file of credentials was found.")
    ] = "unknown"
    sign: Annotated[str, Meta(description="What was found: a variable's name or a file's.")] = ""
    wrong: Annotated[str, Meta(description="Why it can't be started; empty: it can.")] = ""
    next: Annotated[str, Meta(description="What a person does next to use it; empty: nothing.")] = ""
    install: Annotated[str, Meta(description="The command that installs it; empty: unknown.")] = ""
    log_in: Annotated[str, Meta(description="The command that logs in; empty: unknown.")] = ""
    confine: Annotated[
        Literal["workspace", "none"],
        Meta(description="workspace: in the conversation's sandbox. none: outside of every sandbox."),
    ] = "workspace"
    network: Annotated[bool, Meta(description="It may use the network.")] = True
    own: Annotated[tuple[str, ...], Meta(description="Files and directories of its own, which it may write.")] = ()
    itself: Annotated[
        str, Meta(description="The program that people know it by, if only its adapter is missing; or empty.")
    ] = ""
    brings: Annotated[
        tuple[InheritedThing, ...],
        Meta(description="What it brings by itself: settings, servers, hooks, instructions."),
    ] = ()


class Agents(Struct, frozen=True):
    agents: Annotated[
        tuple[Agent, ...], Meta(description="Greenroom's own first, then the config's, then the known ones.")
    ]


class AgentTrial(Struct, frozen=True):
    """What came of starting an agent."""

    agent: Annotated[str, Meta(description="Its name.")]
    state: Annotated[Literal["ready", "no login", "failed"], Meta(description="What came of it.")] = "ready"
    program: Annotated[str, Meta(description="What the program calls itself, with its version.")] = ""
    took_s: Annotated[float, Meta(description="Seconds until it was ready.")] = 0.0
    can: Annotated[tuple[str, ...], Meta(description="What it said that it can do.")] = ()
    modes: Annotated[tuple[str, ...], Meta(description="Its modes, by its ids of them.")] = ()
    models: Annotated[
        tuple[str, ...], Meta(description="Its models, by its names of them; empty: it does not say.")
    ] = ()
    options: Annotated[tuple[str, ...], Meta(description="What can be set in it, by its ids.")] = ()
    logins: Annotated[tuple[str, ...], Meta(description="Ways to log in.")] = ()
    needs_login: Annotated[bool, Meta(description="It says that nobody is logged in.")] = False
    wrong: Annotated[str, Meta(description="Why it can't be used; empty: it can.")] = ""


class Server(Struct, frozen=True, kw_only=True):
    """An MCP server that a client has given a conversation, without secrets."""

    name: Annotated[str, Meta(description="Its name.")]
    kind: Annotated[Literal["stdio", "http", "sse"], Meta(description="A program, or an address.")]
    command: Annotated[tuple[str, ...], Meta(description="The program with its arguments.")] = ()
    variables: Annotated[tuple[str, ...], Meta(description="The names of the variables that it is given.")] = ()
    url: Annotated[str, Meta(description="The address, without its query.")] = ""
    headers: Annotated[tuple[str, ...], Meta(description="The names of the headers that are sent there.")] = ()
    approved: Annotated[bool | None, Meta(description="The answer of a person; null: nobody was asked.")] = None


class Servers(Struct, frozen=True):
    servers: Annotated[tuple[Server, ...], Meta(description="In the order in which they were given.")]


# --- the daemon -----------------------------------------------------------------------------------------------------


class ClientSubscription(Struct, frozen=True):
    conversation: Annotated[ConversationId, Meta(description="Which conversation.")]
    subscription: Annotated[SubscriptionId, Meta(description="Which of its subscriptions.")]
    seq: Annotated[int, Meta(description="The last event it was given.")]
    behind: Annotated[int, Meta(description="How many it was not given yet.")]
    read_only: Annotated[bool, Meta(description="It only watches.")]


class ClientRow(Struct, frozen=True):
    connection: Annotated[ConnectionId, Meta(description="Its id.")]
    name: Annotated[str, Meta(description="As its hello said.")]
    version: Annotated[str, Meta(description="As its hello said.")]
    pid: Annotated[int | None, Meta(description="As the kernel knows it.")]
    cwd: Annotated[str, Meta(description="As its hello said.")]
    you: Annotated[bool, Meta(description="It is the one who asks.")]
    attached: Annotated[tuple[ClientSubscription, ...], Meta(description="Its subscriptions.")] = ()


class Clients(Struct, frozen=True):
    clients: Annotated[tuple[ClientRow, ...], Meta(description="Connected clients.")]


class DaemonStatus(Struct, frozen=True, kw_only=True):
    """The daemon itself. The last members tell of its inside, and may change."""

    pid: Annotated[int, Meta(description="The daemon's process.")]
    version: Annotated[str, Meta(description="Of the program.")]
    instance: Annotated[str, Meta(description="This one life of the daemon.")]
    uptime_s: Annotated[float, Meta(description="Since it started.")]
    config: Annotated[str | None, Meta(description="The config file in use.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Keys of the config that are ignored.")]
    journal: Annotated[str, Meta(description="The journal's file.")]
    journal_bytes: Annotated[int, Meta(description="Its size on disk, write-ahead log included.")]
    journal_repaired: Annotated[object, Meta(description="Report of a repair at the start; null if none was needed.")]
    search_bytes: Annotated[int, Meta(description="Size of the search's file on disk; 0 if it is off.")] = 0
    search_trouble: Annotated[str | None, Meta(description="Why nothing new can be found now.")] = None
    trouble: Annotated[
        str | None, Meta(description="What keeps the daemon from storing anything now, and what to do.")
    ] = None
    log: Annotated[str, Meta(description="The log's file.")]
    sandbox: Annotated[bool, Meta(description="Whether commands can be confined here.")]
    clients: Annotated[int, Meta(description="How many are connected.")]
    librarian: Annotated[Mapping[str, Any], Meta(description="Reads for sessions.")] = {}
    journalist: Annotated[Mapping[str, Any], Meta(description="Writes of the journal.")] = {}
    directory: Annotated[Mapping[str, Any], Meta(description="Searches for conversations that sleep.")] = {}
    registry: Annotated[Mapping[str, Any], Meta(description="Conversations, and how many are live.")] = {}
    agents: Annotated[Mapping[str, Any], Meta(description="Turns that run.")] = {}
    histories: Annotated[Mapping[str, Any], Meta(description="Histories that are kept for the next request.")] = {}
    other_agents: Annotated[Mapping[str, Any], Meta(description="Programs of third-party agents.")] = {}
    processes: Annotated[Mapping[str, Any], Meta(description="Processes that turns have started.")] = {}


class KeyChange(Struct, frozen=True):
    """A changed key of the config. A missing value is `unset`."""

    key: Annotated[str, Meta(description="Dotted.")]
    old: Annotated[str, Meta(description="As a person reads it; secrets are masked.")]
    new: Annotated[str, Meta(description="The same.")]
    live: Annotated[
        bool, Meta(description="Whether it counts already; if not, it does from the next start of the daemon on.")
    ] = True


class ReloadedConfig(Struct, frozen=True):
    changes: Annotated[tuple[KeyChange, ...], Meta(description="Keys that changed.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Keys of the config that are ignored.")]


class StoppingDaemon(Struct, frozen=True):
    drain_s: Annotated[float, Meta(description="How long running turns may go on.")]


class ConfigValue(Struct, frozen=True):
    value: Annotated[Any, Meta(description="A value or a table; secrets are masked.")]
    path: Annotated[str | None, Meta(description="The config file in use.")]


# --- Codex's methods, and prompts -----------------------------------------------------------------------------------


class ProviderKey(Struct, frozen=True):
    """`key`: whether there is one for the model provider. `openai`: whether that is OpenAI."""

    key: bool
    openai: bool


class SingleCommandResult(Struct, frozen=True, rename="camel"):
    """The end of a command outside of any conversation."""

    exit_code: int
    stdout: str
    stderr: str


class RemoteDiff(Struct, frozen=True):
    """The diff against the commit `sha`, which a remote has."""

    sha: str
    diff: str


class FoundFile(Struct, frozen=True):
    """A file whose path fits a search. `indices`: the places of the query's characters in `path`."""

    root: str
    path: str
    file_name: str
    score: int
    indices: tuple[int, ...]


class FoundFiles(Struct, frozen=True):
    """The best first."""

    files: tuple[FoundFile, ...]


class PromptArgument(Struct, frozen=True, omit_defaults=True):
    name: str
    required: bool
    description: str = ""


class MenuPrompt(Struct, frozen=True):
    """A saved prompt or a skill, for a client's menu."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...]


class MenuPrompts(Struct, frozen=True):
    """Usable prompts, by name."""

    prompts: tuple[MenuPrompt, ...]


class PromptText(Struct, frozen=True):
    """A prompt with its arguments filled in."""

    description: str
    text: str


SupervisorAnswer = (
    Done
    | SettingsMade
    | BudgetRead
    | Budgets
    | Usage
    | HistoryRead
    | NewsRead
    | ApprovalPlaces
    | ExportedHistory
    | StoredConversation
    | ImportedConversation
    | SearchHits
    | Jobs
    | Job
    | JobOutput
    | Agents
    | AgentTrial
    | Servers
    | Clients
    | DaemonStatus
    | ReloadedConfig
    | StoppingDaemon
    | ConfigValue
    | ProviderKey
    | SingleCommandResult
    | RemoteDiff
    | FoundFiles
    | MenuPrompts
    | PromptText
)
