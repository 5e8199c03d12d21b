"""Turns the updates of a third-party agent's session into events. Pure: it has no clock but the one that it is given.

Updates are foreign: a member of a wrong type counts as missing, and unknown kinds are counted. An instance lives as
long as the session's process; each turn gives it a way to name items.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from actors.messages.orders import AgentNews as TurnNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from actors.vocabulary.items import TextItem
from supervisor.agents.acp.json_readers import Shape, block_text, shape, shapes, short, text
from supervisor.agents.acp.latest_news import LatestNews, News
from supervisor.agents.acp.tool_use import ToolUse
from supervisor.agents.acp.tool_uses import Terminals, ToolUses
from supervisor.agents.acp.usage import AgentUsage
from supervisor.config.bounds import Bounds

MessageType = type[ev.AgentMessage] | type[ev.AgentReasoning] | type[ev.UserMessage]
SpokenNews = ev.AgentMessageDelta | ev.AgentReasoningDelta | ev.AgentMessage | ev.AgentReasoning | ev.UserMessage
NewItem = Callable[[], ItemId]

MOST_STEPS = 200  # of a plan; a longer list is no plan
MOST_KINDS = 64  # unknown kinds of updates that are counted separately
VOICES: dict[str, MessageType] = {
    "agent_message_chunk": ev.AgentMessage,
    "agent_thought_chunk": ev.AgentReasoning,
    "user_message_chunk": ev.UserMessage,
}
CALLS = {"tool_call", "tool_call_update"}
NO_WORK = {
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
}
STEPS = {"pending": "pending", "in_progress": "in_progress", "completed": "completed"}


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
    """Messages and thoughts, which come in pieces: each is an item, finished when something else begins."""

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


class Updates:
    def __init__(
        self,
        new_item: NewItem,
        bounds: Bounds,
        now: Callable[[], float],
        *,
        agent: str = "",
        cwd: Path | None = None,
        terminals: Terminals = lambda _: None,
        sum_usd: float = 0.0,
        from_usd: float = 0.0,
    ) -> None:
        """`sum_usd`: the session's cost as its last process reported it; `from_usd`: the cost when that began."""
        self._new_item = new_item
        self._spoken = MessageChunks(bounds)
        self._uses = ToolUses(bounds, now, terminals, cwd)
        self._news = LatestNews(agent)
        self._usage = AgentUsage(agent, sum_usd, from_usd)
        self._plan: tuple[ev.PlanStep, ...] = ()
        self.prompted = True  # a prompt is open, which some agents send back as an update
        self.unknown: Counter[str] = Counter()

    def begin_turn(self, new_item: NewItem, *, prompted: bool = True) -> None:
        """Begin a turn: items get its ids. Calls that the last turn left open have ended with it."""
        self._new_item = new_item
        self.prompted = prompted
        self._uses.forget()
        self._plan = ()

    # --- updates --------------------------------------------------------------------------------------------------

    def take(self, update: Any) -> Iterator[TurnNews]:
        """Yield the events of an update, while a turn is open."""
        members = shape(update)
        kind = members.get("sessionUpdate")
        if not isinstance(kind, str):
            self._count_unknown("")
        elif kind in VOICES:
            yield from self._say(VOICES[kind], members)
        elif kind in CALLS:
            if not (self._uses.knows(members) or self._uses.is_late(members)):
                yield from self._spoken.close()
            yield from self._uses.take(members, self._new_item)
        elif kind == "plan":
            yield from self._plan_of(members)
        elif kind in NO_WORK:
            yield from self.news_outside(members)
        else:
            self._count_unknown(kind)

    def is_work(self, update: Any) -> bool:
        """Tell whether an update that comes while no turn is open begins one."""
        members = shape(update)
        kind = text(members.get("sessionUpdate"))
        if kind in CALLS:
            return bool(members.get("toolCallId")) and not self._uses.is_late(members)
        return kind == "plan" or (kind in VOICES and bool(block_text(shape(members.get("content")))))

    def news_outside(self, update: Any) -> Iterator[News]:
        """Yield the news of an update that is no work. Its usage is reported with the end of the next work."""
        members = shape(update)
        if members.get("sessionUpdate") == "usage_update":
            self._usage.take(members)
        yield from self._news.take(members)

    def initial_news(self, answer: Any, *, anew: bool = False) -> Iterator[News]:
        """Yield the news in the answer that starts the session. `anew`: it is another than the last process's."""
        if anew:
            self._usage.begin_anew()
        yield from self._news.initial_news(answer)

    def news_of_choice(self, option: str, value: str) -> Iterator[News]:
        """Yield the news that the agent took a value which we have set."""
        yield from self._news.news_of_choice(option, value)

    def end_words(self) -> Iterator[TurnNews]:
        """Finish the open message before something else begins: a question comes after the words before it."""
        yield from self._spoken.close()

    def finish(self, answer: Any = None) -> Iterator[TurnNews]:
        """Yield the events at the end of a prompt, with its answer if there was one. Running tools go on."""
        yield from self._spoken.close()
        yield from self._usage.usage_event(answer, self._news.model)

    # --- tools ----------------------------------------------------------------------------------------------------

    @property
    def open(self) -> tuple[ToolUse, ...]:
        return self._uses.open

    @property
    def unfinished(self) -> tuple[ToolUse, ...]:
        """The calls that run, that wait for a permission, or that have only been announced."""
        return self._uses.unfinished

    @property
    def last_message(self) -> str:
        return self._spoken.last

    @property
    def options(self) -> tuple[ev.AgentOption, ...]:
        return self._news.options

    def permission(self, call: Any) -> ToolUse:
        """Take a request for permission, and return its call, which waits from then on."""
        return self._uses.ask(shape(call), self._new_item)

    def allow(self, call_id: str) -> Iterator[TurnNews]:
        yield from self._uses.allow(call_id)

    def refuse(self, call_id: str) -> Iterator[TurnNews]:
        yield from self._uses.refuse(call_id)

    def tick(self) -> Iterator[TurnNews]:
        """Begin the calls that wait without a question: some agents never report that a call runs."""
        yield from self._uses.begin_waiting()

    def show_terminals(self, terminals: Terminals) -> None:
        self._uses.terminals = terminals

    def terminal_wrote(self, terminal: str, piece: str) -> Iterator[TurnNews]:
        yield from self._uses.terminal_wrote(terminal, piece)

    # --- words and plans ------------------------------------------------------------------------------------------

    def _say(self, voice: MessageType, update: Shape) -> Iterator[TurnNews]:
        if voice is ev.UserMessage and self.prompted:
            return
        yield from self._spoken.take(voice, update, block_text(shape(update.get("content"))), self._new_item)

    def _plan_of(self, update: Shape) -> Iterator[TurnNews]:
        entries = shapes(update.get("entries"), MOST_STEPS)
        steps = tuple(
            ev.PlanStep.model_validate(
                {"step": short(entry.get("content")), "status": STEPS.get(str(entry.get("status")), "pending")}
            )
            for entry in entries
        )
        if steps != self._plan:
            self._plan = steps
            yield from self._spoken.close()
            yield ev.PlanUpdate(plan=steps, item_id=self._new_item())

    def _count_unknown(self, kind: str) -> None:
        known = kind[:64] if kind in self.unknown or len(self.unknown) < MOST_KINDS else ""
        self.unknown[known] += 1
