"""A model's response turned into events: every message, reasoning and call becomes an item with an id."""

from collections.abc import Iterator, Sequence

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from supervisor.agent.model import stream_events as stream
from supervisor.agent.transcript import ModelTranscript
from supervisor.agent.turn import Turn


class ModelEvents:
    """The events of one response. Deltas open an item; the finished item repeats its whole content and closes it."""

    def __init__(self, turn: Turn, transcript: ModelTranscript, *, show_raw: bool, hide_reasoning: bool) -> None:
        self._turn = turn
        self._transcript = transcript
        self._show_raw = show_raw
        self._hide_reasoning = hide_reasoning
        self._text: ItemId | None = None
        self._reasoning: ItemId | None = None

    async def hear(self, batch: Sequence[stream.StreamEvent]) -> None:
        for one in batch:
            for event in self._events(one):
                self.say(event)
        await self._turn.room()

    def say(self, event: ev.AgentEvent | ev.Delta) -> None:
        if not isinstance(event, ev.Delta):
            self._transcript.take(event)
        self._turn.emit(event)

    def broke(self) -> None:
        """Forget the open items of a broken stream: the next attempt sends their content anew, as other items."""
        self._text = self._reasoning = None

    def _events(self, one: stream.StreamEvent) -> Iterator[ev.AgentEvent | ev.Delta]:
        match one:
            case stream.TextDelta(text):
                self._text = self._text or self._turn.new_item()
                yield ev.AgentMessageDelta(delta=text, item_id=self._text)
            case stream.TextDone(text):
                yield ev.AgentMessage(message=text, item_id=self._text or self._turn.new_item())
                self._text = None
            case stream.CallDone(call_id, name, arguments):
                yield ev.ToolCall(call_id=call_id, item_id=self._turn.new_item(), name=name, arguments=arguments)
            case stream.Usage():
                yield ev.TokenCount(
                    input_tokens=one.input,
                    cached_input_tokens=one.cached,
                    output_tokens=one.output,
                    reasoning_output_tokens=one.reasoning,
                    total_tokens=one.total,
                )
            case stream.ResponseEnd():
                pass
            case _:
                yield from self._reasoning_events(one)

    def _reasoning_events(
        self, one: stream.ReasoningDelta | stream.RawReasoningDelta | stream.SectionBreak | stream.ReasoningDone
    ) -> Iterator[ev.AgentEvent | ev.Delta]:
        self._reasoning = item = self._reasoning or self._turn.new_item()
        match one:
            case stream.ReasoningDelta(text) if not self._hide_reasoning:
                yield ev.AgentReasoningDelta(delta=text, item_id=item)
            case stream.RawReasoningDelta(text) if self._show_raw:
                yield ev.AgentReasoningRawContentDelta(delta=text, item_id=item)
            case stream.SectionBreak() if not self._hide_reasoning:
                yield ev.AgentReasoningSectionBreak(item_id=item)
            case stream.ReasoningDone():
                yield from self._reasoned(one, item)
                self._reasoning = None
            case _:
                pass

    def _reasoned(self, done: stream.ReasoningDone, item: ItemId) -> Iterator[ev.AgentEvent]:
        for part in () if self._hide_reasoning else done.summary:
            yield ev.AgentReasoning(text=part, item_id=item)
        if done.raw and self._show_raw:
            yield ev.AgentReasoningRawContent(text=done.raw, item_id=item)
        if done.id:
            yield ev.ModelReasoning(
                item_id=item, id=done.id, summary=done.summary, encrypted_content=done.encrypted_content
            )
