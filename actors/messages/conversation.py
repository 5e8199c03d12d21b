"""Messages to a conversation: commands of people, news of other actors. Frozen all the way down, never copied.

Commands are imperative, news is past tense. `effects` has the reactions.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from msgspec import UNSET, Struct, UnsetType

from actors.messages.effects import Survivors
from actors.messages.orders import AgentOutput, TurnEnded
from actors.vocabulary.agent_events import AgentCommands, AgentOptions, AgentTitle
from actors.vocabulary.answers import (
    AcceptedInput,
    AnsweredApproval,
    AttachedReader,
    ChangedSettings,
    ConversationSpending,
    ConversationSummary,
    Done,
    InputFound,
    InterruptedTurn,
    StartedConversation,
    TurnResult,
    WaitingInputs,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import JobEnded
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.records import Page
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings, Task

Message_contra = TypeVar("Message_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class Address(Protocol[Message_contra]):
    """An address for these messages. Telling never waits; a full mailbox raises MailboxFull in the sender."""

    def tell(self, message: Message_contra) -> None: ...


class Query(Struct, Generic[Answer_co], frozen=True):
    """A message with an answer: a value of this type, or a refusal."""


class QueueEnd(StrEnum):
    FIRST = "first"
    LAST = "last"


# --- commands to a conversation; `by` names the client for people -----


class Begin(Query[StartedConversation], frozen=True):
    """The first message of a new conversation."""

    settings: Settings
    name: str | None = None


class Send(Query[AcceptedInput | TurnResult], frozen=True):
    """Input. With `await_end` the reply comes when the turn that took it has ended, otherwise when it is stored.

    `gone_s`: the turn is stopped so long after the caller's connection closed, unless somebody else is there.
    `input`: a unique id, by which the sender knows the turn that takes it; None: the input gets an id here.
    `task`: the work of its turn. A request to sum up has no items, and waits for a turn of its own.
    `anew`: new input even if its key was used before; from now on the key stands for this input.
    `settings` are for that turn alone; `own` names the fields of them that are meant, empty: all of them.
    `name`: kept for the conversation, which takes it if it has none; empty: no name is free. The registry adds it.
    """

    items: tuple[InputItem, ...]
    policy: BusyPolicy = BusyPolicy.STEER
    settings: Settings | None = None
    key: str | None = None
    await_end: bool = False
    by: str = ""
    gone_s: float | None = None
    input: InputId | None = None
    task: Task = Task.ANSWER
    own: tuple[str, ...] = ()
    anew: bool = False
    name: str | None = None


class FindInput(Query[InputFound | TurnResult], frozen=True):
    """Find the input of a key, or a keyed input by its id, as long as its key is kept.

    With `await_end` the reply comes when its turn has ended; at once if that is over. `gone_s` is that of `Send`.
    """

    input: InputId | None = None
    key: str | None = None
    await_end: bool = False
    gone_s: float | None = None


class Interrupt(Query[InterruptedTurn], frozen=True):
    """Stop the open turn. `clear` also withdraws waiting input, else that is paused. `turn`: this turn or none."""

    by: str = ""
    kill: bool = False
    message: str = ""
    clear: bool = False
    turn: TurnId | None = None


class CancelRequest(Struct, frozen=True):
    """Take back an earlier request of this caller, whether its input waits or runs."""

    caller: Caller
    by: str = ""


class AnswerApproval(Query[AnsweredApproval], frozen=True):
    approval: ApprovalId
    decision: Decision
    by: str = ""
    reason: str = ""
    option: str = ""  # of those that the agent offers, by its id or its name
    content: Mapping[str, object] = {}  # the values for a server, by the names of its fields
    outside: bool = False  # a yes to run it outside the sandbox


class PassOn(Struct, frozen=True):
    """A client can't answer this question. `asked`: it was asked and passed it on; otherwise it can't be asked.

    `reason`: given to the model if nobody else can answer.
    """

    connection: ConnectionId
    approval: ApprovalId
    asked: bool = True
    by: str = ""
    reason: str = "no client that was asked could answer it"


class Attach(Query[AttachedReader], frozen=True):
    """Subscribe from a cursor: the last seq the client has, 0 for all of it, None for what comes from now on."""

    connection: ConnectionId
    subscription: SubscriptionId
    after: int | None = 0
    read_only: bool = False


class Detach(Query[Done], frozen=True):
    subscription: SubscriptionId


class Ready(Struct, frozen=True):
    """The reader has taken its slice and may get the next."""

    subscription: SubscriptionId


class ConnectionClosed(Struct, frozen=True):
    connection: ConnectionId


class Rename(Query[Done], frozen=True):
    name: str | None
    by: str = ""


class Archive(Query[Done], frozen=True):
    archived: bool = True


class ChangeSettings(Query[ChangedSettings], frozen=True):
    """Take these fields of the settings, from the next model request and the next call on; empty: all of them.

    `seen`: the settings from which they were worked out; refused if there are others by now. `name` is one of the
    conversation's settings to people: it is changed in the same step, or nothing is.
    """

    settings: Settings
    fields: tuple[str, ...] = ()
    seen: Settings | None = None
    name: str | UnsetType | None = UNSET
    by: str = ""


class ResumeQueue(Query[Done], frozen=True):
    """Let waiting input go on."""

    by: str = ""


class EditInput(Query[Done], frozen=True):
    """Give waiting input other content; its place and its senders stay."""

    input: InputId
    items: tuple[InputItem, ...]
    by: str = ""


class MoveInput(Query[Done], frozen=True):
    """Give waiting input another place: before another input, or as the first or the last of its kind."""

    input: InputId
    to: InputId | QueueEnd
    by: str = ""


class WithdrawInput(Query[Done], frozen=True):
    input: InputId
    reason: str = ""
    by: str = ""


class WithdrawAll(Query[Done], frozen=True):
    """Withdraw everything that waits."""

    reason: str = ""
    by: str = ""


class Inspect(Query[ConversationSummary], frozen=True):
    """Ask for the state of the conversation."""


class InspectQueue(Query[WaitingInputs], frozen=True):
    """Ask for the inputs that wait. `only`: that one alone, with its items."""

    only: InputId | None = None


class InspectSpending(Query[ConversationSpending], frozen=True):
    """Ask for the amounts that the conversation has used."""


class Retire(Query[Done], frozen=True):
    """Leave for good: the conversation is about to be deleted."""


class RecordAgentNews(Query[Done], frozen=True):
    """News of an agent that belong to no turn: its commands, its options, its title."""

    news: tuple[AgentOptions | AgentCommands | AgentTitle, ...]


class FollowAgent(Query[Done], frozen=True):
    """The agent has begun to work although nobody said anything: its work is a turn."""


class RecordJobEnd(Query[Done], frozen=True):
    """A background command of this conversation has ended."""

    ended: JobEnded


class Restart(Query[Done], frozen=True):
    """Restart a conversation that was given up as failed."""

    by: str = ""


Command = (
    Begin
    | Send
    | FindInput
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
    | EditInput
    | MoveInput
    | WithdrawInput
    | WithdrawAll
    | Inspect
    | InspectQueue
    | InspectSpending
    | RecordJobEnd
    | RecordAgentNews
    | FollowAgent
    | Restart
    | Retire
)


class ToConversation(Struct, frozen=True):
    """A command for the owner of the conversation, and the caller of its answer. Wakes a parked conversation."""

    conversation: ConversationId
    command: Command
    caller: Caller | None = None


# --- news to a conversation --------------------------------------------------------------


class Committed(Struct, frozen=True):
    """Everything up to `seq` of this epoch is on disk."""

    seq: int
    epoch: int


class AppendRefused(Struct, frozen=True):
    """The journal could not store the append. Nothing of this epoch from here on was stored."""

    error: GreenroomError
    epoch: int


class PageRead(Struct, frozen=True):
    """A piece of history for a reader that is further back than memory goes."""

    subscription: SubscriptionId
    page: Page | None


class ReadersWait(Struct, frozen=True):
    """Some readers were not served in the step before, so that other actors had their turn."""


class TimerFired(Struct, frozen=True):
    name: str


class Park(Struct, frozen=True):
    """Leave if nothing is going on, else answer Stay. The registry routes nothing here any more."""


class Quiesce(Struct, frozen=True):
    """Start nothing new, as the daemon stops; suspend turns that only wait. `interrupt`: stop running turns."""

    interrupt: bool = False


class Revived(Struct, frozen=True):
    """The first input after a restore: settle what was left open, which is nothing after a parking."""

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
SAID_TO_IT = (ToConversation, CancelRequest, ConnectionClosed, Ready)  # by clients; news of a life dies with it


def caller_of(message: object) -> Caller | None:
    """The caller that waits for the answer to this message. A cancel has none of its own."""
    return message.caller if isinstance(message, ToConversation) else None
