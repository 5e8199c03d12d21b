"""The live owner of one conversation: feeds the functional core, stores what it says, does what it decides.

Knows no policy. Everything it waits for comes as a message: the journal's answers, the agent's news, timers.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from actors.base import Actor, Failure, Ref, start
from actors.clock import Clock
from actors.conversation import Stamp, State, Step, restore, step, summary, survivors_of
from actors.conversation.state import Limits
from actors.ids import Caller, ConversationId
from actors.messages import (
    COMMANDS,
    Address,
    AppendRefused,
    Committed,
    Deliver,
    Effect,
    EndSubscription,
    FetchPage,
    HeadChanged,
    Input,
    Leave,
    Left,
    Load,
    Loaded,
    OfferToPark,
    ParkOffered,
    ReadPage,
    Ready,
    ReplyTo,
    Revived,
    SessionFailed,
    SetTimer,
    Settle,
    Stay,
    Stayed,
    Store,
    Survivors,
    TimerFired,
    Unsubscribed,
)
from actors.orders import (
    AbandonAgent,
    AnswerAgent,
    GiveInput,
    RunAgent,
    StopAgent,
    SuspendAgent,
    TakeMore,
)
from actors.ports import AgentRunner, Head, Outbox


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everybody a session talks to. One for all sessions of a daemon."""

    registry: Address
    journalist: Address
    librarian: Address
    agents: AgentRunner
    outbox: Outbox
    clock: Clock
    fresh_name: Callable[[], str]
    limits: Limits
    start: Callable[..., Ref] = start


class Session(Actor):
    fatal = True

    def __init__(
        self, conversation: ConversationId, generation: int, revived: Revived, surroundings: Surroundings
    ) -> None:
        self.conversation = conversation
        self.generation = generation
        self.name = f"session-{conversation[:8]}"
        self._revived = revived
        self._around = surroundings
        self._state: State | None = None
        self._waiting: deque[Input] = deque()
        self._heads: deque[HeadChanged] = deque()
        self._performing = False

    def on_start(self) -> None:
        self._around.journalist.tell(Load(self.conversation, self.address))

    def receive(self, message: Input | Loaded) -> object:
        if isinstance(message, Loaded):
            self._live(message)
        elif self._state is None:
            self._waiting.append(message)
        else:
            self._take(self._state, message)
        return None

    def _live(self, loaded: Loaded) -> None:
        """There is a state now. The last life is settled first, then who came too early is served in order."""
        self._state = restore(self.conversation, loaded.head, loaded.records, self._around.limits)
        if self._state.facts.seq:
            self._take(self._state, self._revived)
        while self._waiting:
            self._take(self._state, self._waiting.popleft())

    def _take(self, state: State, message: Input) -> None:
        result = step(state, message, Stamp(self._around.clock.now(), self._around.fresh_name()))
        self._state = result.state
        self._performing = True
        self._store(result)
        for effect in result.effects:
            self._perform(effect)
        self._performing = False
        if isinstance(message, Committed):
            self._publish_heads(message.seq)
        elif isinstance(message, AppendRefused):
            self._heads.clear()

    def _store(self, result: Step) -> None:
        append = result.append
        if append is None:
            return
        if append.head is not None:
            append = replace(append, head=replace(append.head, generation=self.generation))
            self._heads.append(self._headline(append.head, result.state))
        self._around.journalist.tell(Store(append, self.address, result.state.epoch))

    def _headline(self, head: Head | None, state: State) -> HeadChanged:
        assert head is not None  # noqa: S101  # the caller has looked
        turn = state.facts.turn
        return HeadChanged(replace(head, settings=b"", checkpoint=b""), turn.approvals if turn else ())

    def _publish_heads(self, stored: int) -> None:
        """`ls` shows what is on disk, like everything else."""
        latest = None
        while self._heads and self._heads[0].head.last_seq <= stored:
            latest = self._heads.popleft()
        if latest is not None:
            self._around.registry.tell(latest)

    def _perform(self, effect: Effect) -> None:
        around = self._around
        match effect:
            case (
                RunAgent() | StopAgent() | SuspendAgent() | GiveInput() | AnswerAgent() | TakeMore() | AbandonAgent()
            ):
                around.agents.order(effect, self.address)
            case Deliver() | EndSubscription():
                around.outbox.post(effect.connection, effect, self.address)
            case ReplyTo():
                around.outbox.post(effect.caller.connection, effect, self.address)
                if effect.settles:
                    around.registry.tell(Settle(effect.caller))
            case Settle():
                around.registry.tell(effect)
            case ReadPage():
                around.librarian.tell(FetchPage(self.conversation, effect, self.address))
            case SetTimer():
                around.clock.after(effect.delay_s, self.address, TimerFired(effect.name))
            case OfferToPark():
                around.registry.tell(ParkOffered(self.conversation, self.generation))
            case Stay():
                around.registry.tell(Stayed(self.conversation, self.generation))
            case Leave():
                self.stop()
                around.registry.tell(Left(self.conversation, self.generation))
            case _:
                assert_never(effect)

    def on_failure(self, failure: Failure) -> None:
        """The core is pure: what it knew before the bad input is still true, and goes to the successor."""
        error = failure.error
        report = SessionFailed(
            self.conversation,
            self.generation,
            f"{type(error).__name__}: {error}",
            failure.traceback,
            self._survivors(failure.message),
            self._owed(failure),
        )
        self._around.registry.tell(report)

    def _survivors(self, bad: object) -> Survivors:
        state = self._state or restore(self.conversation, None, ())
        survivors = survivors_of(state)
        caller = getattr(bad, "caller", None)
        if isinstance(caller, Caller) and caller not in survivors.callers:
            survivors = replace(survivors, callers=(*survivors.callers, caller))
        if self._performing:  # nobody knows which slices went out: the readers come back by their own cursor
            for reader in survivors.readers:
                ended = EndSubscription(reader.connection, Unsubscribed(reader.subscription, "the actor failed"))
                self._around.outbox.post(reader.connection, ended, self.address)
            survivors = replace(survivors, readers=())
        return survivors

    def _owed(self, failure: Failure) -> tuple[Input, ...]:
        """News of the failed life means nothing to the next; what clients said does. A Ready frees its reader."""
        first = (failure.message,) if isinstance(failure.message, Ready) else ()
        waiting = (*first, *self._waiting, *failure.leftovers)
        return tuple(message for message in waiting if isinstance(message, (*COMMANDS, Ready)))

    def statistics(self) -> dict[str, object]:
        state = self._state
        return {**super().statistics(), "summary": summary(state) if state else None}
