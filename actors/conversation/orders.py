"""Messages between a conversation and its agent: orders down, news up. A leaf.

An agent has one batch of news under way; the next is sent when TakeMore says that the first was taken.
"""

from dataclasses import dataclass

from actors.vocabulary.events import AgentEvent, Delta
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import BusyPolicy, Decision, Settings


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
    """Start a turn, or go on in the middle of it when `resume` is set. All of it is on disk up to `seq`.

    `first`: nothing was said before its own inputs, so there is no history to read.
    """

    conversation: ConversationId
    turn: TurnId
    settings: Settings
    seq: int
    resume: bool = False
    inputs: tuple[PendingInput, ...] = ()
    first: bool = False


@dataclass(frozen=True, slots=True)
class StopAgent:
    turn: TurnId
    kill: bool = False


@dataclass(frozen=True, slots=True)
class SuspendAgent:
    """End without an outcome, because the turn only waits for an answer, which will start it again."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class OfferInput:
    """Tell the turn that input waits, which it may take in before it is over."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class GiveInput:
    """The input said meanwhile; empty if it was taken back."""

    turn: TurnId
    inputs: tuple[PendingInput, ...]


@dataclass(frozen=True, slots=True)
class AnswerAgent:
    turn: TurnId
    approval: ApprovalId
    decision: Decision
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AllStored:
    """All that the turn had said when it asked is on disk."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class TakeMore:
    """The last batch was taken; the next may come."""

    turn: TurnId


@dataclass(frozen=True, slots=True)
class AbandonAgent:
    """End the turn's processes and tell nobody, because the conversation's actor is gone."""

    conversation: ConversationId


@dataclass(frozen=True, slots=True)
class RestAgent:
    """Release what is only kept to make the next turn faster, because the conversation is parked."""

    conversation: ConversationId


AgentOrder = (
    RunAgent | StopAgent | SuspendAgent | OfferInput | GiveInput | AnswerAgent | AllStored | TakeMore | RestAgent
)


@dataclass(frozen=True, slots=True)
class InputWanted:
    """The agent was told that input waits, and takes it before it asks the model again or is done."""


@dataclass(frozen=True, slots=True)
class StorageAwaited:
    """The agent is about to do what must not go unrecorded, and waits for AllStored."""


AgentNews = AgentEvent | Delta | InputWanted | StorageAwaited


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
class AgentStopped:
    """Cancelled as asked; nothing of it runs any more."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """Ended while it waited for answers; an answer starts it again from the journal."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """A bug in the agent."""

    message: str


Outcome = Completed | ModelFailed | AgentStopped | Suspended | Crashed


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Sent once per RunAgent, when the last process of the turn is gone. Nothing of the turn follows it.

    `batch` has the last events, which are stored in one go with the end.
    """

    turn: TurnId
    outcome: Outcome
    batch: tuple[AgentNews, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentAbandoned:
    """Nothing of the conversation's turn runs any more."""

    conversation: ConversationId
