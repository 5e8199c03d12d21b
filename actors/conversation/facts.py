"""The facts that follow from the events: the durable half of a conversation's state. `applying` makes them.

Those without slots are replaced at events, see `replacing`.
"""

from dataclasses import dataclass
from pathlib import Path

from actors.messages.orders import KnownSession, PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.agent_description import AgentDescription
from actors.vocabulary.conditions import LastEnding
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId, JobId, TurnId
from actors.vocabulary.settings import BusyPolicy, Decision, ReadOnly, Settings
from actors.vocabulary.spent_amounts import NOTHING, Spent

KEYS_KEPT_S = 24 * 3600.0  # a client may repeat a request for a day

RUN_ORDER = (BusyPolicy.INTERRUPT, BusyPolicy.STEER, BusyPolicy.ENQUEUE)  # the order of waiting input


@dataclass(frozen=True, slots=True)
class OpenItem:
    """Work that has begun and not ended, with the parts of its beginning that the end of a cut turn repeats."""

    call: CallId
    kind: ev.WorkKind
    subject: ev.WorkSubject | None = None  # None: only its kind is known
    agent_call: ev.AgentCall | None = None


@dataclass(frozen=True)
class TurnFacts:
    """A turn that has no terminal event yet."""

    id: TurnId
    settings: Settings | None
    inputs: tuple[InputId, ...] = ()
    items: tuple[tuple[ItemId, OpenItem], ...] = ()
    calls: tuple[tuple[CallId, ItemId], ...] = ()
    approvals: tuple[ev.ApprovalRequested, ...] = ()
    granted: tuple[ItemId, ...] = ()  # approved, and not begun since
    denied: bool = False  # somebody said no
    spent: Spent = NOTHING
    working_since: float | None = None  # None while it waits for a person

    @property
    def only_waits(self) -> bool:
        """True if the turn only waits for answers: nothing of it runs, so it survives the process.

        A third-party agent may say that a tool runs, and only then ask whether it may: then it waits.
        """
        asked = {request.item_id for request in self.approvals}
        running = (item for item, opened in self.items if opened.agent_call is None or item not in asked)
        return bool(self.approvals) and not any(running)


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A background command that runs. `turn`: the turn with which it ends; None: it goes on."""

    id: JobId
    turn: TurnId | None = None


@dataclass(frozen=True)
class Key:
    """An idempotency key and the input it stands for. `ended`: the seq at which the turn that took it ended."""

    key: str
    ts: float
    input: InputId
    turn: TurnId | None = None
    ended: int | None = None


@dataclass(frozen=True, slots=True)
class KeptYes:
    """A yes for the conversation, and its key. `approval`: the question to which a person gave it."""

    about: ev.Standing
    approval: ApprovalId
    by: str = ""
    outside: bool = False


@dataclass(frozen=True)
class Facts:
    conversation: ConversationId
    settings: Settings
    seq: int = 0
    created: float = 0.0
    updated: float = 0.0
    name: str | None = None
    self_named: bool = False  # the name was made of the first message
    nameless: bool = False  # somebody has taken its name away, and it is to get no other
    archived: bool = False
    failed: str | None = None
    turn: TurnFacts | None = None
    pending: tuple[PendingInput, ...] = ()
    paused: bool = False
    standing: tuple[ev.Standing, ...] = ()  # of checkpoints before 0.2; `restore` makes `kept` of it
    kept: tuple[KeptYes, ...] = ()
    answered: tuple[tuple[ApprovalId, Decision, str], ...] = ()
    keys: tuple[Key, ...] = ()
    preview: str = ""
    tokens: int = 0
    stumbled: bool = False  # the last turn that ended emitted an error
    ended: LastEnding | None = None  # how the last turn ended, until the next begins
    jobs: tuple[OpenJob, ...] = ()
    context_tokens: int | None = None
    context_window: int | None = None
    compacted: int = 0  # the seq of the last `compacted` event
    unsummed: bool = False  # a model has said something since
    spent: Spent = NOTHING
    earlier: float = 0.0  # when something happened before `updated`
    agents: tuple[KnownSession, ...] = ()  # of the agents that have taken part, the last one last
    agents_told: tuple[AgentDescription, ...] = ()  # as they describe themselves, the last one last
    copied: int = 0  # events up to here are a copy of another conversation's, and so are the sessions in them
    title: str = ""  # the agent's, for the conversation

    @property
    def steering(self) -> tuple[PendingInput, ...]:
        return tuple(waiting for waiting in self.pending if waiting.policy is BusyPolicy.STEER)

    @property
    def queue(self) -> tuple[PendingInput, ...]:
        return tuple(waiting for waiting in self.pending if waiting.policy is not BusyPolicy.STEER)

    @property
    def open_questions(self) -> tuple[ev.ApprovalRequested, ...]:
        return self.turn.approvals if self.turn else ()

    @property
    def line(self) -> tuple[PendingInput, ...]:
        """The input that waits, in the order in which it would run if nothing more were said."""
        return tuple(sorted(self.pending, key=lambda waiting: RUN_ORDER.index(waiting.policy)))

    def waiting_input(self, input_: InputId) -> PendingInput | None:
        return next((waiting for waiting in self.pending if waiting.id == input_), None)

    def approval(self, approval: ApprovalId) -> ev.ApprovalRequested | None:
        return next((request for request in self.open_questions if request.approval_id == approval), None)

    def kept_yes(self, request: ev.ApprovalRequested) -> KeptYes | None:
        """Return the yes for the whole session that answers this question."""
        return next((kept for kept in reversed(self.kept) if kept.about == request.standing), None)


def empty_facts(conversation: ConversationId) -> Facts:
    """The facts before the first event, which replaces these settings."""
    return Facts(conversation, Settings(model="", cwd=Path("/"), sandbox=ReadOnly()))
