"""The updates of an agent's session as events of ours. Pure: no clock but the one it is given.

What an agent sends is foreign: a member of a wrong type is as good as not there, kinds that nobody knows are counted.
One of these lives as long as the session's process; each turn gives it a way to name items.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from actors.messages.orders import AgentNews as TurnNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from supervisor.agents.acp.contents import words_of
from supervisor.agents.acp.options import AgentNews, News
from supervisor.agents.acp.shapes import Shape, shape, shapes, short, text
from supervisor.agents.acp.spoken import Spoken, Voice
from supervisor.agents.acp.tool_use import ToolUse
from supervisor.agents.acp.tool_uses import Terminals, ToolUses
from supervisor.agents.acp.usage import Usage
from supervisor.config.bounds import Bounds

NewItem = Callable[[], ItemId]

MOST_STEPS = 200  # of a plan; one that is longer is no plan
MOST_KINDS = 64  # of updates that nobody knows, counted apart
VOICES: dict[str, Voice] = {
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
        """`sum_usd`: what the session's last process had said that it cost, if this one goes on with it.

        `from_usd`: what it had cost when that process began.
        """
        self._new_item = new_item
        self._spoken = Spoken(bounds)
        self._uses = ToolUses(bounds, now, terminals, cwd)
        self._news = AgentNews(agent)
        self._usage = Usage(agent, sum_usd, from_usd)
        self._plan: tuple[ev.PlanStep, ...] = ()
        self.prompted = True  # a prompt of ours is open, which some agents repeat to us
        self.unknown: Counter[str] = Counter()

    def begin_turn(self, new_item: NewItem, *, prompted: bool = True) -> None:
        """Begin a turn: items get its ids. What another turn left open has ended with it."""
        self._new_item = new_item
        self.prompted = prompted
        self._uses.forget()
        self._plan = ()

    # --- updates --------------------------------------------------------------------------------------------------

    def take(self, update: Any) -> Iterator[TurnNews]:
        """The events of an update, while a turn is open."""
        told = shape(update)
        kind = told.get("sessionUpdate")
        if not isinstance(kind, str):
            self._not_known("")
        elif kind in VOICES:
            yield from self._say(VOICES[kind], told)
        elif kind in CALLS:
            if not (self._uses.knows(told) or self._uses.is_late(told)):
                yield from self._spoken.close()
            yield from self._uses.take(told, self._new_item)
        elif kind == "plan":
            yield from self._plan_of(told)
        elif kind in NO_WORK:
            yield from self.news_outside(told)
        else:
            self._not_known(kind)

    def is_work(self, update: Any) -> bool:
        """Tell whether an update that comes while no turn is open begins one."""
        told = shape(update)
        kind = text(told.get("sessionUpdate"))
        if kind in CALLS:
            return bool(told.get("toolCallId")) and not self._uses.is_late(told)
        return kind == "plan" or (kind in VOICES and bool(words_of(shape(told.get("content")))))

    def news_outside(self, update: Any) -> Iterator[News]:
        """The news of an update that is no work. What it says of usage is told with the end of the next work."""
        told = shape(update)
        if told.get("sessionUpdate") == "usage_update":
            self._usage.take(told)
        yield from self._news.take(told)

    def begun(self, answer: Any, *, anew: bool = False) -> Iterator[News]:
        """The news in the answer with which the session begins. `anew`: it is another than the process before had."""
        if anew:
            self._usage.begin_anew()
        yield from self._news.begun(answer)

    def chosen(self, option: str, value: str) -> Iterator[News]:
        """The agent took a value that we set."""
        yield from self._news.chosen(option, value)

    def end_words(self) -> Iterator[TurnNews]:
        """End what is being said, where something else begins: a question is asked behind the words before it."""
        yield from self._spoken.close()

    def finish(self, answer: Any = None) -> Iterator[TurnNews]:
        """The end of a prompt, with its answer if there was one. Tools that run go on."""
        yield from self._spoken.close()
        yield from self._usage.answered(answer, self._news.model)

    # --- tools ----------------------------------------------------------------------------------------------------

    @property
    def open(self) -> tuple[ToolUse, ...]:
        return self._uses.open

    @property
    def not_over(self) -> tuple[ToolUse, ...]:
        """Those that run, and those that wait for a permission or have only been named."""
        return self._uses.not_over

    @property
    def last_message(self) -> str:
        return self._spoken.last

    @property
    def options(self) -> tuple[ev.AgentOption, ...]:
        return self._news.options

    def permission(self, call: Any) -> ToolUse:
        """The call for which a permission is asked, as far as it is known. It waits from then on."""
        return self._uses.ask(shape(call), self._new_item)

    def allowed(self, call_id: str) -> Iterator[TurnNews]:
        yield from self._uses.allowed(call_id)

    def refused(self, call_id: str) -> Iterator[TurnNews]:
        yield from self._uses.refused(call_id)

    def tick(self) -> Iterator[TurnNews]:
        """Begin the calls that wait for nothing: some agents never say that one runs."""
        yield from self._uses.unasked()

    def show_terminals(self, terminals: Terminals) -> None:
        self._uses.terminals = terminals

    def terminal_wrote(self, terminal: str, piece: str) -> Iterator[TurnNews]:
        yield from self._uses.wrote(terminal, piece)

    # --- words and plans ------------------------------------------------------------------------------------------

    def _say(self, voice: Voice, update: Shape) -> Iterator[TurnNews]:
        if voice is ev.UserMessage and self.prompted:
            return
        yield from self._spoken.take(voice, update, words_of(shape(update.get("content"))), self._new_item)

    def _plan_of(self, update: Shape) -> Iterator[TurnNews]:
        entries = shapes(update.get("entries"), MOST_STEPS)
        steps = tuple(
            ev.PlanStep.model_validate(
                {"step": short(one.get("content")), "status": STEPS.get(str(one.get("status")), "pending")}
            )
            for one in entries
        )
        if steps != self._plan:
            self._plan = steps
            yield from self._spoken.close()
            yield ev.PlanUpdate(plan=steps, item_id=self._new_item())

    def _not_known(self, kind: str) -> None:
        known = kind[:64] if kind in self.unknown or len(self.unknown) < MOST_KINDS else ""
        self.unknown[known] += 1
