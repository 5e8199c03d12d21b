"""The building of requests: instructions, the history with its pictures read, the tools of this moment. Loop thread.

Pictures are read in worker threads, because the disk may be slow, or away.
"""

import asyncio

from msgspec.structs import replace
from pydantic_core import to_json

from actors.vocabulary.settings import Settings
from supervisor.agents.errors import BeyondBound
from supervisor.agents.own.context.prompt_context import BASE_INSTRUCTIONS
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.pictures import readable_picture
from supervisor.agents.own.model.request import (
    HistoryItem,
    HistoryPiece,
    MessageItem,
    ModelRequest,
    Part,
    TextPart,
    text_message,
)
from supervisor.agents.own.tools.toolbox import Toolbox
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.config.bounds import Bounds
from supervisor.work.reach.readable import Reach

TOO_LONG = "the conversation is too long to be sent to a model; fork it at an earlier point, or begin another"


class RequestBuilder:
    """The builder of all requests. `store`: the server may keep its responses."""

    def __init__(self, toolbox: Toolbox, *, store: bool) -> None:
        self._toolbox = toolbox
        self._store = store

    async def build(
        self, work: Work, settings: Settings, transcript: ModelTranscript, *more: HistoryItem
    ) -> ModelRequest:
        return ModelRequest(
            model=settings.model,
            instructions=_instructions(settings),
            items=(*_developer_instructions(settings), *await _with_pictures(work, transcript), *more),
            tools=await self._toolbox.offered_specs(work),
            effort=settings.effort,
            summary=settings.summary,
            session_id=work.turn.order.conversation,
            store=self._store,
        )

    async def overhead(self, work: Work, settings: Settings) -> int:
        """Return the bytes of a request that are not history: instructions and tools."""
        instructions = len(_instructions(settings)) + len(settings.developer_instructions or "")
        return instructions + sum(
            len(tool.name) + len(tool.description) + len(to_json(tool.parameters))
            for tool in await self._toolbox.offered_specs(work)
        )


def _instructions(settings: Settings) -> str:
    return settings.base_instructions or BASE_INSTRUCTIONS


def _developer_instructions(settings: Settings) -> tuple[HistoryItem, ...]:
    """Return the developer instructions of the current settings, so that a fork or a restart has the right ones."""
    text = settings.developer_instructions
    return (text_message("developer", text),) if text else ()


async def _with_pictures(work: Work, transcript: ModelTranscript) -> list[HistoryPiece | MessageItem]:
    """Return the items with their pictures read; nothing is read or copied beyond the bound of a request."""
    room, pieces = work.bounds.request_bytes - transcript.size, transcript.items
    for place, item in enumerate(pieces):
        if isinstance(item, MessageItem) and room >= 0:
            pieces[place] = read = await _read_pictures(work, item)
            room -= len(read.data)
    if room < 0:
        raise BeyondBound(work.bounds.describe_excess("request_bytes", TOO_LONG))
    return pieces


async def _read_pictures(work: Work, message: MessageItem) -> HistoryPiece:
    """Replace pictures by data or words; show a notice, once, of each picture that the model does not get."""
    piece, left_out = await asyncio.to_thread(_read, message, work.transcript.form, work.reach, work.bounds)
    for words in left_out:
        work.tell_left_out(f"the model does not get a picture: {words.strip('[]')}")
    return piece


def _read(message: MessageItem, form: Form, reach: Reach, bounds: Bounds) -> tuple[HistoryPiece, list[str]]:
    """Read the pictures and encode the message, and return the words for those that the model does not get."""
    parts: list[Part] = [
        part if isinstance(part, TextPart) else readable_picture(part, reach, bounds) for part in message.parts
    ]
    both = zip(message.parts, parts, strict=True)
    left_out = [read.text for part, read in both if isinstance(read, TextPart) and read is not part]
    return form.encode(replace(message, parts=tuple(parts))), left_out
