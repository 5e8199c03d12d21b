"""A turn of a third-party agent: prompt, updates, questions, more input, the wait for its end; or its stop.

Loop thread.
"""

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import structlog

from actors.messages.orders import AgentNews, PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.items import ImageItem, InputItem, LocalImageItem, TextItem
from actors.vocabulary.settings import Task
from supervisor.agents.acp.client_tools import ClientTools, Tooling
from supervisor.agents.acp.failures import AgentFailed, AgentRefused, ChildEnded, GoneBeforePrompt
from supervisor.agents.acp.inactivity import (
    LOOK_MOST_S,
    LOOK_S,
    Activity,
    Silence,
    silence_notice,
    wait_s,
    work_goes_on_notice,
)
from supervisor.agents.acp.peer import RequestHandler
from supervisor.agents.acp.permissions import Deadline, Permissions
from supervisor.agents.acp.session import AcpSession
from supervisor.agents.acp.wire import Json
from supervisor.agents.spending.agent_account import AgentAccount
from supervisor.agents.spending.over_budget import OverBudget
from supervisor.agents.turn import Turn
from supervisor.config.bounds import Bounds
from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.to_the_end import to_the_end
from supervisor.work.files.pictures import NoPicture, picture_in
from supervisor.work.patch.plan import PatchPlan
from supervisor.work.reach.readable import Reach

CANCEL_S = 2.0  # for an agent to stop by itself, with all processes that it began; then it is ended
TICK_S = 0.5  # between looks for tool uses that run though the agent never says so
SAYS_NOTHING_S = 0.3  # of silence after a cancel, before unprompted work counts as stopped
GONE_S = 0.02  # between looks for processes that still live
UNSEEN_S = (
    1.0  # a program's end is noticed within this; a prompt that lived longer may have been worked at in silence
)

IF_IT_WORKS = {"steering": {"idleBehavior": "promptRequired"}}  # otherwise the agent would begin a turn of its own
GO_ON = "Go on where you were interrupted."  # the prompt of a resumed turn that has no other words
STOPPED_SHORT = {
    "max_tokens": "it has reached the most tokens of an answer",
    "max_turn_requests": "it has asked its model as often as it may in one turn",
    "refusal": "it refuses to go on",
}

log = structlog.get_logger()


class AgentTurn:
    """A running turn, which hears its agent."""

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
        self._process = session.process
        self._bounds = bounds
        self._updates = session.receiver.updates
        self._permissions = Permissions(turn, self._process.definition, self._updates, deadline)
        self._tools = ClientTools(tooling, turn, self._updates, partial(_may_write, self._permissions, account))
        self._prompt: asyncio.Task[Any] | None = None
        self._prompted = False
        self._prompted_at = math.inf
        self._heard = False  # the agent has sent something in this turn
        self._unsaid: list[Json] = []  # blocks that the agent could not take in the middle of a prompt
        self._answers: list[Any] = []  # of prompts, not yet reported
        self._hurried = asyncio.Event()
        self._sign_at = time.monotonic()
        self._silence = Silence()

    async def run(self) -> str | None:
        """Carry the turn out, and return the agent's last message. A cancellation first ends the turn's processes."""
        self._process.begin_turn()
        self._updates.begin_turn(self._turn.new_item, prompted=self._turn.order.task is not Task.FOLLOW)
        await self._session.receiver.listen(self)
        try:
            await self._carry_out()
        except (asyncio.CancelledError, OverBudget):
            await to_the_end(self._stop())
            raise
        except ChildEnded as error:
            await to_the_end(self._process.end())
            if self._came_too_late:
                raise GoneBeforePrompt(str(error)) from error
            raise
        except Exception:
            self._process.settle()
            raise
        finally:
            self._session.receiver.leave()
            await to_the_end(self._tools.aclose())
            self._permissions.cancel()  # the turn's questions end with it
            self._emit(self._updates.finish())
            self._process.settle_seen()  # every path to here has just looked at the processes
            self._prompt = None  # an error in it would keep the frames that raised it, and these keep this turn
        return self._updates.last_message or None

    def hurry(self) -> None:
        self._hurried.set()
        if not self._process.is_alive:
            self._process.kill()

    # --- the agent's words and questions ----------------------------------------------------------------------------

    async def take_update(self, update: Json) -> None:
        self._heard = True
        self._sign_at = time.monotonic()
        self._emit(self._updates.take(update))
        await self._turn.wait_for_room()

    def handler_for(self, method: str) -> RequestHandler | None:
        self._heard = True
        return self._ask_permission if method == "session/request_permission" else self._tools.handler_for(method)

    async def _ask_permission(self, params: Json) -> Json:
        with self._account.waiting():
            return await self._permissions.ask(params)

    def _emit(self, news: Iterable[AgentNews]) -> None:
        if emitted := tuple(news):
            self._turn.emit(*emitted)

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
            blocks = [*map(text_block, reasons), *self._unsaid]
            self._unsaid = []
            if self._turn.input_offered or not blocks:
                blocks += await self._blocks(await self._turn.more_input())
            if blocks:
                await self._say(blocks)
            await self._quiet()

    def _refuse_pictures(self, inputs: Sequence[PendingInput]) -> None:
        """Fail a turn that begins with pictures if the agent has not said that it takes them."""
        pictures = any(not isinstance(item, TextItem) for entry in inputs for item in entry.items)
        if pictures and "pictures" not in self._process.capabilities:
            name = self._process.definition.name
            raise AgentFailed(f"the agent {name} takes no pictures; send words alone, or choose another agent")

    async def _blocks(self, inputs: Sequence[PendingInput]) -> list[Json]:
        """Return the inputs as blocks of a prompt. A worker thread is needed only to read pictures from files."""
        if any(isinstance(item, LocalImageItem) for entry in inputs for item in entry.items):
            return await asyncio.to_thread(blocks_of, inputs, self._tools.reach, self._bounds)
        return blocks_of(inputs, self._tools.reach, self._bounds)

    async def _say(self, blocks: list[Json]) -> None:
        """Prompt the agent, and wait for the answer. By then all updates before it have been handled."""
        session = self._session
        await session.setter.follow(self._turn)
        catch_up, session.catch_up = map(text_block, session.catch_up), ()
        params = {"sessionId": session.id, "prompt": [*catch_up, *blocks] or [text_block(GO_ON)]}
        self._prompted = True
        self._prompted_at = min(self._prompted_at, time.monotonic())
        self._account.note_prompt()
        self._prompt = asyncio.create_task(self._process.peer.request("session/prompt", params))
        self._prompt.add_done_callback(
            lambda prompt: prompt.cancelled() or prompt.exception()
        )  # a stop may never look
        while not self._prompt.done():
            await self._happening(self._prompt)
            self._emit(self._updates.tick())
            if self._prompt.done():
                break
            self._account.look()
            self._tell_of_silence()
            if self._turn.input_offered and self._process.can_be_steered:
                await self._steer()
        self._answers.append(self._prompt.result())

    def _tell_answers(self) -> None:
        """Report the answers of prompts: the tokens used, and why the agent stopped short."""
        for answer in self._answers:
            self._emit(self._updates.finish(answer))
            self._account.note_answer()
            reason = answer.get("stopReason") if isinstance(answer, dict) else None
            if reason in STOPPED_SHORT:
                notice = f"{self._process.definition.name} stopped: {STOPPED_SHORT[reason]}"
                self._turn.emit(ev.BackgroundEvent(message=notice))
        self._answers.clear()

    async def _happening(self, prompt: "asyncio.Task[Any]") -> None:
        """Wait for the answer, for input to steer in, or for the next look."""
        waiting: set[asyncio.Task[Any]] = {prompt}
        offered = asyncio.create_task(self._turn.input_ready.wait()) if self._process.can_be_steered else None
        if offered is not None:
            waiting.add(offered)
        await asyncio.wait(waiting, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
        if offered is not None:
            offered.cancel()

    def _tell_of_silence(self) -> None:
        """Emit a notice of silence that no open tool use and no question explains."""
        now = time.monotonic()
        if self._updates.open or self._permissions.waits:
            self._sign_at = now  # a tool or a person takes as long as it takes
        if self._silence.is_notice_due(silent_s := now - self._sign_at):
            self._turn.emit(ev.BackgroundEvent(message=silence_notice(silent_s, self._process.definition.name)))

    async def _steer(self) -> None:
        """Give the agent new input in the middle of a prompt. Input that it can't take now is its next prompt."""
        blocks = await self._blocks(await self._turn.more_input())
        if not blocks:
            return
        params = {"sessionId": self._session.id, "prompt": blocks, "_meta": IF_IT_WORKS}
        try:
            answer = await self._process.peer.request("_session/steering", params)
        except AgentRefused:
            answer = None
        outcome = answer.get("outcome") if isinstance(answer, dict) else None
        if outcome == "startedNewTurn":
            self._prompted = False  # no answer will tell the end of that turn
        elif outcome != "injected":
            self._unsaid += blocks

    async def _quiet(self) -> None:
        """Wait until the work is over, work that goes on after the answer included."""
        pause_s, before = LOOK_S, self._process.new_processes()
        if not (self._unsaid or self._turn.input_offered or wait_s(self._activity(len(before)))):
            self._turn.output.end_soon()  # the last words and the turn's end are then one commit
        self._tell_answers()
        while (left_s := wait_s(self._activity(len(before)))) > 0:
            await asyncio.sleep(min(left_s, pause_s))
            pause_s = min(2 * pause_s, LOOK_MOST_S)
            if (begun := self._process.new_processes()) != before:
                before, self._sign_at = begun, time.monotonic()
            if not self._process.is_alive:
                raise self._process.ended_error()
        if notice := work_goes_on_notice(self._activity(len(before)), self._process.definition.name):
            self._turn.emit(ev.BackgroundEvent(message=notice))

    def _activity(self, processes: int) -> Activity:
        silent_s = time.monotonic() - self._sign_at
        return Activity(len(self._updates.open), processes, silent_s, self._prompted, self._permissions.waits)

    @property
    def _came_too_late(self) -> bool:
        """Tell whether the program was dead, or about to be, when it was prompted: it did nothing of the prompt."""
        return not self._heard and self._process.ended_at - self._prompted_at < UNSEEN_S

    # --- its stop ---------------------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        """Ask the agent to stop. If it does not in time, end it with all processes that it began."""
        if self._turn.suspending:  # its questions stay open, so it must not be told that they were answered
            await self._process.end(why="its conversation is put away until a question is answered")
        self._permissions.cancel()
        if self._process.is_alive and not await self._has_stopped():
            log.info("agent.ended_to_stop", agent=self._process.definition.name, turn=self._turn.order.turn)
            await self._process.end(kill=self._hurried.is_set(), why="the turn was stopped, and it went on")

    async def _has_stopped(self) -> bool:
        """Cancel the prompt, and tell whether the agent stopped in time."""
        if self._hurried.is_set():
            return False
        hurried = asyncio.create_task(self._hurried.wait())
        stopping = asyncio.create_task(self._cancel_and_wait())
        try:
            await asyncio.wait({hurried, stopping}, timeout=CANCEL_S, return_when=asyncio.FIRST_COMPLETED)
            return stopping.done() and stopping.exception() is None
        finally:
            hurried.cancel()
            stopping.cancel()

    async def _cancel_and_wait(self) -> None:
        """Cancel the prompt; return when it is answered and no process that began in this turn is alive."""
        await self._process.peer.notify("session/cancel", {"sessionId": self._session.id})
        if self._prompt is not None:
            await asyncio.wait({self._prompt})
            if isinstance(error := self._prompt.exception(), ChildEnded):
                raise error
        self._sign_at = time.monotonic()
        while self._process.new_processes() or self._works_unprompted():  # noqa: ASYNC110  # only children report their end
            await asyncio.sleep(GONE_S)

    def _works_unprompted(self) -> bool:
        """Tell whether the agent still sends updates of work that no prompt asked for: no answer marks its end."""
        return not self._prompted and time.monotonic() - self._sign_at < SAYS_NOTHING_S


async def _may_write(
    permissions: Permissions, account: AgentAccount, plan: PatchPlan, obeyed_by: tuple[str, ...], reason: str
) -> bool:
    with account.waiting():
        return await permissions.ask_for_write(plan, obeyed_by, reason)


# --- a person's message as blocks of a prompt -----------------------------------------------------------------------


def blocks_of(inputs: Iterable[PendingInput], reach: Reach, bounds: Bounds) -> list[Json]:
    """Return the blocks. Reads pictures from the disk, if there are any: then in a worker thread."""
    return [block for entry in inputs for item in entry.items for block in _item_blocks(item, reach, bounds)]


def _item_blocks(item: InputItem, reach: Reach, bounds: Bounds) -> Iterator[Json]:
    match item:
        case TextItem():
            yield text_block(item.text)
        case ImageItem() if item.image_url.startswith("data:"):
            yield _image(item.image_url)
        case ImageItem():
            yield {"type": "resource_link", "uri": item.image_url, "name": "a picture"}
        case LocalImageItem():
            yield _picture(item, reach, bounds)


def _picture(item: LocalImageItem, reach: Reach, bounds: Bounds) -> Json:
    try:
        return _image(picture_in(str(item.path), reach, bounds))
    except NotReadable as error:
        return text_block(f"[a picture was left out: {error.reason}]")
    except NoPicture as error:
        return text_block(f"[{error}]")


def _image(address: str) -> Json:
    kind, _, data = address.removeprefix("data:").partition(";base64,")
    return {"type": "image", "mimeType": kind, "data": data}


def text_block(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}
