"""What actors tell each other: frozen all the way down, because nobody copies. A leaf.

Commands are imperative, news is past tense, effects are bare verbs. An effect that is addressed to somebody is the
message that this somebody gets: the core returns it, the shell delivers it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from actors.answers import Answer
from actors.errors import GreenroomError
from actors.events import ApprovalRequest, Delta
from actors.ids import ApprovalId, Caller, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.items import InputItem
from actors.orders import AbandonAgent, AgentAbandoned, AgentOrder, AgentOutput, TurnEnded
from actors.records import Append, Head, Page, Record
from actors.settings import AbortReason, BusyPolicy, Decision, Settings


class Address(Protocol):
    """Where a message can be left. Telling never waits; a full mailbox raises MailboxFull in the sender."""

    def tell(self, message: object) -> None: ...


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
class PassOn:
    """A client can't answer this question. `asked`: it was put to it, and came back; otherwise it never could be."""

    connection: ConnectionId
    approval: ApprovalId
    asked: bool = True
    by: str = ""


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
class Retire:
    """Leave for good: the conversation is about to be deleted."""

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
    | PassOn
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
    | Retire
)


# --- news to a conversation --------------------------------------------------------------


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
class Quiesce:
    """The daemon is stopping: start nothing new, put what only waits on paper; with `interrupt`, stop what runs."""

    interrupt: bool = False


@dataclass(frozen=True, slots=True)
class Revived:
    """The first input after a restore: what the last life left open is to be settled. Parked in order: nothing is."""

    reason: AbortReason = AbortReason.LOST
    message: str = "the daemon was stopped while the turn ran"
    gave_up: str | None = None  # the traceback, when it failed too often to be tried again
    survivors: "Survivors | None" = None


News = AgentOutput | TurnEnded | Committed | AppendRefused | PageRead | TimerFired | Park | Quiesce | Revived

Input = Command | News


# --- what a conversation has done ------------------------------------------------------


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
    passes: tuple[tuple[ApprovalId, frozenset[ConnectionId]], ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderState:
    subscription: SubscriptionId
    connection: ConnectionId
    seq: int
    in_flight: bool
    read_only: bool


# --- between a conversation, the journal's actors and the registry -----------------------


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
    """`error`: the journal could not be read, which is not the same as knowing of no such conversation."""

    head: Head | None
    records: tuple[Record, ...]
    error: GreenroomError | None = None


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that only the writer of the journal may do, between two commits. `reply_to` gets ChoreDone."""

    work: Callable[[], object]
    reply_to: Address


@dataclass(frozen=True, slots=True)
class ChoreDone:
    result: object


@dataclass(frozen=True, slots=True)
class Erase:
    """Forget everything of a conversation that has no owner. `reply_to` gets Erased."""

    conversation: ConversationId
    reply_to: Address


@dataclass(frozen=True, slots=True)
class Erased:
    """It is gone from the disk; with an error, it is there as before."""

    conversation: ConversationId
    error: GreenroomError | None = None


@dataclass(frozen=True, slots=True)
class FetchPage:
    conversation: ConversationId
    read: ReadPage
    reply_to: Address


# --- to and from the registry ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToConversation:
    """A command for whoever owns the conversation now; wakes it if it is parked."""

    conversation: ConversationId
    command: Command


@dataclass(frozen=True, slots=True)
class Create:
    """A new conversation under a fresh id that its creator made up."""

    conversation: ConversationId
    begin: Begin


@dataclass(frozen=True, slots=True)
class ListConversations:
    caller: Caller
    archived: bool = False


@dataclass(frozen=True, slots=True)
class WatchList:
    """Answered when a conversation has come or gone: since the change with this number, or from now on."""

    caller: Caller
    seen: int | None = None


@dataclass(frozen=True, slots=True)
class ListApprovals:
    caller: Caller
    conversation: ConversationId | None = None


@dataclass(frozen=True, slots=True)
class Resolve:
    """Which conversation is meant by an id, a unique prefix of at least two characters, or a name?"""

    caller: Caller
    reference: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a conversation. Done when nobody owns it and the disk has forgotten it."""

    conversation: ConversationId
    caller: Caller


@dataclass(frozen=True, slots=True)
class Trim:
    """Delete what is asleep: the least recently used beyond `most`, and what nobody has touched for too long."""

    most: int | None = None
    untouched_since: float | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """The index of what there is, at start: one head per conversation, and the one process that serves them is us."""

    heads: tuple[Head, ...]


@dataclass(frozen=True, slots=True)
class HeadChanged:
    """What `ls` and `approvals` show of a conversation is different now."""

    head: Head
    pending: tuple[ApprovalRequest, ...]


@dataclass(frozen=True, slots=True)
class ParkOffered:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class Left:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class Stayed:
    conversation: ConversationId
    generation: int


@dataclass(frozen=True, slots=True)
class SessionFailed:
    """A bug or a poison message ended a session. `leftovers` is what nobody has handled yet."""

    conversation: ConversationId
    generation: int
    message: str
    traceback: str
    survivors: Survivors
    leftovers: tuple[Input, ...]


RegistryInput = (
    ToConversation
    | Create
    | CancelRequest
    | ConnectionClosed
    | ListConversations
    | WatchList
    | ListApprovals
    | Resolve
    | Remove
    | Trim
    | Erased
    | Known
    | HeadChanged
    | Settle
    | ParkOffered
    | Left
    | Stayed
    | SessionFailed
    | AgentAbandoned
    | Quiesce
)


@dataclass(frozen=True, slots=True)
class StartSession:
    """Give a conversation a live owner. `first` are the messages that waited for it, in order."""

    conversation: ConversationId
    generation: int
    revived: Revived
    first: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Forward:
    conversation: ConversationId
    message: Input


@dataclass(frozen=True, slots=True)
class EraseRows:
    """Nobody owns it any more: the disk is to forget it."""

    conversation: ConversationId


RoutingEffect = StartSession | Forward | AbandonAgent | EraseRows | ReplyTo | EndSubscription


# --- the lanes of a mailbox ------------------------------------------------------------------------------------

# What people say goes before what the machinery reports, in the order they said it: an interrupt does not wait behind
# output, and never overtakes the message it is meant for.
COMMANDS = (
    Begin,
    Send,
    Interrupt,
    CancelRequest,
    AnswerApproval,
    PassOn,
    Attach,
    Detach,
    ConnectionClosed,
    Rename,
    Archive,
    ChangeSettings,
    ResumeQueue,
    WithdrawInput,
    Inspect,
    Restart,
    Retire,
)
SAID_BY_CLIENTS = (
    *COMMANDS,
    Quiesce,
    ToConversation,
    Create,
    ListConversations,
    WatchList,
    ListApprovals,
    Remove,
    Resolve,
)

# What the registry learns goes with them: who was answered and asks at once must find what the answer said, and
# who takes a request back that has just been answered must find nothing.
FIRST_LANE = (*SAID_BY_CLIENTS, Known, HeadChanged, Settle)

UNHURRIED = (Ready,)  # means nothing to a session that has nothing more for this reader

# Of those, what a full mailbox takes all the same: it makes work less, or there is one for each request, commit or
# connection.
LESS_WORK = (Quiesce, Interrupt, CancelRequest, AnswerApproval, PassOn, Detach, ConnectionClosed, WithdrawInput)
ALWAYS_TAKEN = (*LESS_WORK, Known, HeadChanged, Settle, WatchList)
