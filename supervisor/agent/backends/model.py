"""A model with our tools: ask, carry out its calls, ask again, until it makes no more calls. Loop thread.

The loop is the same for every model. It can begin in the middle, because open calls come first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from actors.conversation.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Decision, Settings
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.environments import Around
from supervisor.agent.model.client import Deliver
from supervisor.agent.model.errors import BeyondBound
from supervisor.agent.model.pieces import Form
from supervisor.agent.model.request import HistoryItem, ModelRequest, Part, Piece, Said, Text, said
from supervisor.agent.model.retry import Build, Pause
from supervisor.agent.model_events import ModelEvents
from supervisor.agent.pictures import readable
from supervisor.agent.prompt_context import BASE_INSTRUCTIONS, Notice, notices
from supervisor.agent.tools.specs import tools_for
from supervisor.agent.tools.toolbox import Toolbox
from supervisor.agent.tools.work import Work
from supervisor.agent.transcripts import TranscriptCache, take_inputs
from supervisor.agent.turn import Turn

TOO_LONG = "the conversation is too long to be sent to a model; fork it at an earlier point, or begin another"

Notify = Callable[[Pause], Awaitable[None]]


class Model(Protocol):
    @property
    def form(self) -> Form:
        """The form in which it reads a history."""
        ...

    async def respond(self, build: Build, deliver: Deliver, notify: Notify) -> None:
        """Get one response. `build` is called before every attempt, `notify` before every pause."""
        ...


class ModelSource(Protocol):
    def of(self, order: RunAgent) -> Model:
        """Return the order's model. Raises ModelError if there is none."""
        ...

    def notice(self, order: RunAgent) -> str | None:
        """Return, once, the text about how the model was chosen that a person should read."""
        ...


class AgentOptions(Struct, frozen=True):
    """Options from the config for talking to a model."""

    home: Path
    guide_bytes: int = 32 * 1024
    show_raw_reasoning: bool = False
    hide_reasoning: bool = False
    store_responses: bool = True
    approval_deadline_s: float | None = None
    approval_default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


class ModelBackend:
    resumable = True

    def __init__(
        self,
        models: ModelSource,
        transcripts: TranscriptCache,
        toolbox: Toolbox,
        options: AgentOptions,
        around: Callable[[RunAgent], Around],
        bounds: Bounds = DEFAULTS,
    ) -> None:
        self._models = models
        self._transcripts = transcripts
        self._toolbox = toolbox
        self._options = options
        self._around = around
        self._bounds = bounds

    async def run(self, turn: Turn) -> str | None:
        order = turn.order
        model = self._models.of(order)
        looking = self._look_around(order.settings)
        transcript = await self._transcripts.open(order, model.form)
        around, options = self._around(order), self._options
        work = Work(
            turn, transcript, around, options.approval_deadline_s, options.approval_default, bounds=self._bounds
        )
        self._tell_context(work, await looking)
        while True:
            await self._respond(model, work)
            done = not transcript.open_calls
            await self._carry_out_calls(work)
            if not await _take_more(work) and done:
                break
        turn.heard = tuple(transcript.heard)
        self._transcripts.keep(order.conversation, transcript)
        return transcript.last_said

    def forget(self, conversation: ConversationId) -> None:
        self._transcripts.forget(conversation)

    def _look_around(self, settings: Settings) -> asyncio.Future[list[Notice]]:
        """Collect the notices in a worker thread while the transcript is opened: the disk may be slow, or away."""
        home, guide_bytes = self._options.home, self._options.guide_bytes
        look = lambda: list(notices(settings, home, guide_bytes))  # noqa: E731  # as the executor wants it
        return asyncio.get_running_loop().run_in_executor(None, look)

    def _tell_context(self, work: Work, wanted: Sequence[Notice]) -> None:
        """Add the notices that are new or have changed."""
        transcript = work.transcript
        if not transcript.last_context and (about_model := self._models.notice(work.turn.order)):
            work.say(ev.BackgroundEvent(message=about_model))
        for notice in wanted:
            if transcript.last_context.get(notice.kind) != notice.text:
                work.say(ev.UserMessage(message=notice.text, kind=notice.kind, item_id=work.turn.new_item()))

    async def _respond(self, model: Model, work: Work) -> None:
        events = ModelEvents(
            work.turn,
            work.transcript,
            show_raw=self._options.show_raw_reasoning,
            hide_reasoning=self._options.hide_reasoning,
        )

        async def build() -> ModelRequest:
            await self._carry_out_calls(work)
            return await self._request(work)

        async def notify(pause: Pause) -> None:
            events.broke()
            delay_ms = round(pause.delay_s * 1000)
            work.say(ev.StreamError(message=pause.text, attempt=pause.attempt, delay_ms=delay_ms))

        work.transcript.last_said = None  # the answer of a turn is the text of its last response
        await model.respond(build, events.hear, notify)

    async def _carry_out_calls(self, work: Work) -> None:
        """Carry out the open calls one after the other, in the model's order: the second may depend on the first."""
        for call in work.transcript.open_calls:
            output = await self._toolbox.carry_out(work, call)
            work.say(ev.ToolOutput(call_id=call.call, item_id=call.item, output=output))
            await work.turn.room()
            await asyncio.sleep(0)  # a call that needs no waiting leaves others no turn

    async def _request(self, work: Work) -> ModelRequest:
        settings, order = work.settings, work.turn.order
        return ModelRequest(
            model=settings.model,
            instructions=_instructions(settings),
            items=(*_told_first(settings), *await _with_pictures(work)),
            tools=tools_for(settings),
            effort=settings.effort,
            summary=settings.summary,
            session_id=order.conversation,
            store=self._options.store_responses,
        )


async def _take_more(work: Work) -> bool:
    """Let new input join the turn, before the model is asked again and before the turn is over."""
    if not work.turn.input_offered:
        return False
    inputs = await work.turn.more_input()
    take_inputs(work.transcript, inputs)
    return bool(inputs)


def _instructions(settings: Settings) -> str:
    return settings.base_instructions or BASE_INSTRUCTIONS


def _told_first(settings: Settings) -> tuple[HistoryItem, ...]:
    """Return the developer instructions of the current settings, so that a fork or a restart has the right ones."""
    text = settings.developer_instructions
    return (said("developer", text),) if text else ()


async def _with_pictures(work: Work) -> tuple[Piece, ...]:
    """Return the items with their pictures read; nothing is read or copied beyond the bound of a request."""
    room = work.bounds.request_bytes - work.transcript.size
    pieces: list[Piece] = []
    for item in work.transcript.items:
        if isinstance(item, Said) and room >= 0:
            read = await _read_pictures(work, item)
            room -= len(read.data)
            pieces.append(read)
        elif isinstance(item, Piece):
            pieces.append(item)
    if room < 0:
        raise BeyondBound(work.bounds.beyond("request_bytes", TOO_LONG))
    return tuple(pieces)


async def _read_pictures(work: Work, message: Said) -> Piece:
    """Replace pictures by data or words; a person is told once of each picture that the model does not get."""
    piece, left_out = await asyncio.to_thread(_read, message, work.transcript.form, work.settings.cwd, work.bounds)
    for words in left_out:
        if words not in work.transcript.left_out:
            work.transcript.left_out.add(words)
            work.say(ev.BackgroundEvent(message=f"the model does not get a picture: {words.strip('[]')}"))
    return piece


def _read(message: Said, form: Form, cwd: Path, bounds: Bounds) -> tuple[Piece, list[str]]:
    """Read the pictures and encode the message, and return the words for those that the model does not get."""
    parts: list[Part] = [part if isinstance(part, Text) else readable(part, cwd, bounds) for part in message.parts]
    both = zip(message.parts, parts, strict=True)
    left_out = [read.text for part, read in both if isinstance(read, Text) and read is not part]
    return form.encode(replace(message, parts=tuple(parts))), left_out
