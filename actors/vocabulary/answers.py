"""Answers to requests, and the outside view of a conversation. A leaf.

Refusals are answers too: expected, returned, never raised between actors.
"""

from dataclasses import dataclass
from enum import StrEnum

from actors.vocabulary.errors import GreenroomError, Refusal
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.records import Head, HeadPage
from actors.vocabulary.settings import Decision, Settings


class Condition(StrEnum):
    """The one word that `ls` shows."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTING = "interrupting"
    PARKED = "parked"
    FAILED = "failed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Begun:
    conversation: ConversationId
    settings: Settings


@dataclass(frozen=True, slots=True)
class Accepted:
    """The input is stored. `turn` took it, or is None while the input waits.

    `ended` is the seq at which that turn ended, if the input was repeated after that.
    """

    input: InputId
    turn: TurnId | None
    seq: int
    queued: int = 0
    duplicate: bool = False
    ended: int | None = None


class Ending(StrEnum):
    COMPLETED = "completed"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The end of the turn that took the caller's input. `message` is the answer, or what went wrong."""

    turn: TurnId
    ending: Ending
    message: str | None
    seq: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The turn has ended, and its processes are gone. `turn` is None where nothing was running."""

    turn: TurnId | None
    ending: Ending | None
    queued: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    approval: ApprovalId
    decision: Decision


@dataclass(frozen=True, slots=True)
class Reader:
    connection: ConnectionId
    subscription: SubscriptionId
    seq: int
    behind: int
    read_only: bool


@dataclass(frozen=True, slots=True)
class Summary:
    conversation: ConversationId
    condition: Condition
    name: str | None
    settings: Settings
    seq: int
    turn: TurnId | None
    queued: int
    paused: bool
    pending: tuple[ApprovalRequest, ...]
    readers: tuple[Reader, ...]
    tokens: int
    created: float
    updated: float
    preview: str
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """The subscription began; slices follow. `seq` is the last stored event at this moment."""

    subscription: SubscriptionId
    summary: Summary
    seq: int


@dataclass(frozen=True, slots=True)
class Done:
    """The request was carried out, and there is nothing more to say."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Conversations; a list that may be long comes in pages."""

    heads: tuple[Head, ...]


@dataclass(frozen=True, slots=True)
class ListChanged:
    """A conversation has come or gone. `number` asks for the next change."""

    number: int


@dataclass(frozen=True, slots=True)
class PendingApprovals:
    requests: tuple[tuple[ConversationId, ApprovalRequest], ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    conversations: tuple[ConversationId, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    conversation: ConversationId


Answer = (
    Begun
    | Accepted
    | TurnResult
    | Interrupted
    | Answered
    | Summary
    | Attached
    | Done
    | Refusal
    | GreenroomError
    | Listing
    | HeadPage
    | ListChanged
    | PendingApprovals
    | Candidates
    | Resolved
)
