"""A model's answers as server-sent events, on both wires. The test server's half of what the decoders read."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None


class Wire(Protocol):
    def begin(self) -> Iterator[bytes]: ...
    def text(self, pieces: Sequence[str]) -> Iterator[bytes]: ...
    def summary(self, parts: Sequence[str]) -> Iterator[bytes]: ...
    def thoughts(self, text: str) -> Iterator[bytes]: ...
    def calls(self, calls: Sequence[Call]) -> Iterator[bytes]: ...
    def search(self, query: str, /) -> Iterator[bytes]: ...
    def failure(self, code: str, message: str) -> Iterator[bytes]: ...
    def finish(self, reason: str, tokens: Tokens | None) -> Iterator[bytes]: ...


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def event(value: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {compact(value)}\n\n".encode()


def sse(*values: Any) -> bytes:
    """Events from JSON values; a string goes in as it is (`[DONE]`)."""
    return b"".join(
        f"data: {value}\n\n".encode() if isinstance(value, str) else event(value, value.get("type", ""))
        for value in values
    )


def in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


class ChatWire:
    """Calls come in pieces of 12 characters, taking turns by index; id and name only with the first piece."""

    def __init__(self, response_id: str) -> None:
        self._id = response_id
        self._called = 0

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event({"id": self._id, "object": "chat.completion.chunk", "model": "mock-model", "choices": [choice]})

    def begin(self) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})

    def text(self, pieces: Sequence[str]) -> Iterator[bytes]:
        return (self._chunk({"content": piece}) for piece in pieces)

    def summary(self, parts: Sequence[str]) -> Iterator[bytes]:
        return self.thoughts("".join(parts))

    def thoughts(self, text: str) -> Iterator[bytes]:
        return (self._chunk({"reasoning": piece}) for piece in in_pieces(text, 8))

    def calls(self, calls: Sequence[Call]) -> Iterator[bytes]:
        first = self._called
        self._called += len(calls)
        for index, call in enumerate(calls, first):
            function = {"name": call.name, "arguments": ""}
            piece = {"index": index, "id": call.id, "type": "function", "function": function}
            yield self._chunk({"tool_calls": [piece]})
        pieces = [in_pieces(call.arguments, 12) for call in calls]
        for turn in range(max(map(len, pieces))):
            for index, of_call in enumerate(pieces, first):
                if turn < len(of_call):
                    function = {"arguments": of_call[turn]}
                    yield self._chunk({"tool_calls": [{"index": index, "function": function}]})

    def search(self, _: str) -> Iterator[bytes]:
        """Say nothing: on this wire a search shows in the words alone."""
        return iter(())

    def failure(self, code: str, message: str) -> Iterator[bytes]:
        yield event({"error": {"code": code, "message": message}})

    def finish(self, reason: str, tokens: Tokens | None) -> Iterator[bytes]:
        yield self._chunk({}, reason)
        if tokens:
            usage = {
                "prompt_tokens": tokens.input,
                "completion_tokens": tokens.output,
                "total_tokens": tokens.input + tokens.output,
                "prompt_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": tokens.written},
                "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
            }
            yield event({"id": self._id, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"


class ResponsesWire:
    def __init__(self, response_id: str) -> None:
        self._id = response_id
        self._items = 0

    def _event(self, kind: str, **members: Any) -> bytes:
        return event({"type": kind, **members}, kind)

    def _item(self, item: dict[str, Any], deltas: Iterable[bytes] = ()) -> Iterator[bytes]:
        index, self._items = self._items, self._items + 1
        whole = {"id": f"item_{self._id}_{index}", "status": "completed", **item}
        yield self._event("response.output_item.added", output_index=index, item={"type": item["type"]})
        yield from deltas
        yield self._event("response.output_item.done", output_index=index, item=whole)

    def begin(self) -> Iterator[bytes]:
        yield self._event("response.created", response={"id": self._id, "status": "in_progress"})

    def text(self, pieces: Sequence[str]) -> Iterator[bytes]:
        content = [{"type": "output_text", "text": "".join(pieces), "annotations": []}]
        deltas = (
            self._event("response.output_text.delta", output_index=self._items, delta=piece) for piece in pieces
        )
        return self._item({"type": "message", "role": "assistant", "content": content}, deltas)

    def summary(self, parts: Sequence[str]) -> Iterator[bytes]:
        whole = [{"type": "summary_text", "text": part} for part in parts]
        return self._item({"type": "reasoning", "summary": whole, "encrypted_content": None}, self._parts(parts))

    def _parts(self, parts: Sequence[str]) -> Iterator[bytes]:
        for index, part in enumerate(parts):
            yield self._event("response.reasoning_summary_part.added", summary_index=index)
            for piece in in_pieces(part, 8):
                yield self._event("response.reasoning_summary_text.delta", summary_index=index, delta=piece)

    def thoughts(self, text: str) -> Iterator[bytes]:
        deltas = (self._event("response.reasoning_text.delta", delta=piece) for piece in in_pieces(text, 8))
        content = [{"type": "reasoning_text", "text": text}]
        return self._item({"type": "reasoning", "summary": [], "content": content}, deltas)

    def calls(self, calls: Sequence[Call]) -> Iterator[bytes]:
        for call in calls:
            pieces = in_pieces(call.arguments, 12)
            deltas = (self._event("response.function_call_arguments.delta", delta=piece) for piece in pieces)
            item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
            yield from self._item(item, deltas)

    def search(self, query: str) -> Iterator[bytes]:
        action = {"type": "search", "query": query, "sources": None}
        yield self._event("response.web_search_call.in_progress", output_index=self._items)
        yield self._event("response.web_search_call.searching", output_index=self._items)
        yield from self._item({"type": "web_search_call", "action": action})

    def failure(self, code: str, message: str) -> Iterator[bytes]:
        error = {"code": code, "message": message}
        yield self._event("response.failed", response={"id": self._id, "status": "failed", "error": error})

    def finish(self, reason: str, tokens: Tokens | None) -> Iterator[bytes]:
        if reason in {"length", "content_filter"}:
            details = {"reason": reason}
            yield self._event("response.incomplete", response={"id": self._id, "incomplete_details": details})
            return
        usage = tokens and {
            "input_tokens": tokens.input,
            "input_tokens_details": {"cached_tokens": tokens.cached},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
            "total_tokens": tokens.input + tokens.output,
        }
        yield self._event("response.completed", response={"id": self._id, "status": "completed", "usage": usage})
