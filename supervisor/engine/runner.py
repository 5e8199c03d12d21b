"""Turns as tasks on the loop thread: one task a turn, stopped when asked, ended only when its processes are gone.

Implements ports.AgentRunner. Owns the turns that run; knows nothing of models, tools or policies.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from actors.messages.conversation import Address
from actors.messages.orders import (
    AbandonAgent,
    AgentAbandoned,
    AgentOrder,
    AgentOutput,
    AgentStopped,
    AllStored,
    AnswerAgent,
    Completed,
    Crashed,
    GiveInput,
    ModelFailed,
    OfferInput,
    Outcome,
    OutOfBudget,
    RestAgent,
    RunAgent,
    StopAgent,
    SuspendAgent,
    Suspended,
    TakeMore,
    TurnEnded,
    UseSettings,
)
from actors.vocabulary.errors import ConfigError, GreenroomError
from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.backend import Backend
from supervisor.agents.errors import ModelError
from supervisor.agents.spending.over_budget import OverBudget
from supervisor.agents.turn import Turn
from supervisor.work.processes.processes import Processes

log = structlog.get_logger()

ToRunning = StopAgent | SuspendAgent | OfferInput | GiveInput | AnswerAgent | AllStored | UseSettings
LoopOrder = RunAgent | RestAgent | ToRunning

BackendFor = Callable[[RunAgent], Backend]
TellCompleted = Callable[[Turn, Completed], None]
Rest = Callable[[ConversationId], None]
EndJobs = Callable[[ConversationId], Awaitable[None]]


async def no_jobs(_: ConversationId) -> None:
    """End nothing, where no background command can be started."""


class RunningTurn:
    """A turn under way: the backend's task may be cancelled, the keeper that waits for it never is."""

    def __init__(self, turn: Turn, backend: Backend) -> None:
        self.turn = turn
        self.backend = backend
        self.work = asyncio.create_task(backend.run(turn), name=f"turn-{turn.order.turn}")
        self.keeper: asyncio.Task[None] | None = None
        self.suspending = False
        self.stopping = False


class Runner:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        processes: Processes,
        backend_for: BackendFor,
        completed: TellCompleted = lambda *_: None,
        rest: Rest = lambda _: None,
        end_jobs: EndJobs = no_jobs,
    ) -> None:
        self._loop = loop
        self._completed = completed
        self._rest = rest
        self._end_jobs = end_jobs
        self._processes = processes
        self._backend_for = backend_for
        self._running: dict[TurnId, RunningTurn] = {}
        self._abandoning: set[asyncio.Task[None]] = set()
        self._closed = False

    def order(self, order: AgentOrder, session: Address[AgentOutput | TurnEnded]) -> None:
        """Take an order. Output is handed over at once; all else follows the session's step, and can't fail it."""
        if isinstance(order, TakeMore):
            running = self._running.get(order.turn)
            if running is not None:
                running.turn.output.send_next()
        else:
            self._loop.call_soon(self._take, order, session)

    def abandon(self, order: AbandonAgent, registry: Address[AgentAbandoned]) -> None:
        abandoning = self._loop.create_task(self._abandon(order.conversation, registry))
        self._abandoning.add(abandoning)  # the loop itself only keeps a weak reference
        abandoning.add_done_callback(self._abandoning.discard)

    def turn(self, turn: TurnId) -> Turn | None:
        """Return the turn, if it runs."""
        running = self._running.get(turn)
        return None if running is None else running.turn

    def _take(self, order: LoopOrder, session: Address[AgentOutput | TurnEnded]) -> None:
        match order:
            case RunAgent():
                self._start(order, session)
            case RestAgent():
                self._rest(order.conversation)
            case _:
                running = self._running.get(order.turn)
                if running is not None:  # otherwise it has sent its TurnEnded, which the session is about to read
                    self._tell(running, order)

    def _start(self, order: RunAgent, session: Address[AgentOutput | TurnEnded]) -> None:
        turn = Turn(order, session)
        if self._closed:
            turn.output.finish(AgentStopped())
            return
        try:
            backend = self._backend_for(order)
        except Exception as error:  # noqa: BLE001  # the session must hear of an end after any error
            turn.output.finish(_failure_of(order, error))
            return
        running = self._running[order.turn] = RunningTurn(turn, backend)
        running.keeper = asyncio.create_task(self._keep_turn(running))

    def _tell(self, running: RunningTurn, order: ToRunning) -> None:
        match order:
            case SuspendAgent():
                if running.backend.resumable and running.turn.only_waits and not running.stopping:
                    running.suspending = running.turn.suspending = True
                    running.work.cancel()
            case StopAgent():
                self._stop(running, kill=order.kill)
            case _:
                running.turn.take(order)

    def _stop(self, running: RunningTurn, *, kill: bool) -> None:
        if kill:
            self._processes.kill_now(running.turn.order.turn)
            running.backend.hurry(running.turn.order.turn)
        if not running.stopping:
            running.stopping = True
            running.turn.output.end_soon()
            running.work.cancel()

    async def _keep_turn(self, running: RunningTurn) -> None:
        """End a turn, here and nowhere else: after its work, end its processes, then send the outcome."""
        order = running.turn.order
        await asyncio.wait({running.work})
        outcome = self._outcome(running)
        try:
            await self._processes.end_turn(order.turn)
        except Exception as error:  # noqa: BLE001  # a turn without an end would block its conversation for ever
            outcome = _failure_of(order, error)
        if not isinstance(outcome, Completed):
            running.backend.forget(order.conversation)
        del self._running[order.turn]
        running.turn.output.finish(outcome)
        if isinstance(outcome, Completed):
            self._completed(running.turn, outcome)

    def _outcome(self, running: RunningTurn) -> Outcome:
        work = running.work
        if work.cancelled():
            return Suspended() if running.suspending and not running.stopping else AgentStopped()
        error = work.exception()
        return Completed(work.result()) if error is None else _failure_of(running.turn.order, error)

    async def _abandon(self, conversation: ConversationId, registry: Address[AgentAbandoned]) -> None:
        """End all turns of a conversation without a session, and tell the registry when nothing of them is left."""
        turns = [running for running in self._running.values() if running.turn.order.conversation == conversation]
        for running in turns:
            self._stop(running, kill=True)
        keepers = [running.keeper for running in turns if running.keeper is not None]
        if keepers:
            await asyncio.wait(keepers)
        await self._end_jobs(conversation)
        try:
            registry.tell(AgentAbandoned(conversation))
        except GreenroomError as gone:
            log.debug("agent.nobody_to_tell", conversation=conversation, reason=gone.code)

    async def wait_until_idle(self) -> None:
        """Wait until no turn runs."""
        while keepers := [running.keeper for running in self._running.values() if running.keeper is not None]:
            await asyncio.wait(keepers)

    async def close(self) -> None:
        """Kill every turn, and wait for their ends. Turns that are ordered later end at once."""
        self._closed = True
        for running in list(self._running.values()):
            self._stop(running, kill=True)
        await self.wait_until_idle()

    def statistics(self) -> dict[str, int]:
        return {"turns": len(self._running)}


def _failure_of(order: RunAgent, error: BaseException) -> ModelFailed | OutOfBudget | Crashed:
    """Return the outcome for an error: a budget, a model or a provider that failed, or else a bug of ours."""
    if isinstance(error, OverBudget):
        return OutOfBudget(error.message)
    if isinstance(error, ModelError | ConfigError):
        return ModelFailed(error.message)
    log.error("turn.crashed", conversation=order.conversation, turn=order.turn, exc_info=error)
    return Crashed(f"{type(error).__name__}: {error}")
