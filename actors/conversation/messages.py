"""Messages to a conversation: commands of people, news of the machinery. Frozen all the way down: nobody copies.

Commands are imperative, news is past tense. What the conversation then does is in `effects`.
"""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from actors.conversation.effects import Survivors
from actors.conversation.orders import AgentOutput, TurnEnded
from actors.vocabulary.answers import Accepted, Answered, Attached, Begun, Done, Interrupted, Summary, TurnResult
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, InputId, SubscriptionId
from actors.vocabulary.items import InputItem
from actors.vocabulary.records import Page
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings

Message_contra = TypeVar("Message_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class Address(Protocol[Message_contra]):
    """An address for these messages. Telling never waits; a full mailbox raises MailboxFull in the sender."""

    def tell(self, message: Message_contra) -> None: ...


class Query(Generic[Answer_co]):
    """A message with an answer: a value of this type, or a refusal."""

    __slots__ = ()


# --- commands to a conversation; `by` names the client for people -----


@dataclass(frozen=True, slots=True)
class Begin(Query[Begun]):
    """The first message of a new conversation."""

    settings: Settings
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Send(Query[Accepted | TurnResult]):
    """Input. With `await_end` the reply comes when the turn that took it has ended, otherwise when it is stored.

    `gone_s`: the turn is stopped so long after the caller's connection closed, unless somebody else is there.
    `input`: an id that nobody else has, by which the sender knows the turn that takes it; else it gets one here.
    """

    items: tuple[InputItem, ...]
    policy: BusyPolicy = BusyPolicy.STEER
    settings: Settings | None = None
    key: str | None = None
    await_end: bool = False
    by: str = ""
    gone_s: float | None = None
    input: InputId | None = None


@dataclass(frozen=True, slots=True)
class Interrupt(Query[Interrupted]):
    """`clear` also withdraws what waits for a turn of its own; otherwise it is paused."""

    by: str = ""
    kill: bool = False
    message: str = ""
    clear: bool = False


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Take back an earlier request of this caller, whether its input waits or runs."""

    caller: Caller
    by: str = ""


@dataclass(frozen=True, slots=True)
class AnswerApproval(Query[Answered]):
    approval: ApprovalId
    decision: Decision
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PassOn:
    """A client can't answer this question. `asked`: it was asked and passed it on; otherwise it can't be asked.

    `reason`: given to the model if nobody else can answer.
    """

    connection: ConnectionId
    approval: ApprovalId
    asked: bool = True
    by: str = ""
    reason: str = "no client that was asked could answer it"


@dataclass(frozen=True, slots=True)
class Attach(Query[Attached]):
    """Subscribe from a cursor: the last seq the client has, 0 for all of it, None for what comes from now on."""

    connection: ConnectionId
    subscription: SubscriptionId
    after: int | None = 0
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Detach(Query[Done]):
    subscription: SubscriptionId


@dataclass(frozen=True, slots=True)
class Ready:
    """The reader has taken its slice and may get the next."""

    subscription: SubscriptionId


@dataclass(frozen=True, slots=True)
class ConnectionClosed:
    connection: ConnectionId


@dataclass(frozen=True, slots=True)
class Rename(Query[Done]):
    name: str | None


@dataclass(frozen=True, slots=True)
class Archive(Query[Done]):
    archived: bool = True


@dataclass(frozen=True, slots=True)
class ChangeSettings(Query[Done]):
    settings: Settings


@dataclass(frozen=True, slots=True)
class ResumeQueue(Query[Done]):
    """Let waiting input go on."""


@dataclass(frozen=True, slots=True)
class WithdrawInput(Query[Done]):
    input: InputId
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Inspect(Query[Summary]):
    """Ask for the state of the conversation."""


@dataclass(frozen=True, slots=True)
class Retire(Query[Done]):
    """Leave for good: the conversation is about to be deleted."""


@dataclass(frozen=True, slots=True)
class Restart(Query[Done]):
    """Gives a conversation that was given up as failed a new life."""

    by: str = ""


Command = (
    Begin
    | Send
    | Interrupt
    | AnswerApproval
    | PassOn
    | Attach
    | Detach
    | Ready
    | Rename
    | Archive
    | ChangeSettings
    | ResumeQueue
    | WithdrawInput
    | Inspect
    | Restart
    | Retire
)


@dataclass(frozen=True, slots=True)
class ToConversation:
    """A command for the owner of the conversation, and the caller of its answer. Wakes a parked conversation."""

    conversation: ConversationId
    command: Command
    caller: Caller | None = None


# --- news to a conversation --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Committed:
    """Everything up to `seq` of this epoch is on disk."""

    seq: int
    epoch: int


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """The journal could not store the append. Nothing of this epoch from here on was stored."""

    error: GreenroomError
    epoch: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """A piece of history for a reader that is further back than memory goes."""

    subscription: SubscriptionId
    page: Page | None


@dataclass(frozen=True, slots=True)
class ReadersWait:
    """Some readers were not served in the step before, so that other actors had their turn."""


@dataclass(frozen=True, slots=True)
class TimerFired:
    name: str


@dataclass(frozen=True, slots=True)
class Park:
    """The registry routes nothing here any more. Leave if nothing is going on, else answer Stay."""


@dataclass(frozen=True, slots=True)
class Quiesce:
    """The daemon is stopping: start nothing new, put what only waits on paper; with `interrupt`, stop what runs."""

    interrupt: bool = False


@dataclass(frozen=True, slots=True)
class Revived:
    """The first input after a restore: settle what the last life left open, which is nothing after a parking."""

    reason: AbortReason = AbortReason.LOST
    message: str = "the daemon was stopped while the turn ran"
    gave_up: str | None = None  # the traceback, when it failed too often to be tried again
    survivors: "Survivors | None" = None


SessionNews = (
    AgentOutput
    | TurnEnded
    | Committed
    | AppendRefused
    | PageRead
    | ReadersWait
    | TimerFired
    | Park
    | Quiesce
    | Revived
)

SessionInput = ToConversation | Ready | CancelRequest | ConnectionClosed | SessionNews
