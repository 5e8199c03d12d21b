"""A model's response as events: each message, reasoning and call becomes an item with an id. Loop thread."""

from collections.abc import Callable, Iterator, Sequence

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.own.model import stream_events as stream
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.agents.spending.account import Account
from supervisor.agents.spending.usage import TokenUsage
from supervisor.agents.turn import Turn


def token_count(used: TokenUsage, *, in_context: bool = False, window: int | None = None) -> ev.TokenCount:
    """Return the event of a response's usage. `in_context`: it stays there, except its reasoning."""
    full = used.input + used.output - min(used.output, used.reasoning or 0)
    return ev.TokenCount(
        input_tokens=used.input,
        cached_input_tokens=used.cached,
        cache_written_tokens=used.cache_written,
        output_tokens=used.output,
        reasoning_output_tokens=used.reasoning,
        total_tokens=used.total,
        context_tokens=full if in_context and used.input > 0 else None,
        context_window=window,
    )


class ModelEvents:
    """The events of one response. Deltas open an item; the finished item repeats its whole content and closes it."""

    def __init__(
        self,
        turn: Turn,
        transcript: ModelTranscript,
        account: Account,
        window: Callable[[], int | None] = lambda: None,
        *,
        show_raw: bool,
        hide_reasoning: bool,
    ) -> None:
        self._turn = turn
        self._window = window
        self._transcript = transcript
        self._account = account
        self._model = turn.settings.model
        self._show_raw = show_raw
        self._hide_reasoning = hide_reasoning
        self._text: dict[int, ItemId] = {}  # the open items, by block
        self._reasoning: dict[int, ItemId] = {}

    async def hear(self, batch: Sequence[stream.StreamEvent]) -> None:
        for streamed in batch:
            for event in self._events(streamed):
                self.say(event)
        await self._turn.wait_for_room()

    def say(self, event: ev.AgentEvent | ev.Delta) -> None:
        if isinstance(event, ev.Delta):
            self._turn.emit(event)
        else:
            self._transcript.take(event)
            self._account.say(event)

    def drop_open_items(self) -> None:
        """Forget the open items of a broken stream: the next attempt sends their content anew, as other items."""
        self._text.clear()
        self._reasoning.clear()
        self._account.note_retry()

    def _events(self, streamed: stream.StreamEvent) -> Iterator[ev.AgentEvent | ev.Delta]:
        match streamed:
            case stream.TextDelta(text, block):
                if block not in self._text:
                    self._text[block] = self._turn.new_item()
                yield ev.AgentMessageDelta(delta=text, item_id=self._text[block])
            case stream.TextDone(text, block):
                yield ev.AgentMessage(message=text, item_id=self._text.pop(block, None) or self._turn.new_item())
            case stream.SearchDone(search, query, wire, kept):
                yield ev.WorkEnded(
                    call_id=CallId(search),
                    item_id=self._turn.new_item(),
                    kind="search",
                    subject=ev.SearchSubject(query=query, wire=wire, model=self._model, kept=kept),
                    status="completed",
                )
            case stream.CallDone(call_id, name, arguments, signature):
                item = self._turn.new_item()
                yield ev.ToolCall(call_id=call_id, item_id=item, name=name, arguments=arguments, signature=signature)
            case TokenUsage():
                count = token_count(streamed, in_context=True, window=self._window())
                yield self._account.bill_response(count, streamed)
            case stream.ResponseEnd():
                pass
            case _:
                yield from self._reasoning_events(streamed)

    def _reasoning_events(
        self, streamed: stream.ReasoningDelta | stream.RawReasoningDelta | stream.SectionBreak | stream.ReasoningDone
    ) -> Iterator[ev.AgentEvent | ev.Delta]:
        if streamed.block not in self._reasoning:
            self._reasoning[streamed.block] = self._turn.new_item()
        item = self._reasoning[streamed.block]
        match streamed:
            case stream.ReasoningDelta(text) if not self._hide_reasoning:
                yield ev.AgentReasoningDelta(delta=text, item_id=item)
            case stream.RawReasoningDelta(text) if self._show_raw:
                yield ev.AgentReasoningRawContentDelta(delta=text, item_id=item)
            case stream.SectionBreak() if not self._hide_reasoning:
                yield ev.AgentReasoningSectionBreak(item_id=item)
            case stream.ReasoningDone():
                yield from self._finish_reasoning(streamed, item)
                del self._reasoning[streamed.block]
            case _:
                pass

    def _finish_reasoning(self, done: stream.ReasoningDone, item: ItemId) -> Iterator[ev.AgentEvent]:
        for part in () if self._hide_reasoning else done.summary:
            yield ev.AgentReasoning(text=part, item_id=item)
        if done.raw and self._show_raw:
            yield ev.AgentReasoningRawContent(text=done.raw, item_id=item)
        if done.id or done.wire:
            yield ev.ModelReasoning(
                item_id=item,
                id=done.id,
                summary=done.summary,
                encrypted_content=done.encrypted_content,
                signature=done.signature,
                wire=done.wire or "responses",
                model=self._model,
            )
