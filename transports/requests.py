"""What a dialect asks of the supervisor: everything that is no conversation's own business. A leaf.

Each carries a token of the dialect's choosing, by which the answer finds its request. Answers are values; a refusal
is one of actors.errors. Whoever serves them runs elsewhere and may take its time: the connection goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actors.errors import GreenroomError
from actors.ids import ApprovalId, ConnectionId, ConversationId
from actors.records import Page, Record
from actors.settings import SandboxPolicy, Settings

Token = object


@dataclass(frozen=True, slots=True)
class Person:
    """What the person behind a client has set for it. The client may say otherwise, up to a ceiling."""

    model: str | None = None
    profile: str | None = None
    cwd: str | None = None
    approval_policy: str | None = None
    sandbox: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MakeSettings:
    """Typed arguments over overrides over profile over file over defaults. Relative to the client's directory.

    `person`: what stands where the request says nothing, and how far it may go. None: the client is the person.
    """

    token: Token
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


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether a client may have these settings in a conversation that has `current`. Answer: SettingsMade."""

    token: Token
    settings: Settings
    current: Settings
    person: Person


@dataclass(frozen=True, slots=True)
class SettingsMade:
    """`notice`: one line for a person, said once per client: which model was chosen, and how to choose another."""

    settings: Settings
    notice: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RememberEnvironment:
    """The conversation's commands run with this client's environment from now on. No answer."""

    token: Token
    conversation: ConversationId


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """Stored events after a cursor. Answer: Page, or a refusal."""

    token: Token
    conversation: ConversationId
    after: int = 0
    limit: int = 256


@dataclass(frozen=True, slots=True)
class HistoryRead:
    page: Page


@dataclass(frozen=True, slots=True)
class ReadNews:
    """What was stored lately in any conversation, waiting for it if need be. Answer: NewsRead."""

    token: Token
    after: int | None = None
    limit: int = 256
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class NewsRead:
    """`cursor` is where to go on. `lagged`: some before the first of these are not here."""

    records: tuple[tuple[ConversationId, Record], ...]
    cursor: int
    lagged: bool = False


@dataclass(frozen=True, slots=True)
class FindAsked:
    """Where and when open questions were asked. Answer: AskedFound, in the same order; None where not known."""

    token: Token
    questions: tuple[tuple[ConversationId, ApprovalId], ...]


@dataclass(frozen=True, slots=True)
class AskedFound:
    places: tuple[tuple[int, float] | None, ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """A new conversation with the history of another up to a seq, which must not lie inside a turn."""

    token: Token
    conversation: ConversationId
    fork: ConversationId
    at: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A piece of the JSON lines; `place` is where the piece before ended. Answer: Exported."""

    token: Token
    conversation: ConversationId
    place: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """`place` is where the next piece begins; None after the last. `partial`: the last line goes on there."""

    lines: tuple[str, ...]
    place: tuple[int, int, int] | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Import:
    """Answer: Stored; Plain {lines} while `more` follow. `partial`: the last line goes on in the next request."""

    token: Token
    lines: tuple[str, ...]
    new_id: ConversationId | None = None
    upload: str | None = None
    more: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """Fork and import answer with the conversation they made."""

    conversation: ConversationId


@dataclass(frozen=True, slots=True)
class AskStatus:
    token: Token


@dataclass(frozen=True, slots=True)
class ListClients:
    token: Token


@dataclass(frozen=True, slots=True)
class KillClient:
    token: Token
    connection: ConnectionId


@dataclass(frozen=True, slots=True)
class Reload:
    """Answer: Plain, with what changed."""

    token: Token


@dataclass(frozen=True, slots=True)
class Down:
    """Stop the daemon: running turns may go on for so long, then they are interrupted."""

    token: Token
    drain_s: float | None = None


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """The configuration in force, without secrets. `key` is dotted. Answer: Plain."""

    token: Token
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ReadSavedConfig:
    """What the file says, as it is now and without what it leaves to defaults. Answer: Plain {value, path}."""

    token: Token


@dataclass(frozen=True, slots=True)
class AskKey:
    """Whether there is a key for the model provider of new conversations. Answer: Plain {key, openai}; no secret."""

    token: Token
    person: Person


@dataclass(frozen=True, slots=True)
class RunOnce:
    """A command outside of any conversation, under its sandbox. Answer: Plain {exitCode, stdout, stderr}."""

    token: Token
    command: tuple[str, ...]
    timeout_ms: float | None = None
    cwd: str | None = None
    sandbox: SandboxPolicy | None = None
    person: Person | None = None


@dataclass(frozen=True, slots=True)
class DiffToRemote:
    """Answer: Plain {sha, diff} against the closest remote ancestor."""

    token: Token
    cwd: str


@dataclass(frozen=True, slots=True)
class FindFiles:
    """Answer: Plain {files}, the best first. Roots are relative to the client's directory.

    A later search of the same series takes the place of one that has not begun, which finds nothing then.
    """

    token: Token
    query: str
    roots: tuple[str, ...]
    series: str | None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer that goes to the wire as it is."""

    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Served:
    """The answer to the request with this token."""

    token: Token
    answer: SettingsMade | HistoryRead | NewsRead | AskedFound | Exported | Stored | Plain | GreenroomError


Request = (
    MakeSettings
    | Permit
    | RememberEnvironment
    | ReadHistory
    | ReadNews
    | FindAsked
    | Fork
    | Export
    | Import
    | AskStatus
    | ListClients
    | KillClient
    | Reload
    | Down
    | ReadConfig
    | ReadSavedConfig
    | AskKey
    | RunOnce
    | DiffToRemote
    | FindFiles
)
