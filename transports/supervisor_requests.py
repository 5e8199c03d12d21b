"""Requests of a dialect to the supervisor: all those that are not for one conversation. A leaf.

Answers are the structs of `supervisor_answers`; a refusal is one of actors.vocabulary.errors. The supervisor serves
them elsewhere and may take its time: the connection goes on.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from actors.messages.conversation import Query
from actors.vocabulary.answers import Done
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId
from actors.vocabulary.settings import SandboxPolicy, Settings
from actors.vocabulary.spent_amounts import Spent
from transports.supervisor_answers import (
    Agents,
    AgentTrial,
    ApprovalPlaces,
    BudgetRead,
    Budgets,
    Clients,
    ConfigValue,
    DaemonStatus,
    ExportedHistory,
    FoundFiles,
    HistoryRead,
    ImportedConversation,
    Job,
    JobOutput,
    Jobs,
    MenuPrompts,
    NewsRead,
    PromptText,
    ProviderKey,
    ReloadedConfig,
    RemoteDiff,
    SearchHits,
    Servers,
    SettingsMade,
    SingleCommandResult,
    StoppingDaemon,
    StoredConversation,
    Usage,
)


class Person(Struct, frozen=True):
    """The settings of the person whose client this is. The client may choose others, up to a ceiling."""

    agent: str | None = None
    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: str | None = None
    sandbox: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


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


class ListServers(Query[Servers], frozen=True):
    """The servers that clients have given the conversation, by name and command; no secret."""

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


class Export(Query[ExportedHistory], frozen=True):
    """Write the history into an empty file of the client's."""

    conversation: ConversationId
    file: str


class Import(Query[ImportedConversation], frozen=True):
    """Store the history in a file. `settings`: the person's present ones."""

    file: str
    settings: Settings
    new_id: ConversationId | None = None


class ReadUsage(Query[Usage], frozen=True):
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


class ReadSharedBudgets(Query[Budgets], frozen=True):
    """The budgets of the day and of the home. `limits` raise them, by scope.unit."""

    limits: NewLimits


class AskStatus(Query[DaemonStatus], frozen=True):
    """The state of the daemon itself."""


class ListClients(Query[Clients], frozen=True):
    """Connected clients."""


class KillClient(Query[Done], frozen=True):
    connection: ConnectionId


class ReloadConfig(Query[ReloadedConfig], frozen=True):
    """Read the config again; the answer lists the changes."""


class StopDaemon(Query[StoppingDaemon], frozen=True):
    """Stop the daemon: running turns may go on for `drain_s`, then they are interrupted."""

    drain_s: float | None = None


class ReadConfig(Query[ConfigValue], frozen=True):
    """The configuration in force, without secrets. `key` is dotted."""

    key: str | None = None


class ReadSavedConfig(Query[ConfigValue], frozen=True):
    """The config file as it is now, without defaults."""


class AskKey(Query[ProviderKey], frozen=True):
    """Check that there is a key for the model provider of new conversations; no secret."""

    person: Person


class RunOnce(Query[SingleCommandResult], frozen=True):
    """A command outside any conversation, under its sandbox."""

    command: tuple[str, ...]
    timeout_ms: float | None = None
    cwd: str | None = None
    sandbox: SandboxPolicy | None = None
    person: Person | None = None


class DiffToRemote(Query[RemoteDiff], frozen=True):
    """The diff against the closest remote ancestor."""

    cwd: str


class FindFiles(Query[FoundFiles], frozen=True):
    """Files whose names fit. Roots are relative to the client's directory.

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
    cursor: str | None = None
    best: bool = False


class ListPrompts(Query[MenuPrompts], frozen=True):
    """Usable saved prompts and skills of the client's directory, by name."""


class ReadPrompt(Query[PromptText], frozen=True):
    """A prompt with its arguments filled in."""

    name: str
    arguments: Mapping[str, str]


class ListAgents(Query[Agents], frozen=True):
    """The agents that this client can choose, and how to get the missing ones."""


class CheckAgent(Query[AgentTrial], frozen=True):
    """Start an agent, ask for its abilities, and end it."""

    agent: str
    limit_s: float


class ListJobs(Query[Jobs], frozen=True):
    """Background commands, running or ended a while ago."""

    conversation: ConversationId | None = None


class ReadJob(Query[JobOutput], frozen=True):
    """Output of a background command after a place; waits for some if there is none."""

    job: str
    after: int = 0
    seconds: float = 0.0


class WriteJob(Query[Job], frozen=True):
    job: str
    text: str
    end_input: bool = False


class WaitForJob(Query[Job], frozen=True):
    job: str
    seconds: float


class EndJob(Query[Job], frozen=True):
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
