"""An agent runner that does what a script says, or what a test says step by step.

A script is a row of batches and at last an outcome. The next batch is sent when the session has taken the last one;
behind a question the agent waits for its answer, behind InputWanted for the input.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from actors.messages.conversation import Address
from actors.messages.orders import (
    AbandonAgent,
    AgentAbandoned,
    AgentNews,
    AgentOrder,
    AgentOutput,
    AgentStopped,
    AnswerAgent,
    Completed,
    GiveInput,
    InputWanted,
    Outcome,
    RunAgent,
    StopAgent,
    SuspendAgent,
    Suspended,
    TakeMore,
    TurnEnded,
)
from actors.vocabulary import events as ev
from actors.vocabulary.errors import ActorGone
from actors.vocabulary.ids import ApprovalId, ConversationId, ItemId, TurnId

Script = tuple[tuple[AgentNews, ...] | Outcome, ...]


def says(text: str = "done") -> Script:
    """A turn that streams one message and is complete."""
    item = ItemId(f"item-{text}")
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    return (
        tuple(ev.AgentMessageDelta(delta=half, item_id=item) for half in halves),
        (ev.AgentMessage(message=text, item_id=item),),
        Completed(text),
    )


Session = Address[AgentOutput | TurnEnded]


@dataclass(slots=True)
class _Run:
    conversation: ConversationId
    session: Session
    steps: Iterator[tuple[AgentNews, ...] | Outcome]
    awaited: set[object] = field(default_factory=set)


class FakeAgents:
    """Without a script a turn does nothing until `say` and `end` are called. `script` gets the RunAgent."""

    def __init__(self, script: Callable[[RunAgent], Script] | None = None) -> None:
        self.script = script
        self.stubborn = False  # True: orders to stop are noted, and nothing ends by itself
        self.orders: list[AgentOrder | AbandonAgent] = []
        self.noticed: Callable[[AgentOrder | AbandonAgent], None] = lambda _: None
        self._runs: dict[TurnId, _Run] = {}
        self._lock = threading.RLock()

    @property
    def running(self) -> tuple[TurnId, ...]:
        return tuple(self._runs)

    def last(self, kind: type[RunAgent] = RunAgent) -> RunAgent:
        return next(order for order in reversed(self.orders) if isinstance(order, kind))

    def ordered(self, kind: type) -> list[AgentOrder | AbandonAgent]:
        return [order for order in self.orders if isinstance(order, kind)]

    def order(self, order: AgentOrder, session: Session) -> None:
        with self._lock:
            self.orders.append(order)
            self._carry_out(order, session)
        self.noticed(order)

    def abandon(self, order: AbandonAgent, registry: Address[AgentAbandoned]) -> None:
        with self._lock:
            self.orders.append(order)
            if not self.stubborn:
                self.abandoned(order.conversation, registry)
        self.noticed(order)

    def say(self, turn: TurnId, *news: AgentNews) -> None:
        self._tell(self._runs[turn].session, AgentOutput(turn, news))

    def end(self, turn: TurnId, outcome: Outcome) -> None:
        """The one last word. A run that was abandoned meanwhile has none."""
        with self._lock:
            run = self._runs.pop(turn, None)
        if run is not None:
            self._tell(run.session, TurnEnded(turn, outcome))

    def abandoned(self, conversation: ConversationId, registry: Address[AgentAbandoned]) -> None:
        with self._lock:
            for turn in [turn for turn, run in self._runs.items() if run.conversation == conversation]:
                del self._runs[turn]
        registry.tell(AgentAbandoned(conversation))

    def lose_everything(self) -> None:
        """The machine went down under them."""
        self._runs.clear()

    def _carry_out(self, order: AgentOrder, session: Session) -> None:
        match order:
            case RunAgent():
                steps = self.script(order) if self.script else ()
                self._runs[order.turn] = _Run(order.conversation, session, iter(steps))
                self._advance(order.turn, None)
            case StopAgent() if not self.stubborn:
                self.end(order.turn, AgentStopped())
            case SuspendAgent() if not self.stubborn:
                self.end(order.turn, Suspended())
            case TakeMore():
                self._advance(order.turn, "taken")
            case GiveInput():
                self._advance(order.turn, "input")
            case AnswerAgent():
                self._advance(order.turn, order.approval)
            case _:
                pass

    def _advance(self, turn: TurnId, arrived: object) -> None:
        run = self._runs.get(turn)
        if run is None:
            return
        run.awaited.discard(arrived)
        if run.awaited:
            return
        match next(run.steps, None):
            case None:
                pass
            case tuple() as batch:
                run.awaited = {"taken", *filter(None, map(_awaits, batch))}
                self._tell(run.session, AgentOutput(turn, batch))
            case outcome:
                self.end(turn, outcome)

    def _tell(self, session: Session, news: AgentOutput | TurnEnded) -> None:
        with contextlib.suppress(ActorGone):  # its owner failed; the registry will have it abandoned
            session.tell(news)


def _awaits(news: AgentNews) -> ApprovalId | str | None:
    match news:
        case ev.ApprovalRequested():
            return news.approval_id
        case InputWanted():
            return "input"
        case _:
            return None
