"""Messages between a conversation and its agent: orders down, news up. A leaf.

An agent has one batch of news under way; the next is sent when TakeMore says that the first was taken.
"""

from dataclasses import dataclass

from msgspec import Struct

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


class RunAgent(Struct, frozen=True):
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


class StopAgent(Struct, frozen=True):
    turn: TurnId
    kill: bool = False


class SuspendAgent(Struct, frozen=True):
    """End without an outcome, because the turn only waits for an answer, which will start it again."""

    turn: TurnId


class OfferInput(Struct, frozen=True):
    """Tell the turn that input waits, which it may take in before it is over."""

    turn: TurnId


class GiveInput(Struct, frozen=True):
    """The input said meanwhile; empty if it was taken back."""

    turn: TurnId
    inputs: tuple[PendingInput, ...]


class AnswerAgent(Struct, frozen=True):
    turn: TurnId
    approval: ApprovalId
    decision: Decision
    reason: str = ""


class AllStored(Struct, frozen=True):
    """All that the turn had said when it asked is on disk."""

    turn: TurnId


class TakeMore(Struct, frozen=True):
    """The last batch was taken; the next may come."""

    turn: TurnId


class AbandonAgent(Struct, frozen=True):
    """End the turn's processes and tell nobody, because the conversation's actor is gone."""

    conversation: ConversationId


class RestAgent(Struct, frozen=True):
    """Release what is only kept to make the next turn faster, because the conversation is parked."""

    conversation: ConversationId


AgentOrder = (
    RunAgent | StopAgent | SuspendAgent | OfferInput | GiveInput | AnswerAgent | AllStored | TakeMore | RestAgent
)


class InputWanted(Struct, frozen=True):
    """The agent was told that input waits, and takes it before it asks the model again or is done."""


class StorageAwaited(Struct, frozen=True):
    """The agent is about to do what must not go unrecorded, and waits for AllStored."""


AgentNews = AgentEvent | Delta | InputWanted | StorageAwaited


class AgentOutput(Struct, frozen=True):
    turn: TurnId
    batch: tuple[AgentNews, ...]


class Completed(Struct, frozen=True):
    last_message: str | None = None


class ModelFailed(Struct, frozen=True):
    """The model, or the way to it, gave up; the agent itself is well."""

    message: str


class AgentStopped(Struct, frozen=True):
    """Cancelled as asked; nothing of it runs any more."""


class Suspended(Struct, frozen=True):
    """Ended while it waited for answers; an answer starts it again from the journal."""


class Crashed(Struct, frozen=True):
    """A bug in the agent."""

    message: str


Outcome = Completed | ModelFailed | AgentStopped | Suspended | Crashed


class TurnEnded(Struct, frozen=True):
    """Sent once per RunAgent, when the last process of the turn is gone. Nothing of the turn follows it.

    `batch` has the last events, which are stored in one go with the end.
    """

    turn: TurnId
    outcome: Outcome
    batch: tuple[AgentNews, ...] = ()


class AgentAbandoned(Struct, frozen=True):
    """Nothing of the conversation's turn runs any more."""

    conversation: ConversationId
