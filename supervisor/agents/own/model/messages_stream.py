"""The messages wire: stream events from a stream's data. No I/O.

Nothing is finished before the stop reason: a history that ends in half an answer would be refused, and an answer that
a model refused to finish is void. Blocks are told apart by index, because some servers keep several open at once.
"""

from collections.abc import Callable
from typing import ClassVar

from pydantic_core import from_json, to_json

from actors.vocabulary.ids import CallId
from supervisor.agents.errors import AnswerCut, ContextFull
from supervisor.agents.own.model.decoding import (
    LONGEST_NAME,
    Decoder,
    GatheredText,
    Object,
    a_count,
    a_number,
    a_text,
    an_object,
    mend_surrogates,
)
from supervisor.agents.own.model.history_pieces import encode_json
from supervisor.agents.own.model.refusals import in_stream
from supervisor.agents.own.model.stream_events import (
    CallDone,
    ReasoningDelta,
    ReasoningDone,
    SearchDone,
    StreamEvent,
    TextDelta,
    TextDone,
)
from supervisor.agents.own.model.web_search import encode_kept, query_of
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import DEFAULTS, Bounds, json_size

WINDOW_FULL = "model_context_window_exceeded"
CUT_REASONS = {
    "max_tokens": "max_tokens (model_max_output_tokens in the configuration allows more)",
    "refusal": "refusal (the provider's safety rules)",
    "pause_turn": "pause_turn (a tool of the provider takes too long)",
}
SEARCH_CALL, SEARCH_RESULT = "server_tool_use", "web_search_tool_result"
BEGUN_BY = {"text_delta": "text", "thinking_delta": "thinking"}  # where a server leaves the beginning out
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class AnswerBlock:
    """A block under construction."""

    __slots__ = ("answered", "begun", "data", "id", "input", "kind", "name", "signature", "text")

    def __init__(self, kind: str, begun: Object) -> None:
        self.kind = kind
        self.begun = begun if kind == SEARCH_RESULT else {}
        self.id = a_text(begun.get("id"))
        self.name = a_text(begun.get("name"))
        self.input = an_object(begun.get("input"))  # whole at the beginning, as some servers send it
        self.data = a_text(begun.get("data"))
        self.answered = False  # by a block of results; one for each search, or a few bytes became gigabytes
        self.signature = GatheredText()
        self.text = GatheredText()  # or the arguments

    @property
    def search_call(self) -> Object:
        """The block of a tool of the provider, as it is sent back."""
        try:
            given = an_object(from_json(mend_surrogates(str(self.text)))) if str(self.text) else self.input
        except ValueError:
            given = {}
        return {"type": self.kind, "id": self.id, "name": self.name, "input": given}

    def done_event(self, place: int, response_id: str) -> StreamEvent | None:
        text = mend_surrogates(str(self.text))
        match self.kind:
            case "text" if text:
                return TextDone(text, place)
            case "thinking":
                summary = (text,) if text else ()
                return ReasoningDone(
                    "", summary, signature=mend_surrogates(str(self.signature)), wire="messages", block=place
                )
            case "redacted_thinking":
                return ReasoningDone("", encrypted_content=self.data, wire="messages", block=place)
            case "tool_use":
                call_id = CallId(self.id or f"call_{response_id}_{place}")
                return CallDone(call_id, self.name, text or to_json(self.input, inf_nan_mode="null").decode())
            case _:  # of a tool of the provider, see _search_done
                return None


class MessagesDecoder(Decoder):
    __slots__ = ("_blocks", "_calls", "_counts", "_places")
    _closed_early = "stream closed before a stop reason"

    def __init__(self, bounds: Bounds = DEFAULTS) -> None:
        super().__init__(bounds)
        self._blocks: list[AnswerBlock] = []
        self._places: dict[int | None, int] = {}  # of the blocks that are open, by the server's index
        self._calls = 0
        self._counts: Object = {}

    def _event(self, data: bytes) -> None:
        event = self._object(data)
        if event is None:
            return
        kind = event.get("type")
        if handle := self._handlers.get(kind) if isinstance(kind, str) else None:
            handle(self, event)
        elif kind is None and event.get("error") and not self.answered:
            self._fail(in_stream(event["error"]))

    def _message_start(self, event: Object) -> None:
        message = an_object(event.get("message"))
        self.response_id = a_text(message.get("id"))[:LONGEST_NAME]
        self._count_tokens(message)

    def _block_start(self, event: Object) -> None:
        begun = an_object(event.get("content_block"))
        block = AnswerBlock(a_text(begun.get("type")), begun)
        if block.kind == "text" and self._goes_on():
            self._places[a_number(event.get("index"))] = len(self._blocks) - 1
            self._block_delta({**event, "delta": begun})
            return
        self._places[a_number(event.get("index"))] = len(self._blocks)
        self._blocks.append(block)
        self._calls += block.kind == "tool_use"
        self._count_bytes(sum(map(json_size, (block.id, block.name, block.data))) + len(encode_json(block.begun)))
        if len(self._blocks) > self._bounds.answer_items:
            self._exceed_bound("answer_items", "the model's answer has too many items")
        if self._calls > self._bounds.answer_tool_calls:
            self._exceed_bound("answer_tool_calls", "the model asks for too many tool calls at once")
        self._block_delta({**event, "delta": begun})

    def _goes_on(self) -> bool:
        """Tell whether a text belongs to the one before: after a search each quotation is a block of its own."""
        return len(self._blocks) > 1 and self._blocks[-1].kind == "text" and self._has_found()

    def _has_found(self) -> bool:
        return any(block.kind == SEARCH_RESULT for block in self._blocks)

    def _block_delta(self, event: Object) -> None:
        delta = an_object(event.get("delta"))
        place = self._places.get(a_number(event.get("index")))
        if place is None and (kind := BEGUN_BY.get(a_text(delta.get("type")))):
            self._block_start({**event, "content_block": {"type": kind}})
            place = len(self._blocks) - 1
        if place is None or self.answered or self.failure:
            return
        block = self._blocks[place]
        if text := delta.get("text"):
            self._say(TextDelta, text, block.text, place)
        elif thought := delta.get("thinking"):
            self._say(ReasoningDelta, thought, block.text, place)
        for piece, whole in ((delta.get("partial_json"), block.text), (delta.get("signature"), block.signature)):
            if piece and isinstance(piece, str):
                whole.add(piece)
                self._count_bytes(json_size(mend_surrogates(piece)))

    def _message_delta(self, event: Object) -> None:
        self._count_tokens(event)
        if reason := a_text(an_object(event.get("delta")).get("stop_reason")):
            self._answer(reason)

    def _message_stop(self, _event: Object) -> None:
        self._answer("")
        if not self.failure:
            self._finish()

    def _error(self, event: Object) -> None:
        if not self.answered:
            self._fail(in_stream(event.get("error") or event))

    _handlers: ClassVar[dict[str, Callable[["MessagesDecoder", Object], None]]] = {
        "content_block_delta": _block_delta,
        "content_block_start": _block_start,
        "message_delta": _message_delta,
        "message_start": _message_start,
        "message_stop": _message_stop,
        "error": _error,
    }

    def _answer(self, reason: str) -> None:
        """Tell all blocks, in the model's order, but the calls last."""
        if self.answered or self.failure:
            return
        if reason == WINDOW_FULL:
            self._fail(ContextFull("the model stopped because its context window is full"))
        elif reason in CUT_REASONS:
            self._fail(AnswerCut(CUT_REASONS[reason]))
        else:
            self._flush()
            done = [
                self._search_done(block) or block.done_event(place, self.response_id)
                for place, block in enumerate(self._blocks)
            ]
            events = [event for event in done if event is not None]
            self._tell(*sorted(events, key=lambda event: isinstance(event, CallDone)))
            self.answered = not self.failure

    def _search_done(self, found: AnswerBlock) -> SearchDone | None:
        """Return the search whose result a block is: both go back together, or neither, as the wire demands."""
        if found.kind != SEARCH_RESULT:
            return None
        asked_by = found.begun.get("tool_use_id")
        asked = next((block for block in self._blocks if block.kind == SEARCH_CALL and block.id == asked_by), None)
        if asked is None or asked.answered:
            return None
        asked.answered = True
        search = asked.search_call
        return SearchDone(asked.id, query_of(search["input"]), "messages", encode_kept(search, found.begun))

    def _count_tokens(self, event: Object) -> None:
        """Take the counts. The last of each is kept, but not a 0, which some servers send that don't know."""
        counts = an_object(event.get("usage"))
        for name in COUNTS:
            if (count := a_count(counts.get(name))) is not None:
                self._counts[name] = count or self._counts.get(name, 0)
        thought = a_count(an_object(counts.get("output_tokens_details")).get("thinking_tokens"))
        if thought is not None:
            self._counts["thinking_tokens"] = thought
        if self._counts:
            self.usage = _usage(self._counts)


def _usage(counts: Object) -> TokenUsage:
    """Sum up: on this wire, the input tokens leave out those read from a cache or written to it."""
    cached, kept = counts.get("cache_read_input_tokens"), counts.get("cache_creation_input_tokens")
    read, written = counts.get("input_tokens", 0) + (cached or 0) + (kept or 0), counts.get("output_tokens", 0)
    return TokenUsage(read, written, read + written, cached, counts.get("thinking_tokens"), kept)
