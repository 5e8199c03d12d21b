"""Messages between a conversation and its agent: orders down, news up. A leaf.

An agent has one batch of news under way; the next is sent when TakeMore says that the first was taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct

from actors.vocabulary.events import AgentEvent, Delta, FormValue
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId, TurnId
from actors.vocabulary.items import InputItem, first_words
from actors.vocabulary.settings import BusyPolicy, Decision, Settings, Task
from actors.vocabulary.spent_amounts import NOTHING, Spent

SUM_UP = "(sum up the history)"


@dataclass(frozen=True)  # no slots: see `replacing`
class PendingInput:
    """Input that is accepted and stored, and not taken by a turn yet."""

    id: InputId
    items: tuple[InputItem, ...]
    policy: BusyPolicy
    settings: Settings | None = None
    key: str | None = None
    by: str = ""
    task: Task = Task.ANSWER
    own: tuple[str, ...] = ()  # the fields that these settings are meant for; empty: all of them
    since: float = 0.0  # when it was accepted; 0: unknown, by an earlier version

    @property
    def preview(self) -> str:
        """The first words, in one line."""
        return SUM_UP if self.task is Task.COMPACT else first_words(self.items)

    def settings_over(self, current: Settings) -> Settings | None:
        """Return the settings of a turn of its own, or None if it has those of the conversation."""
        if self.settings is None:
            return None
        return (
            current.with_fields_of(self.settings, self.own) if self.own else self.settings.with_known_roots(current)
        )


@dataclass(frozen=True, slots=True)
class KnownSession:
    """An agent's own session in this conversation, and the seq up to which it knows what happened.

    `sum_usd` is the cost that it last reported, `from_usd` the cost when its process began.
    """

    agent: str
    session: str
    seen: int
    sum_usd: float = 0.0
    from_usd: float = 0.0


class RunAgent(Struct, frozen=True):
    """Start a turn, or go on in the middle of it when `resume` is set. All of it is on disk up to `seq`.

    `first`: nothing was said before its own inputs, so there is no history to read. `compacted`: the seq of the last
    `compacted` event, before which nothing is read; 0: all is read. `spent` has the amounts of the conversation, and
    `turn_spent` those of this turn. `known` is the earlier session of the agent that these settings name.
    """

    conversation: ConversationId
    turn: TurnId
    settings: Settings
    seq: int
    resume: bool = False
    inputs: tuple[PendingInput, ...] = ()
    first: bool = False
    task: Task = Task.ANSWER
    compacted: int = 0
    spent: Spent = NOTHING
    turn_spent: Spent = NOTHING
    known: KnownSession | None = None


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
    """The input that waited; empty if it was taken back."""

    turn: TurnId
    inputs: tuple[PendingInput, ...]


class AnswerAgent(Struct, frozen=True):
    turn: TurnId
    approval: ApprovalId
    decision: Decision
    reason: str = ""
    option: str = ""
    content: Mapping[str, FormValue] = {}
    outside: bool = False


class UseSettings(Struct, frozen=True):
    """The settings of the turn from its next model request on, and from its next call on."""

    turn: TurnId
    settings: Settings


class AllStored(Struct, frozen=True):
    """Everything that the turn has said so far is on disk, up to `seq`."""

    turn: TurnId
    seq: int


class TakeMore(Struct, frozen=True):
    """The last batch was taken; the next may come."""

    turn: TurnId


class AbandonAgent(Struct, frozen=True):
    """End the turn's processes without an answer, because the conversation's actor is gone."""

    conversation: ConversationId


class RestAgent(Struct, frozen=True):
    """Release resources that only make the next turn faster, because the conversation is parked."""

    conversation: ConversationId


AgentOrder = (
    RunAgent
    | StopAgent
    | SuspendAgent
    | OfferInput
    | GiveInput
    | AnswerAgent
    | UseSettings
    | AllStored
    | TakeMore
    | RestAgent
)


class InputWanted(Struct, frozen=True):
    """The agent takes waiting input, which it was told of, before it asks the model again or is done."""


class StorageAwaited(Struct, frozen=True):
    """The agent waits for AllStored, because its next step must not go unrecorded."""


AgentNews = AgentEvent | Delta | InputWanted | StorageAwaited


class AgentOutput(Struct, frozen=True):
    turn: TurnId
    batch: tuple[AgentNews, ...]


class Completed(Struct, frozen=True):
    last_message: str | None = None


class ModelFailed(Struct, frozen=True):
    """The model, or the way to it, gave up; the agent itself is well."""

    message: str


class OutOfBudget(Struct, frozen=True):
    """A budget was reached; the agent has said which."""

    message: str


class AgentStopped(Struct, frozen=True):
    """Cancelled as asked; nothing of it runs any more."""


class Suspended(Struct, frozen=True):
    """Ended while it waited for answers; an answer starts it again from the journal."""


class Crashed(Struct, frozen=True):
    """A bug in the agent."""

    message: str


Outcome = Completed | ModelFailed | OutOfBudget | AgentStopped | Suspended | Crashed


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
