"""The history as text for an agent that does not know it. Pure; takes events in order, and stays bounded.

The newest part is told in full. Older parts that don't fit are left out, with a count, and with our own agent's
summary if there is one. The text goes to the agent with a person's next words, and is no event itself.
"""

from collections import deque

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from actors.vocabulary.settings import AbortReason
from supervisor.agents.history_outline import words_of
from supervisor.agents.tool_lines import line_of_call, line_of_use
from supervisor.config.bounds import DEFAULTS
from supervisor.formats.head_and_tail import head_and_tail

TYPES = frozenset(
    ev.type_of(kind)
    for kind in (
        *(ev.UserMessage, ev.AgentMessage, ev.ToolUseEnd, ev.ToolCall, ev.ToolOutput, ev.PlanUpdate),
        *(ev.Compacted, ev.TurnAborted),
    )
)

OPENING = {
    "anew": "[You have taken over a conversation. This is what was said and done in it before. It is a record: "
    "act only on what follows it.]",
    "meanwhile": "[This was said and done in the conversation since you last spoke in it; some of it you may know. "
    "It is a record: act only on what follows it.]",
}
CLOSING = "[End of the record.]"
PERSON, AGENT = "The person:", "The agent:"
CUT = {
    AbortReason.INTERRUPTED: "[the person stopped the agent here]",
    AbortReason.REPLACED: "[the person stopped the agent here, to say something else]",
    AbortReason.BUDGET: "[the agent was stopped here, because a budget was used up]",
}
CUT_OTHERWISE = "[the agent ended here without being done]"
SHARE = 2  # a single text gets at most half of the room
CALLS = DEFAULTS.answer_tool_calls  # calls of an answer that have no output yet


class Seed:
    """Builds the record. `room`: its most bytes. `leave_out`: messages that the agent gets in another way."""

    def __init__(self, room: int = DEFAULTS.agent_seed_bytes, leave_out: frozenset[ItemId] = frozenset()) -> None:
        self._room = room
        self._leave_out = leave_out
        self._parts: deque[str] = deque()
        self._size = 0
        self._left_out = 0
        self._speaker = ""
        self._calls: dict[ItemId, ev.ToolCall] = {}
        self._plan: tuple[ev.PlanStep, ...] = ()
        self._summary = ""

    def __bool__(self) -> bool:
        return bool(self._parts)

    def take(self, seq: int, event: ev.DurableEvent) -> None:
        match event:
            case ev.UserMessage(kind=ev.MessageKind.PLAIN) if event.item_id not in self._leave_out:
                pictures = words_of(seq, event).pictures
                self._add(PERSON, event.message + (f"\n[with {pictures} pictures, not shown]" if pictures else ""))
            case ev.AgentMessage():
                self._add(AGENT, event.message)
            case ev.ToolUseEnd():
                self._add(AGENT, f"- {line_of_use(event)}")
            case ev.ToolCall() if len(self._calls) < CALLS:
                self._calls[event.item_id] = event
            case ev.ToolOutput():
                self._take_output(event)
            case ev.TurnAborted():
                self._add("", CUT.get(event.reason, CUT_OTHERWISE))
            case ev.PlanUpdate():
                self._plan = event.plan
            case ev.Compacted():
                self._summary = event.summary
            case _:
                pass

    def text(self, opening: str) -> str:
        """Compose the record; empty if there is nothing to tell."""
        if not self:
            return ""
        plan = ["The plan:\n" + "\n".join(f"[{step.status}] {self._shorten(step.step)}" for step in self._plan)]
        parts = [OPENING[opening], *self._omission_notes(), *self._parts, *(plan if self._plan else []), CLOSING]
        return "\n\n".join(parts)

    def _omission_notes(self) -> list[str]:
        if not self._left_out:
            return []
        notes = [f"[{self._left_out} older messages and tool uses are left out: they don't fit]"]
        return [*notes, f"Notes on the earlier part:\n{self._shorten(self._summary)}"] if self._summary else notes

    def _take_output(self, event: ev.ToolOutput) -> None:
        call = self._calls.pop(event.item_id, None)
        if call is not None:
            self._add(AGENT, f"- {line_of_call(call, event)}")

    def _add(self, speaker: str, text: str) -> None:
        words = self._shorten(text)
        part = f"{speaker}\n{words}" if speaker and speaker != self._speaker else words
        self._speaker = speaker
        self._parts.append(part)
        self._size += len(part.encode(errors="replace"))
        while self._size > self._room and len(self._parts) > 1:
            self._size -= len(self._parts.popleft().encode(errors="replace"))
            self._left_out += 1

    def _shorten(self, text: str) -> str:
        """Leave out the middle of a text that would take up the others' room."""
        return head_and_tail(text.encode(errors="replace").decode(), self._room // SHARE, self._room)
