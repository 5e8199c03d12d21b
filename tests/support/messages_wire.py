"""A model's answers as server-sent events on the messages wire, in the shapes that Anthropic's server has."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.support.model_wire import Call, Tokens, compact, event, in_pieces

REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


class MessagesWire:
    """Thinking is signed. Arguments come in pieces of 12 characters, the first one empty, as the real ones."""

    def __init__(self, response_id: str) -> None:
        self._id = response_id
        self._blocks = 0

    def _event(self, kind: str, **members: Any) -> bytes:
        return event({"type": kind, **members}, kind)

    def _block(self, begun: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> Iterator[bytes]:
        index, self._blocks = self._blocks, self._blocks + 1
        yield self._event("content_block_start", index=index, content_block=begun)
        for delta in deltas:
            yield self._event("content_block_delta", index=index, delta=delta)
        yield self._event("content_block_stop", index=index)

    def begin(self) -> Iterator[bytes]:
        message: dict[str, Any] = {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
        }
        yield self._event("message_start", message={**message, "model": "mock-model", "stop_sequence": None})
        yield self._event("ping")

    def text(self, pieces: Sequence[str]) -> Iterator[bytes]:
        return self._block({"type": "text", "text": ""}, ({"type": "text_delta", "text": piece} for piece in pieces))

    def summary(self, parts: Sequence[str]) -> Iterator[bytes]:
        return self.thoughts("\n\n".join(parts))

    def thoughts(self, text: str) -> Iterator[bytes]:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in in_pieces(text, 8)]
        signature = {"type": "signature_delta", "signature": f"signed {self._id} {self._blocks}"}
        return self._block({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature])

    def calls(self, calls: Sequence[Call]) -> Iterator[bytes]:
        for call in calls:
            begun = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            pieces = ["", *in_pieces(call.arguments, 12)]
            yield from self._block(begun, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces))

    def search(self, query: str) -> Iterator[bytes]:
        """Yield the search and what it found, and the beginning of the words that quote it."""
        asked = f"srvtoolu_{self._id}_{self._blocks}"
        pieces = ["", *in_pieces(compact({"query": query}), 7)]
        begun = {"type": "server_tool_use", "id": asked, "name": "web_search", "input": {}}
        yield from self._block(begun, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces))
        page = {"type": "web_search_result", "url": "https://example.org", "title": "T", "encrypted_content": "Eo8D"}
        yield from self._block({"type": "web_search_tool_result", "tool_use_id": asked, "content": [page]}, ())
        yield from self.text(["Found: "])

    def failure(self, code: str, message: str) -> Iterator[bytes]:
        yield self._event("error", error={"type": code, "message": message}, request_id="req_1")

    def finish(self, reason: str, tokens: Tokens | None) -> Iterator[bytes]:
        delta = {"stop_reason": REASONS.get(reason, reason), "stop_sequence": None}
        yield self._event("message_delta", delta=delta, **({"usage": _usage(tokens)} if tokens else {}))
        yield self._event("message_stop")


def _usage(tokens: Tokens) -> dict[str, Any]:
    """The counts, in which what a cache had is no part of the input tokens."""
    return {
        "input_tokens": tokens.input - (tokens.cached or 0) - (tokens.written or 0),
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
        "output_tokens_details": {"thinking_tokens": tokens.reasoning} if tokens.reasoning is not None else None,
    }
