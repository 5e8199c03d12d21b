"""What a model says, turned into events: every message, reasoning and call becomes an item with an id."""

from collections.abc import Iterator, Sequence

from actors import events as ev
from actors.ids import ItemId
from supervisor.agent.model import news
from supervisor.agent.transcript import Transcript
from supervisor.agent.turn import Turn


class Speech:
    """One response. Deltas open an item; the finished item says everything again and closes it."""

    def __init__(self, turn: Turn, transcript: Transcript, *, show_raw: bool, hide_reasoning: bool) -> None:
        self._turn = turn
        self._transcript = transcript
        self._show_raw = show_raw
        self._hide_reasoning = hide_reasoning
        self._text: ItemId | None = None
        self._reasoning: ItemId | None = None

    async def hear(self, batch: Sequence[news.News]) -> None:
        for one in batch:
            for event in self._events(one):
                self.say(event)
        await self._turn.room()

    def say(self, event: ev.AgentEvent | ev.Delta) -> None:
        if not isinstance(event, DELTAS):
            self._transcript.take(event)
        self._turn.emit(event)

    def broke(self) -> None:
        """What was open will not be finished; the next attempt says it anew, as another item."""
        self._text = self._reasoning = None

    def _events(self, one: news.News) -> Iterator[ev.AgentEvent | ev.Delta]:
        match one:
            case news.TextDelta(text):
                self._text = self._text or self._turn.new_item()
                yield ev.AgentMessageDelta(delta=text, item_id=self._text)
            case news.TextDone(text):
                yield ev.AgentMessage(message=text, item_id=self._text or self._turn.new_item())
                self._text = None
            case news.CallDone(call_id, name, arguments):
                yield ev.ToolCall(call_id=call_id, item_id=self._turn.new_item(), name=name, arguments=arguments)
            case news.Usage():
                yield ev.TokenCount(
                    input_tokens=one.input,
                    cached_input_tokens=one.cached,
                    output_tokens=one.output,
                    reasoning_output_tokens=one.reasoning,
                    total_tokens=one.total,
                )
            case news.Finished():
                pass
            case _:
                yield from self._reasoning_events(one)

    def _reasoning_events(
        self, one: news.ReasoningDelta | news.RawReasoningDelta | news.SectionBreak | news.ReasoningDone
    ) -> Iterator[ev.AgentEvent | ev.Delta]:
        self._reasoning = item = self._reasoning or self._turn.new_item()
        match one:
            case news.ReasoningDelta(text) if not self._hide_reasoning:
                yield ev.AgentReasoningDelta(delta=text, item_id=item)
            case news.RawReasoningDelta(text) if self._show_raw:
                yield ev.AgentReasoningRawContentDelta(delta=text, item_id=item)
            case news.SectionBreak() if not self._hide_reasoning:
                yield ev.AgentReasoningSectionBreak(item_id=item)
            case news.ReasoningDone():
                yield from self._reasoned(one, item)
                self._reasoning = None
            case _:
                pass

    def _reasoned(self, done: news.ReasoningDone, item: ItemId) -> Iterator[ev.AgentEvent]:
        for part in () if self._hide_reasoning else done.summary:
            yield ev.AgentReasoning(text=part, item_id=item)
        if done.raw and self._show_raw:
            yield ev.AgentReasoningRawContent(text=done.raw, item_id=item)
        if done.id:
            yield ev.ModelReasoning(
                item_id=item, id=done.id, summary=done.summary, encrypted_content=done.encrypted_content
            )


DELTAS = (
    ev.AgentMessageDelta,
    ev.AgentReasoningDelta,
    ev.AgentReasoningRawContentDelta,
    ev.ExecCommandOutputDelta,
)
