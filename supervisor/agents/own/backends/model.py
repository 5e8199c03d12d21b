"""A model with our tools: ask, carry out its calls, ask again, until it makes no more calls. Loop thread.

The loop is the same for every model. It can begin in the middle, because open calls come first.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct

from actors.messages.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Decision, Settings, Task
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.errors import ContextFull
from supervisor.agents.own.backends.ports import Model, ModelSource, Notify
from supervisor.agents.own.context.compactor import Respond
from supervisor.agents.own.context.keeper import CompactAt, ContextKeeper, still_too_long
from supervisor.agents.own.context.prompt_context import Context, context_now, withdrawn_skills
from supervisor.agents.own.context.request_builder import RequestBuilder
from supervisor.agents.own.model.answer_reader import Deliver
from supervisor.agents.own.model.request import ModelRequest
from supervisor.agents.own.model.retry import Build, Pause
from supervisor.agents.own.tools.tool_result import ToolResult
from supervisor.agents.own.tools.toolbox import Toolbox
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.model_events import ModelEvents
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.own.transcript.transcripts import TranscriptCache, take_inputs
from supervisor.agents.own.transcript.wording import describe_saving
from supervisor.agents.spending.account import Account
from supervisor.agents.turn import Turn
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.loop.side_by_side import side_by_side
from supervisor.work.reach.readable import Reach


class ModelOptions(Struct, frozen=True):
    """Options from the config for talking to a model."""

    home: Path
    hidden: tuple[Path, ...] = ()  # folders that nothing is read from for a model
    guide_bytes: int = 32 * 1024
    skills_bytes: int = 0  # 0: skills are not offered
    show_raw_reasoning: bool = False
    hide_reasoning: bool = False
    store_responses: bool = True
    compact_at: CompactAt = CompactAt()
    approval_deadline_s: float | None = None
    approval_default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


class ChosenModel(Struct, frozen=True):
    """The model at hand, and the settings by which it was chosen; a person may change them while the turn runs."""

    model: Model
    settings: Settings


class SettingsWereChanged(Exception):
    """The next request is for another model, or for the same one with other settings."""


class ModelBackend:
    resumable = True

    def __init__(
        self,
        models: ModelSource,
        transcripts: TranscriptCache,
        toolbox: Toolbox,
        options: ModelOptions,
        around: Callable[[RunAgent], CommandEnvironment],
        bounds: Bounds = DEFAULTS,
        account: Callable[[Turn], Account] = Account,
    ) -> None:
        self._models = models
        self._transcripts = transcripts
        self._toolbox = toolbox
        self._options = options
        self._around = around
        self._bounds = bounds
        self._account = account
        self._requests = RequestBuilder(toolbox, store=options.store_responses)
        self._room = ContextKeeper(transcripts, options.compact_at, self._requests.build, self._requests.overhead)

    async def run(self, turn: Turn) -> str | None:
        order, account = turn.order, self._account(turn)
        with account.open():
            return await self._carry_out_turn(turn, order, account)

    async def _carry_out_turn(self, turn: Turn, order: RunAgent, account: Account) -> str | None:
        chosen = self._choose(turn)
        around, options = self._around(order), self._options
        looking = self._look_around(chosen.settings, around)
        transcript = await self._transcripts.open(order, chosen.model.form)
        deadline_s, default = options.approval_deadline_s, options.approval_default
        work = Work(
            turn, transcript, around, account, deadline_s, default, bounds=self._bounds, hidden=options.hidden
        )
        self._tell_context(work, await looking)
        if order.task is Task.COMPACT:
            return await self._compact(chosen, work)
        while True:
            self._tell_news(work)
            chosen = await self._respond(chosen, work)
            done = not work.transcript.calls.open
            await self._carry_out_calls(work)
            if not await _take_more(work) and done:
                break
        turn.user_messages = tuple(work.transcript.user_messages)
        self._transcripts.keep(order.conversation, work.transcript)
        return work.transcript.last_said

    async def _compact(self, chosen: ChosenModel, work: Work) -> str:
        """Sum up the history because a person asked for it, and return the result in words."""
        model = chosen.model
        summed = await self._room.make_room_on_request(
            work, chosen.settings, model.window, count_requests(model, work)
        )
        self._transcripts.keep(work.turn.order.conversation, work.transcript)
        return f"Summed up events {summed.first_seq} to {summed.last_seq}: {describe_saving(summed)}."

    def hurry(self, turn: TurnId) -> None:
        """Do nothing: only commands have a grace period, and the runner ends them."""

    def forget(self, conversation: ConversationId) -> None:
        self._transcripts.forget(conversation)
        self._models.forget(conversation)

    def _choose(self, turn: Turn) -> ChosenModel:
        return ChosenModel(self._models.model_for(turn.order.conversation, turn.settings), turn.settings)

    async def _follow_settings(self, chosen: ChosenModel, work: Work) -> ChosenModel:
        """Follow settings that were changed meanwhile: choose the model anew, and tell it the changed context."""
        while work.settings is not chosen.settings:
            chosen = self._choose(work.turn)
            if chosen.model.form is not work.transcript.form:
                until = await work.turn.wait_until_stored()
                work.transcript = await self._transcripts.reopen(
                    work.turn.order, work.transcript, until, chosen.model.form
                )
            self._tell_context(work, await self._look_around(chosen.settings, work.environment))
        return chosen

    def _look_around(self, settings: Settings, around: CommandEnvironment) -> asyncio.Future[Context]:
        """Collect the context in a worker thread while the transcript is opened: the disk may be slow, or away."""
        options, reach = self._options, Reach.for_commands(settings.cwd, around.env, self._options.hidden)
        look = partial(context_now, settings, reach, options.home, options.guide_bytes, options.skills_bytes)
        return asyncio.get_running_loop().run_in_executor(None, look)

    def _tell_context(self, work: Work, wanted: Context) -> None:
        """Add the notices that are new or have changed."""
        transcript = work.transcript
        if not transcript.last_context and (choice := self._choice_notice(work)):
            work.say(ev.BackgroundEvent(message=choice))
        for why in wanted.left_out:
            work.tell_left_out(f"the model does not get a file: {why}")
        for notice in (*wanted.notices, *withdrawn_skills(wanted.notices, transcript.last_context)):
            if transcript.last_context.get(notice.kind) != notice.text:
                work.say(ev.UserMessage(message=notice.text, kind=notice.kind, item_id=work.turn.new_item()))

    def _tell_news(self, work: Work) -> None:
        if (news := self._toolbox.news(work)) is not None:
            work.say(ev.UserMessage(message=news, kind=ev.MessageKind.JOBS, item_id=work.turn.new_item()))

    def _choice_notice(self, work: Work) -> str | None:
        return self._models.notice(work.turn.order.conversation, work.settings)

    async def _respond(self, chosen: ChosenModel, work: Work) -> ChosenModel:
        """Get a response by the settings of this moment, and return the model that gave it.

        Settings may change during a pause. A history that is refused as too long is summed up, once.
        """
        refused = False
        while True:
            chosen = await self._follow_settings(chosen, work)
            model, settings = chosen.model, chosen.settings
            await self._room.make_room(work, settings, model.window, count_requests(model, work))
            try:
                await self._ask(chosen, work)
            except SettingsWereChanged:
                continue
            except ContextFull as refusal:
                if refused:
                    raise still_too_long(refusal) from refusal
                refused = True
                await self._room.make_room_after_refusal(
                    refusal, work, settings, model.window, count_requests(model, work)
                )
                continue
            return chosen

    async def _ask(self, chosen: ChosenModel, work: Work) -> None:
        events = ModelEvents(
            work.turn,
            work.transcript,
            work.account,
            lambda: chosen.model.window.tokens,
            show_raw=self._options.show_raw_reasoning,
            hide_reasoning=self._options.hide_reasoning,
        )

        async def build() -> ModelRequest:
            await self._carry_out_calls(work)
            if work.settings is not chosen.settings:
                raise SettingsWereChanged
            return await self._requests.build(work, chosen.settings, work.transcript)

        async def notify(pause: Pause) -> None:
            events.drop_open_items()
            delay_ms = round(pause.delay_s * 1000)
            work.say(ev.StreamError(message=pause.text, attempt=pause.attempt, delay_ms=delay_ms))

        work.transcript.last_said = None  # the answer of a turn is the text of its last response
        await count_requests(chosen.model, work)(build, events.hear, notify)

    async def _carry_out_calls(self, work: Work) -> None:
        """Carry out the open calls in the model's order; adjacent calls that only read run side by side."""
        for together in await self._toolbox.rounds(work, work.transcript.calls.open):
            waiting = together
            while waiting:
                places = work.account.begin_calls(len(work.transcript.calls.open), len(waiting))
                calls, waiting = waiting[:places], waiting[places:]
                await self._carry_out(work, calls)
            work.account.look_at_repetitions(work.transcript.repetition.times())

    async def _carry_out(self, work: Work, calls: Sequence[OpenCall]) -> None:
        async with side_by_side(self._toolbox.carry_out(work, call) for call in calls) as results:
            for call, result in zip(calls, results, strict=True):
                _tell_output(work, call, await result)
                await work.turn.wait_for_room()
                await asyncio.sleep(0)  # calls that never wait would keep the loop from other work


def count_requests(model: Model, work: Work) -> Respond:
    """Let each request to the model count before it is sent, if there is budget left for it."""

    async def respond(build: Build, deliver: Deliver, notify: Notify) -> None:
        async def build_and_count() -> ModelRequest:
            request = await build()
            await work.account.begin_request(model.billing)
            return request

        try:
            await model.respond(build_and_count, deliver, notify)
        except asyncio.CancelledError:
            work.account.note_cut_off()
            raise
        work.account.note_answer()

    return respond


def _tell_output(work: Work, call: OpenCall, result: ToolResult) -> None:
    text = work.transcript.repetition.with_warning(call.item, result.text)
    if text != result.text:
        work.say(ev.BackgroundEvent(message="the model repeats itself, with the same results; it is told so"))
    work.say(
        ev.ToolOutput(
            call_id=call.call,
            item_id=call.item,
            output=text,
            failed=result.failed,
            pictures=result.pictures,
        )
    )


async def _take_more(work: Work) -> bool:
    """Let new input join the turn, before the model is asked again and before the turn is over."""
    if not work.turn.input_offered:
        return False
    inputs = await work.turn.more_input()
    take_inputs(work.transcript, inputs)
    return bool(inputs)
