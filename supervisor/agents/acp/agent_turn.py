"""The story of one turn with an agent: prompt, updates, questions, more input, quiet; or its stop. Loop thread."""

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import structlog

from actors.messages.orders import AgentNews, PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.items import LocalImageItem, TextItem
from actors.vocabulary.settings import Task
from supervisor.agents.acp.client_tools import ClientTools, Tooling
from supervisor.agents.acp.failures import AgentFailed, CameTooLate, ChildEnded, Refused
from supervisor.agents.acp.peer import Serve
from supervisor.agents.acp.permissions import Deadline, Permissions
from supervisor.agents.acp.prompt import blocks_of, text
from supervisor.agents.acp.quiet import LOOK_MOST_S, LOOK_S, Activity, Silence, goes_on, says_nothing, wait_s
from supervisor.agents.acp.session import AcpSession
from supervisor.agents.acp.wire import Json
from supervisor.agents.spending.agent_account import AgentAccount
from supervisor.agents.spending.over_budget import OverBudget
from supervisor.agents.turn import Turn
from supervisor.config.bounds import Bounds
from supervisor.loop.to_the_end import to_the_end
from supervisor.work.patch.plan import PatchPlan

CANCEL_S = 2.0  # for an agent to stop by itself, with all that it has begun; then it is ended
TICK_S = 0.5  # between looks for tool uses that nobody says are running
SAYS_NOTHING_S = 0.3  # after a cancel of work that it has begun by itself
GONE_S = 0.02  # between looks whether it has
UNSEEN_S = 1.0  # within it a program's end is seen; a prompt that died later may have been worked at in silence

IF_IT_WORKS = {
    "steering": {"idleBehavior": "promptRequired"}
}  # otherwise it would begin a turn that we did not ask for
GO_ON = "Go on where you were interrupted."  # a turn is taken up again, and nothing else is to be said
STOPPED_SHORT = {
    "max_tokens": "it has reached the most tokens of an answer",
    "max_turn_requests": "it has asked its model as often as it may in one turn",
    "refusal": "it refuses to go on",
}

log = structlog.get_logger()


class AgentTurn:
    """A turn under way. The listening's Ears."""

    def __init__(
        self,
        turn: Turn,
        session: AcpSession,
        bounds: Bounds,
        deadline: Deadline,
        tooling: Tooling,
        account: AgentAccount,
    ) -> None:
        self._turn = turn
        self._account = account
        self._session = session
        self._child = session.child
        self._bounds = bounds
        self._updates = session.listening.updates
        self._permissions = Permissions(turn, self._child.definition, self._updates, deadline)
        self._tools = ClientTools(tooling, turn, self._updates, partial(_may_write, self._permissions, account))
        self._prompt: asyncio.Task[Any] | None = None
        self._prompted = False
        self._prompted_at = math.inf
        self._heard = False  # anything of it in this turn
        self._unsaid: list[Json] = []  # steered, and not taken
        self._answers: list[Any] = []  # of prompts, before they are told
        self._hurried = asyncio.Event()
        self._sign_at = time.monotonic()
        self._silence = Silence()

    async def run(self) -> str | None:
        """Carry it out, and return the last thing said. A cancellation comes out when nothing of it is alive."""
        self._child.begin_turn()
        self._updates.begin_turn(self._turn.new_item, prompted=self._turn.order.task is not Task.FOLLOW)
        await self._session.listening.listen(self)
        try:
            await self._carry_out()
        except (asyncio.CancelledError, OverBudget):
            await to_the_end(self._stop())
            raise
        except ChildEnded as error:
            await to_the_end(self._child.end())
            if self._came_too_late:
                raise CameTooLate(str(error)) from error
            raise
        except Exception:
            self._child.settle()
            raise
        finally:
            self._session.listening.leave()
            await to_the_end(self._tools.aclose())
            self._permissions.cancel()  # what was asked in this turn has ended with it
            self._emit(self._updates.finish())
            self._child.settle_seen()  # every way to here ends with a look
            self._prompt = None  # if it is an error, that keeps the frames it was raised in, and they this turn
        return self._updates.last_message or None

    def hurry(self) -> None:
        self._hurried.set()
        if not self._child.is_alive:
            self._child.kill()

    # --- the agent's words and questions ----------------------------------------------------------------------------

    async def updated(self, update: Json) -> None:
        self._heard = True
        self._sign_at = time.monotonic()
        self._emit(self._updates.take(update))
        await self._turn.room()

    def served(self, method: str) -> Serve | None:
        self._heard = True
        return self._asked if method == "session/request_permission" else self._tools.served(method)

    async def _asked(self, params: Json) -> Json:
        with self._account.waiting():
            return await self._permissions.ask(params)

    def _emit(self, news: Iterable[AgentNews]) -> None:
        if told := tuple(news):
            self._turn.emit(*told)

    # --- in the order of time ---------------------------------------------------------------------------------------

    async def _carry_out(self) -> None:
        order = self._turn.order
        if order.task is not Task.FOLLOW:
            self._refuse_pictures(order.inputs)
            await self._say(await self._blocks(order.inputs))
        await self._quiet()
        while self._unsaid or self._permissions.reasons or self._turn.input_offered:
            self._account.look()
            reasons, self._permissions.reasons = self._permissions.reasons, []
            blocks = [*map(text, reasons), *self._unsaid]
            self._unsaid = []
            if self._turn.input_offered or not blocks:
                blocks += await self._blocks(await self._turn.more_input())
            if blocks:
                await self._say(blocks)
            await self._quiet()

    def _refuse_pictures(self, inputs: Sequence[PendingInput]) -> None:
        """End a turn that begins with pictures for an agent which has not said that it takes them."""
        pictures = any(not isinstance(item, TextItem) for one in inputs for item in one.items)
        if pictures and "pictures" not in self._child.can:
            name = self._child.definition.name
            raise AgentFailed(f"the agent {name} takes no pictures; send words alone, or choose another agent")

    async def _blocks(self, inputs: Sequence[PendingInput]) -> list[Json]:
        """Return the inputs as a prompt has them; only pictures in files have to be waited for."""
        if any(isinstance(item, LocalImageItem) for one in inputs for item in one.items):
            return await asyncio.to_thread(blocks_of, inputs, self._tools.reach, self._bounds)
        return blocks_of(inputs, self._tools.reach, self._bounds)

    async def _say(self, blocks: list[Json]) -> None:
        """Prompt, and wait for the answer: all updates before it have been heard then."""
        session = self._session
        await session.setter.follow(self._turn)
        seed, session.seed = session.seed, []
        asked = {"sessionId": session.id, "prompt": [*seed, *blocks] or [text(GO_ON)]}
        self._prompted = True
        self._prompted_at = min(self._prompted_at, time.monotonic())
        self._account.prompted()
        self._prompt = asyncio.create_task(self._child.peer.request("session/prompt", asked))
        self._prompt.add_done_callback(lambda one: one.cancelled() or one.exception())  # a stop may not look at it
        while not self._prompt.done():
            await self._happening(self._prompt)
            self._emit(self._updates.tick())
            if self._prompt.done():
                break
            self._account.look()
            self._tell_of_silence()
            if self._turn.input_offered and self._child.can_be_steered:
                await self._steer()
        self._answers.append(self._prompt.result())

    def _tell_answers(self) -> None:
        """Tell what the answers of prompts say: their use, and why the agent stopped short."""
        for answer in self._answers:
            self._emit(self._updates.finish(answer))
            self._account.answered()
            reason = answer.get("stopReason") if isinstance(answer, dict) else None
            if reason in STOPPED_SHORT:
                notice = f"{self._child.definition.name} stopped: {STOPPED_SHORT[reason]}"
                self._turn.emit(ev.BackgroundEvent(message=notice))
        self._answers.clear()

    async def _happening(self, prompt: "asyncio.Task[Any]") -> None:
        """Wait for the answer, for input that can be steered in, or for the next look."""
        waiting: set[asyncio.Task[Any]] = {prompt}
        offered = asyncio.create_task(self._turn.offered.wait()) if self._child.can_be_steered else None
        if offered is not None:
            waiting.add(offered)
        await asyncio.wait(waiting, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
        if offered is not None:
            offered.cancel()

    def _tell_of_silence(self) -> None:
        """Say that nothing comes, where nothing that is known of explains it."""
        now = time.monotonic()
        if self._updates.open or self._permissions.waits:
            self._sign_at = now  # a tool or a person takes as long as it takes
        if self._silence.is_told(silent_s := now - self._sign_at):
            self._turn.emit(ev.BackgroundEvent(message=says_nothing(silent_s, self._child.definition.name)))

    async def _steer(self) -> None:
        """Give the agent what was said meanwhile. What it can't take now is its next prompt."""
        blocks = await self._blocks(await self._turn.more_input())
        if not blocks:
            return
        asked = {"sessionId": self._session.id, "prompt": blocks, "_meta": IF_IT_WORKS}
        try:
            answer = await self._child.peer.request("_session/steering", asked)
        except Refused:
            answer = None
        outcome = answer.get("outcome") if isinstance(answer, dict) else None
        if outcome == "startedNewTurn":
            self._prompted = False  # no answer of ours tells when that is over
        elif outcome != "injected":
            self._unsaid += blocks

    async def _quiet(self) -> None:
        """Wait until the work is over, also what goes on after the answer."""
        pause_s, before = LOOK_S, self._child.begun()
        if not (self._unsaid or self._turn.input_offered or wait_s(self._activity(len(before)))):
            self._turn.output.end_soon()  # the last words are one commit with the end
        self._tell_answers()
        while (left_s := wait_s(self._activity(len(before)))) > 0:
            await asyncio.sleep(min(left_s, pause_s))
            pause_s = min(2 * pause_s, LOOK_MOST_S)
            if (begun := self._child.begun()) != before:
                before, self._sign_at = begun, time.monotonic()
            if not self._child.is_alive:
                raise self._child.gone()
        if told := goes_on(self._activity(len(before)), self._child.definition.name):
            self._turn.emit(ev.BackgroundEvent(message=told))

    def _activity(self, processes: int) -> Activity:
        silent_s = time.monotonic() - self._sign_at
        return Activity(len(self._updates.open), processes, silent_s, self._prompted, self._permissions.waits)

    @property
    def _came_too_late(self) -> bool:
        """Tell whether the program was dead, or as good as dead, when it was prompted: nothing of this was done."""
        return not self._heard and self._child.ended_at - self._prompted_at < UNSEEN_S

    # --- its stop ---------------------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        """Ask the agent to stop; what has not within the time is ended, with all that it has begun."""
        if self._turn.suspending:  # its questions stay open, so it must not hear that they were answered
            await self._child.end(why="its conversation is put away until a question is answered")
        self._permissions.cancel()
        if self._child.is_alive and not await self._has_stopped():
            log.info("agent.ended_to_stop", agent=self._child.definition.name, turn=self._turn.order.turn)
            await self._child.end(kill=self._hurried.is_set(), why="the turn was stopped, and it went on")

    async def _has_stopped(self) -> bool:
        """Tell whether it has stopped by itself."""
        if self._hurried.is_set():
            return False
        hurried = asyncio.create_task(self._hurried.wait())
        stopping = asyncio.create_task(self._cancelled())
        try:
            await asyncio.wait({hurried, stopping}, timeout=CANCEL_S, return_when=asyncio.FIRST_COMPLETED)
            return stopping.done() and stopping.exception() is None
        finally:
            hurried.cancel()
            stopping.cancel()

    async def _cancelled(self) -> None:
        """Return when the prompt is answered, and nothing that was begun in this turn is alive."""
        await self._child.peer.notify("session/cancel", {"sessionId": self._session.id})
        if self._prompt is not None:
            await asyncio.wait({self._prompt})
            if isinstance(error := self._prompt.exception(), ChildEnded):
                raise error
        self._sign_at = time.monotonic()
        while self._child.begun() or self._works_unprompted():  # noqa: ASYNC110  # no process tells us of its end but our own children
            await asyncio.sleep(GONE_S)

    def _works_unprompted(self) -> bool:
        """Tell whether it says something still; no answer tells the end of work that no prompt asked for."""
        return not self._prompted and time.monotonic() - self._sign_at < SAYS_NOTHING_S


async def _may_write(
    permissions: Permissions, account: AgentAccount, plan: PatchPlan, obeyed_by: tuple[str, ...], reason: str
) -> bool:
    with account.waiting():
        return await permissions.ask_for_write(plan, obeyed_by, reason)
