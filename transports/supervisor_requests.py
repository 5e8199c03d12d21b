"""Requests of a dialect to the supervisor: all those that are not for one conversation. A leaf.

Answers are values; a refusal is one of actors.vocabulary.errors. The supervisor serves them elsewhere and may take
its time: the connection goes on.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from actors.messages.conversation import Query
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId
from actors.vocabulary.records import Page, Record
from actors.vocabulary.settings import SandboxPolicy, SettingChange, Settings
from actors.vocabulary.spent_amounts import Spent


class Person(Struct, frozen=True):
    """The settings of the person whose client this is. The client may choose others, up to a ceiling."""

    agent: str | None = None
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: str | None = None
    sandbox: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


# --- answers --------------------------------------------------------------------------------------------------------


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


class ExportPiece(Struct, frozen=True):
    """A piece of an export. `place`: where the next begins; None after the last. `partial`: the last line is
    unfinished.
    """

    lines: tuple[str, ...]
    place: tuple[int, int, int] | None = None
    partial: bool = False


class StoredConversation(Struct, frozen=True):
    """The conversation that a fork or an import has made."""

    conversation: ConversationId


class ImportedConversation(Struct, frozen=True):
    """The conversation that an import has made. `changed`: the file's settings against those it got."""

    conversation: ConversationId
    changed: tuple[SettingChange, ...]


class SearchHit(Struct, frozen=True):
    """A place in a history with the words of a search. `marks`: begin and end of each of them in `text`."""

    conversation: ConversationId
    name: str | None
    cwd: str
    seq: int
    ts: float
    kind: str
    text: str
    marks: tuple[tuple[int, int], ...]


class SearchHits(Struct, frozen=True):
    """The hits of a search. `next`: where the next page begins; None after the last.

    `read`: how much of all histories can be searched yet; 1 is all. `complete`: false if time ran out.
    """

    hits: tuple[SearchHit, ...]
    next: int | None
    read: float
    complete: bool = True


class PlainAnswer(Struct, frozen=True):
    """An answer that goes to the wire unchanged."""

    value: Mapping[str, Any]


class BudgetRead(Struct, frozen=True):
    """Budgets with the use of each. `settings` contain the limits that were asked for."""

    settings: Settings
    budgets: tuple[dict[str, Any], ...]


SupervisorAnswer = (
    SettingsMade
    | BudgetRead
    | HistoryRead
    | NewsRead
    | ApprovalPlaces
    | ExportPiece
    | StoredConversation
    | ImportedConversation
    | SearchHits
    | PlainAnswer
)


# --- requests -------------------------------------------------------------------------------------------------------


class MakeSettings(Query[SettingsMade], frozen=True):
    """Settings from typed arguments, overrides, profile, file and defaults, in this order of precedence.

    Paths are relative to the client's directory. `person`: the defaults, and the ceiling of the client; None: the
    client is the person.
    """

    agent: str | None = None
    model: str | None = None
    model_provider: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: str | None = None
    sandbox: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    base_instructions: str | None = None
    include_plan_tool: bool | None = None
    include_apply_patch_tool: bool | None = None
    developer_instructions: str | None = None
    person: Person | None = None


class PermitSettings(Query[SettingsMade], frozen=True):
    """Check that a client may have these settings in a conversation that has `current`."""

    settings: Settings
    current: Settings
    person: Person


NewLimits: TypeAlias = Mapping[str, str | float | None]  # None: the config's value
NewValues: TypeAlias = Mapping[str, str | tuple[str, ...] | None]


class AlterSettings(Query[SettingsMade], frozen=True):
    """Apply new values to the settings of a conversation that has `current`. None: the config's value.

    `person`: the ceiling of the client; None: the client is the person.
    """

    current: Settings
    values: NewValues
    person: Person | None = None


class RememberEnvironment(Struct, frozen=True):
    """From now on the conversation's commands run with this client's environment. There is no answer."""

    conversation: ConversationId


class GivenServer(Struct, frozen=True):
    """An MCP server that a client wants a conversation's agent to have: a command, or an address."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["stdio", "http", "sse"] = "stdio"


class GiveServers(Struct, frozen=True):
    """From now on the conversation's agent gets these MCP servers, in place of those given before. No answer."""

    conversation: ConversationId
    servers: tuple[GivenServer, ...]


class ListServers(Query[PlainAnswer], frozen=True):
    """{servers}: those that clients have given the conversation, by name and command; no secret."""

    conversation: ConversationId


class ReadHistory(Query[HistoryRead], frozen=True):
    """Stored events after a seq, or the last ones before a seq."""

    conversation: ConversationId
    after: int = 0
    limit: int = 256
    before: int | None = None


class ReadNews(Query[NewsRead], frozen=True):
    """Recently stored events of any conversation; waits for some if there are none."""

    after: int | None = None
    limit: int = 256
    wait_s: float = 0.0


class FindApprovalPlaces(Query[ApprovalPlaces], frozen=True):
    """Find the seq and the time at which open approvals were asked for."""

    questions: tuple[tuple[ConversationId, ApprovalId], ...]


class Fork(Query[StoredConversation], frozen=True):
    """A new conversation with the history of another up to a seq, which must not lie inside a turn."""

    conversation: ConversationId
    fork: ConversationId
    at: int | None = None
    name: str | None = None
    values: NewValues = field(default_factory=dict)
    by: str = ""


class Export(Query[ExportPiece], frozen=True):
    """A piece of the JSON lines. `place`: where the previous piece ended."""

    conversation: ConversationId
    place: tuple[int, int, int] | None = None


class Import(Query[ImportedConversation | PlainAnswer], frozen=True):
    """Plain {lines} while `more` follow. `partial`: the last line continues in the next request.

    `settings`: the person's present ones, in the last request of an import.
    """

    lines: tuple[str, ...]
    settings: Settings | None = None
    new_id: ConversationId | None = None
    upload: str | None = None
    more: bool = False
    partial: bool = False


class ReadUsage(Query[PlainAnswer], frozen=True):
    """Sum up spending, by group; `since` includes the whole day of that moment."""

    by: Literal["day", "model", "directory", "conversation"]
    since: float | None
    limit: int


class ReadBudget(Query[BudgetRead], frozen=True):
    """The budgets of a conversation, and the use of each. `limits`: new ones by scope and unit."""

    settings: Settings
    spent: Spent
    turn_spent: Spent
    limits: NewLimits


class ReadSharedBudgets(Query[PlainAnswer], frozen=True):
    """The budgets of the day and of the home. `limits` raise them, by scope.unit."""

    limits: NewLimits


class AskStatus(Query[PlainAnswer], frozen=True):
    """The state of the daemon itself."""


class ListClients(Query[PlainAnswer], frozen=True):
    """Connected clients."""


class KillClient(Query[PlainAnswer], frozen=True):
    connection: ConnectionId


class ReloadConfig(Query[PlainAnswer], frozen=True):
    """Read the config again; the answer lists the changes."""


class StopDaemon(Query[PlainAnswer], frozen=True):
    """Stop the daemon: running turns may go on for `drain_s`, then they are interrupted."""

    drain_s: float | None = None


class ReadConfig(Query[PlainAnswer], frozen=True):
    """The configuration in force, without secrets. `key` is dotted."""

    key: str | None = None


class ReadSavedConfig(Query[PlainAnswer], frozen=True):
    """The config file as it is now, without defaults: {value, path}."""


class AskKey(Query[PlainAnswer], frozen=True):
    """Check that there is a key for the model provider of new conversations: {key, openai}; no secret."""

    person: Person


class RunOnce(Query[PlainAnswer], frozen=True):
    """A command outside any conversation, under its sandbox: {exitCode, stdout, stderr}."""

    command: tuple[str, ...]
    timeout_ms: float | None = None
    cwd: str | None = None
    sandbox: SandboxPolicy | None = None
    person: Person | None = None


class DiffToRemote(Query[PlainAnswer], frozen=True):
    """{sha, diff} against the closest remote ancestor."""

    cwd: str


class FindFiles(Query[PlainAnswer], frozen=True):
    """{files}, the best first. Roots are relative to the client's directory.

    A later search of the same series replaces one that has not begun, which then finds nothing.
    """

    query: str
    roots: tuple[str, ...]
    series: str | None = None


class Search(Query[SearchHits], frozen=True):
    """Search the words of all conversations, newest first; with `best`, the best hits and no further page."""

    words: str
    conversation: ConversationId | None = None
    cwd: str | None = None
    since: float | None = None
    limit: int = 20
    before: int | None = None
    best: bool = False


class ListPrompts(Query[PlainAnswer], frozen=True):
    """{prompts}: usable saved prompts and skills of the client's directory, by name."""


class ReadPrompt(Query[PlainAnswer], frozen=True):
    """{description, text}: a prompt with its arguments filled in."""

    name: str
    arguments: Mapping[str, str]


class ListAgents(Query[PlainAnswer], frozen=True):
    """{agents}: those that this client can choose, and how to get the missing ones."""


class CheckAgent(Query[PlainAnswer], frozen=True):
    """Start an agent, ask for its abilities, and end it."""

    agent: str
    limit_s: float


class ListJobs(Query[PlainAnswer], frozen=True):
    """{jobs}: background commands, running or ended a while ago."""

    conversation: ConversationId | None = None


class ReadJob(Query[PlainAnswer], frozen=True):
    """Output of a background command after a place; waits for some if there is none."""

    job: str
    after: int = 0
    seconds: float = 0.0


class WriteJob(Query[PlainAnswer], frozen=True):
    job: str
    text: str
    end_input: bool = False


class WaitForJob(Query[PlainAnswer], frozen=True):
    job: str
    seconds: float


class EndJob(Query[PlainAnswer], frozen=True):
    job: str


SupervisorRequest = (
    ListPrompts
    | ReadPrompt
    | ListAgents
    | CheckAgent
    | ListJobs
    | ReadJob
    | WriteJob
    | WaitForJob
    | EndJob
    | MakeSettings
    | PermitSettings
    | AlterSettings
    | RememberEnvironment
    | GiveServers
    | ListServers
    | ReadHistory
    | ReadNews
    | FindApprovalPlaces
    | Fork
    | Export
    | Import
    | AskStatus
    | ReadUsage
    | ReadBudget
    | ReadSharedBudgets
    | ListClients
    | KillClient
    | ReloadConfig
    | StopDaemon
    | ReadConfig
    | ReadSavedConfig
    | AskKey
    | RunOnce
    | DiffToRemote
    | FindFiles
    | Search
)
