"""What actors tell each other: frozen all the way down, because nobody copies. A leaf.

Commands are imperative, news is past tense, effects are bare verbs. An effect that is addressed to somebody is the
message that this somebody gets: the core returns it, the shell delivers it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from actors.errors import GreenroomError, Refusal
from actors.events import ApprovalRequest, Delta, DurableEvent
from actors.ids import (
    ApprovalId,
    Caller,
    ConnectionId,
    ConversationId,
    InputId,
    SubscriptionId,
    TurnId,
)
from actors.items import InputItem
from actors.ports import Append, Head, Page, Record
from actors.settings import AbortReason, BusyPolicy, Decision, Settings


class Address(Protocol):
    """Where a message can be left. Telling never waits; a full mailbox raises MailboxFull in the sender."""

    def tell(self, message: object) -> None: ...


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


# --- commands to a conversation; `by` names the client for people, `caller` gets the reply -----


@dataclass(frozen=True, slots=True)
class Begin:
    """The first message of a new conversation."""

    caller: Caller | None
    settings: Settings
    name: str | None = None
    forked_from: str | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Input. With `await_end` the reply comes when the turn that took it has ended, otherwise when it is stored."""

    caller: Caller | None
    items: tuple[InputItem, ...]
    policy: BusyPolicy = BusyPolicy.STEER
    settings: Settings | None = None
    key: str | None = None
    await_end: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class Interrupt:
    caller: Caller | None
    by: str = ""
    kill: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """The caller takes an earlier request back, whatever became of it."""

    caller: Caller
    by: str = ""


@dataclass(frozen=True, slots=True)
class AnswerApproval:
    caller: Caller | None
    approval: ApprovalId
    decision: Decision
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Attach:
    """Subscribe from a cursor: the last seq the client has, 0 for all of it, None for what comes from now on."""

    caller: Caller | None
    connection: ConnectionId
    subscription: SubscriptionId
    after: int | None = 0
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Detach:
    caller: Caller | None
    subscription: SubscriptionId


@dataclass(frozen=True, slots=True)
class Ready:
    """The reader has taken its slice and may get the next."""

    subscription: SubscriptionId


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    connection: ConnectionId


@dataclass(frozen=True, slots=True)
class Rename:
    caller: Caller | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Archive:
    caller: Caller | None
    archived: bool = True


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    caller: Caller | None
    settings: Settings


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    caller: Caller | None


@dataclass(frozen=True, slots=True)
class WithdrawInput:
    caller: Caller | None
    input: InputId
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Inspect:
    caller: Caller | None


@dataclass(frozen=True, slots=True)
class Restart:
    """Gives a conversation that was given up as failed a new life."""

    caller: Caller | None
    by: str = ""


Command = (
    Begin
    | Send
    | Interrupt
    | CancelRequest
    | AnswerApproval
    | Attach
    | Detach
    | Ready
    | ConnectionClosed
    | Rename
    | Archive
    | ChangeSettings
    | ResumeQueue
    | WithdrawInput
    | Inspect
    | Restart
)


# --- news to a conversation --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputWanted:
    """The agent is about to ask the model and takes what was said meanwhile."""


AgentNews = DurableEvent | Delta | InputWanted


@dataclass(frozen=True, slots=True)
class AgentOutput:
    turn: TurnId
    batch: tuple[AgentNews, ...]


@dataclass(frozen=True, slots=True)
class Completed:
    last_message: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model, or the way to it, gave up; the agent itself is well."""

    message: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """Cancelled as asked; nothing of it runs any more."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """Ended while it waited for answers; an answer starts it again from the journal."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """A bug in the agent."""

    message: str


Outcome = Completed | ModelFailed | Stopped | Suspended | Crashed


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Sent once per RunAgent, when the last process of the turn is gone. Nothing of the turn follows it."""

    turn: TurnId
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Committed:
    """Everything up to `seq` of this epoch is on disk."""

    seq: int
    epoch: int


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """The journal could not keep it. Nothing of this epoch from here on was kept."""

    error: GreenroomError
    epoch: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """A piece of history for a reader that is further back than memory goes."""

    subscription: SubscriptionId
    page: Page | None


@dataclass(frozen=True, slots=True)
class TimerFired:
    name: str


@dataclass(frozen=True, slots=True)
class Park:
    """The registry routes nothing here any more. Leave if nothing is going on, else say so."""


@dataclass(frozen=True, slots=True)
class Revived:
    """The first input after a restore: what the last life left open is to be settled."""

    reason: AbortReason | None = None  # None: it was parked in order
    message: str = ""
    gave_up: str | None = None  # the traceback, when it failed too often to be tried again
    survivors: "Survivors | None" = None


News = AgentOutput | TurnEnded | Committed | AppendRefused | PageRead | TimerFired | Park | Revived

Input = Command | News


# --- what a conversation hands out -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PendingInput:
    """Accepted, stored, not taken by a turn yet."""

    id: InputId
    items: tuple[InputItem, ...]
    policy: BusyPolicy
    settings: Settings | None = None
    key: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class RunAgent:
    """Start a turn, or go on with one in the middle when `resume` is set. All of it is on disk up to `seq`."""

    conversation: ConversationId
    turn: TurnId
    settings: Settings
    seq: int
    resume: bool = False
    inputs: tuple[PendingInput, ...] = ()


@dataclass(frozen=True, slots=True)
class StopAgent:
    turn: TurnId
    kill: bool = False


@dataclass(frozen=True, slots=True)
class SuspendAgent:
    """Nothing but an answer is awaited: end without an outcome, an answer will start it again."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class GiveInput:
    """What was said meanwhile; empty if nothing was."""

    turn: TurnId
    inputs: tuple[PendingInput, ...]


@dataclass(frozen=True, slots=True)
class AnswerAgent:
    turn: TurnId
    approval: ApprovalId
    decision: Decision
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TakeMore:
    """The last batch was taken; the next may come."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class AbandonAgent:
    """The conversation's actor is gone: end the turn's processes and tell nobody."""

    conversation: ConversationId


AgentOrder = RunAgent | StopAgent | SuspendAgent | GiveInput | AnswerAgent | TakeMore | AbandonAgent


@dataclass(frozen=True, slots=True)
class Begun:
    conversation: ConversationId
    settings: Settings


@dataclass(frozen=True, slots=True)
class Accepted:
    """Input is stored. `turn` is the one that took it, or None while it waits."""

    input: InputId
    turn: TurnId | None
    seq: int
    queued: int = 0
    duplicate: bool = False


class Ending(StrEnum):
    COMPLETED = "completed"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    REPLACED = "replaced"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How the turn ended that took the caller's input. `message` is the answer, or what went wrong."""

    turn: TurnId
    ending: Ending
    message: str | None
    seq: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Everything of the turn is gone. `turn` is None where nothing was running."""

    turn: TurnId | None
    ending: Ending | None
    queued: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    approval: ApprovalId
    decision: Decision


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
    readers: tuple["Reader", ...]
    tokens: int
    created: float
    updated: float
    preview: str
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    connection: ConnectionId
    subscription: SubscriptionId
    seq: int
    behind: int
    read_only: bool


@dataclass(frozen=True, slots=True)
class Attached:
    """The subscription stands; slices follow. `seq` is the last stored event at this moment."""

    subscription: SubscriptionId
    summary: Summary
    seq: int


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to say than that it was done."""


Answer = Begun | Accepted | TurnResult | Interrupted | Answered | Summary | Attached | Done | Refusal | GreenroomError


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The one answer of a request. `settles`: its id means nothing any more."""

    caller: Caller
    answer: Answer
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Settle:
    """The turn of a request that was answered long ago has ended: its id means nothing any more."""

    caller: Caller


@dataclass(frozen=True, eq=False)
class Slice:
    """What a reader has not seen: stored events, then the unfinished tail. Shared by all who stand at the same place.

    `live` says that it reaches the present. `pending`, on the first live slice of a subscription, are the questions
    that wait for an answer. `encoded` is where dialects keep the bytes they made of it; each key is written once.
    """

    conversation: ConversationId
    records: tuple[Record, ...]
    deltas: tuple[Delta, ...] = ()
    live: bool = False
    lagged: bool = False
    gap: tuple[int, int] | None = None
    pending: tuple[ApprovalRequest, ...] | None = None
    ts: float = 0.0
    turn: TurnId | None = None
    encoded: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deliver:
    connection: ConnectionId
    subscription: SubscriptionId
    slice: Slice


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """The conversation ended the subscription by itself."""

    subscription: SubscriptionId
    reason: str


@dataclass(frozen=True, slots=True)
class EndSubscription:
    connection: ConnectionId
    news: Unsubscribed


@dataclass(frozen=True, slots=True)
class ReadPage:
    subscription: SubscriptionId
    after: int
    limit: int


@dataclass(frozen=True, slots=True)
class SetTimer:
    name: str
    delay_s: float


@dataclass(frozen=True, slots=True)
class OfferToPark:
    """Idle long enough."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing is going on and everything is stored: the actor ends."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Something came in between: go on routing here."""


Effect = AgentOrder | ReplyTo | Settle | Deliver | EndSubscription | ReadPage | SetTimer | OfferToPark | Leave | Stay


@dataclass(frozen=True, slots=True)
class Survivors:
    """What a failed session owes to others, handed to its successor."""

    readers: tuple["ReaderState", ...]
    callers: tuple[Caller, ...]


@dataclass(frozen=True, slots=True)
class ReaderState:
    subscription: SubscriptionId
    connection: ConnectionId
    seq: int
    in_flight: bool
    read_only: bool


# --- between a conversation, the journal's actors and the registry -----------------------------


@dataclass(frozen=True, slots=True)
class Store:
    """Keep this. `reply_to` learns when it is durable: Committed or AppendRefused."""

    append: Append
    reply_to: Address
    epoch: int


@dataclass(frozen=True, slots=True)
class Load:
    """Read what a session needs to live again. Goes through the journalist, so that all earlier stores come first."""

    conversation: ConversationId
    reply_to: Address


@dataclass(frozen=True, slots=True)
class Loaded:
    head: Head | None
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class FetchPage:
    conversation: ConversationId
    read: ReadPage
    reply_to: Address
