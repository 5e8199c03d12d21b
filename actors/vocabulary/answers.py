"""Answers to requests, and the outside view of a conversation. A leaf.

Refusals are answers too: expected, returned, never raised between actors.
"""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from actors.vocabulary.agent_description import AgentDescription
from actors.vocabulary.errors import GreenroomError, Refusal
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.records import Head, HeadPage
from actors.vocabulary.settings import BusyPolicy, Decision, SettingChange, Settings
from actors.vocabulary.spent_amounts import NOTHING, Spent


class Condition(StrEnum):
    """The one word that `ls` shows. Failed, denied, lost and over budget stand until the next message."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTING = "interrupting"
    PARKED = "parked"
    FAILED = "failed"
    DENIED = "denied"
    LOST = "lost"
    OVER_BUDGET = "over-budget"
    ARCHIVED = "archived"


class StartedConversation(Struct, frozen=True):
    conversation: ConversationId
    settings: Settings


class AcceptedInput(Struct, frozen=True):
    """The input is stored. `turn` took it, or is None while the input waits.

    `ended` is the seq at which that turn ended, if the input was repeated after that.
    """

    input: InputId
    turn: TurnId | None
    seq: int
    queued: int = 0
    duplicate: bool = False
    ended: int | None = None


class InputFound(Struct, frozen=True):
    """An input, and what has become of it. `turn` took it; `ended` is the seq at which that turn ended."""

    input: InputId
    turn: TurnId | None
    ended: int | None = None


class Ending(StrEnum):
    COMPLETED = "completed"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    FAILED = "failed"
    LOST = "lost"
    BUDGET = "budget"


# Of a conversation's last turn. Denied: somebody said no to one of its questions, and no error or budget ended it.
LastEnding = Literal["completed", "error", "interrupted", "replaced", "failed", "lost", "budget", "denied"]


class TurnResult(Struct, frozen=True):
    """The end of the turn that took the caller's input. `message` is the answer, or what went wrong.

    `by`: the clients that asked for its end.
    """

    turn: TurnId
    ending: Ending
    message: str | None
    seq: int
    by: tuple[str, ...] = ()


class WaitingInput(Struct, frozen=True):
    """Accepted input that no turn has taken yet. `preview`: its first words; `since`: when it was accepted."""

    input: InputId
    policy: BusyPolicy
    preview: str
    items: tuple[InputItem, ...]
    by: str
    since: float


class InterruptedTurn(Struct, frozen=True):
    """The turn has ended, and its processes are gone. `turn` is None where nothing was running.

    `waiting`: the input that is held until somebody says more, in the order in which it would run.
    """

    turn: TurnId | None
    ending: Ending | None
    waiting: tuple[WaitingInput, ...] = ()

    @property
    def queued(self) -> int:
        return len(self.waiting)


class AnsweredApproval(Struct, frozen=True):
    approval: ApprovalId
    decision: Decision
    option: str = ""
    outside: bool = False


class ReaderStatus(Struct, frozen=True):
    connection: ConnectionId
    subscription: SubscriptionId
    seq: int
    behind: int
    read_only: bool


class Summary(Struct, frozen=True):
    conversation: ConversationId
    condition: Condition
    name: str | None
    settings: Settings
    seq: int
    turn: TurnId | None
    waiting: tuple[WaitingInput, ...]
    paused: bool
    pending: tuple[ApprovalRequest, ...]
    readers: tuple[ReaderStatus, ...]
    tokens: int
    created: float
    updated: float
    preview: str
    failed: str | None = None
    ended: LastEnding | None = None
    self_named: bool = False
    context_tokens: int | None = None
    context_window: int | None = None
    usd: float = 0.0
    unpriced: int = 0
    uncounted: int = 0
    spent: Spent = NOTHING
    turn_spent: Spent = NOTHING
    agent_now: AgentDescription | None = None

    @property
    def queued(self) -> int:
        return len(self.waiting)


class ChangedSettings(Struct, frozen=True):
    """The settings as they are now, what of them has changed, and the turn that goes on with them."""

    settings: Settings
    name: str | None
    changed: tuple[SettingChange, ...]
    turn: TurnId | None


class AttachedReader(Struct, frozen=True):
    """The subscription began; slices follow. `seq` is the last stored event at this moment."""

    subscription: SubscriptionId
    summary: Summary
    seq: int


class Done(Struct, frozen=True):
    """The request was carried out, and there is nothing more to say."""


class ConversationList(Struct, frozen=True):
    """Conversations; a list that may be long comes in pages."""

    heads: tuple[Head, ...]


class ListChanged(Struct, frozen=True):
    """A conversation has come or gone. `number` asks for the next change."""

    number: int


class PendingApprovals(Struct, frozen=True):
    requests: tuple[tuple[ConversationId, ApprovalRequest], ...]


class Candidates(Struct, frozen=True):
    conversations: tuple[ConversationId, ...]


class ResolvedReference(Struct, frozen=True):
    conversation: ConversationId


Answer = (
    StartedConversation
    | AcceptedInput
    | InputFound
    | TurnResult
    | InterruptedTurn
    | AnsweredApproval
    | Summary
    | AttachedReader
    | ChangedSettings
    | Done
    | Refusal
    | GreenroomError
    | ConversationList
    | HeadPage
    | ListChanged
    | PendingApprovals
    | Candidates
    | ResolvedReference
)
