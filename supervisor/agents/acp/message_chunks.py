"""Messages and thoughts of an agent, which come in pieces: each is an item, finished when something else begins.

Pure.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from actors.vocabulary.items import TextItem
from supervisor.agents.acp.json_readers import Shape, text
from supervisor.config.bounds import Bounds

MessageType = type[ev.AgentMessage] | type[ev.AgentReasoning] | type[ev.UserMessage]
SpokenNews = ev.AgentMessageDelta | ev.AgentReasoningDelta | ev.AgentMessage | ev.AgentReasoning | ev.UserMessage


class Item(Struct):
    """An unfinished item. `left_out`: characters beyond the bound, which are counted and not kept."""

    id: ItemId
    voice: MessageType
    message: str  # the agent's id of it; empty where it gives none
    pieces: list[str]
    room: int
    left_out: int = 0

    def add(self, words: str) -> str:
        """Add as much as there is room for, and return that."""
        kept = words[: self.room]
        self.left_out += len(words) - len(kept)
        self.room -= len(kept)
        if kept:
            self.pieces.append(kept)
        return kept

    @property
    def words(self) -> str:
        note = f"\n[… {self.left_out:,} more characters were left out …]" if self.left_out else ""
        return "".join(self.pieces) + note


class MessageChunks:
    def __init__(self, bounds: Bounds) -> None:
        self._most = bounds.event_bytes // 4  # characters, of which each has up to four bytes
        self._open: Item | None = None
        self.last = ""  # the last finished message

    def take(
        self, voice: MessageType, chunk: Shape, words: str, new_item: Callable[[], ItemId]
    ) -> Iterator[SpokenNews]:
        if not words:
            return
        message = text(chunk.get("messageId"))
        item = self._open
        if item is None or item.voice is not voice or item.message != message:
            yield from self.close()
            item = self._open = Item(new_item(), voice, message, [], self._most)
        kept = item.add(words)
        if kept and voice is ev.AgentMessage:
            yield ev.AgentMessageDelta(delta=kept, item_id=item.id)
        elif kept and voice is ev.AgentReasoning:
            yield ev.AgentReasoningDelta(delta=kept, item_id=item.id)

    def close(self) -> Iterator[SpokenNews]:
        """Finish the open item; its event has the whole text."""
        item, self._open = self._open, None
        if item is not None:
            yield self._finish(item)

    def _finish(self, item: Item) -> SpokenNews:
        if item.voice is ev.AgentMessage:
            self.last = item.words
            return ev.AgentMessage(message=item.words, item_id=item.id)
        if item.voice is ev.AgentReasoning:
            return ev.AgentReasoning(text=item.words, item_id=item.id)
        return ev.UserMessage(message=item.words, item_id=item.id, items=(TextItem(text=item.words),))
