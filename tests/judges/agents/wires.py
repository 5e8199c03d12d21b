"""The four wires on which agents ask models, from a server's side: what a request says, and an answer as a stream."""

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.judges.agents.model import Step

Json = dict[str, Any]
IN, OUT = 1000, 50  # tokens of every answer


class Said(NamedTuple):
    by_user: bool  # False: it is what a tool has put out
    text: str


class Asked(NamedTuple):
    said: list[Said]
    tools: frozenset[str]
    wants_json: bool = False


class Wire(NamedTuple):
    read: Callable[[Json], Asked]
    stream: "Callable[[Step], Iterator[str]]"
    whole: "Callable[[Step], Json]"
    streams: Callable[[str, Json], bool] = lambda _, body: bool(body.get("stream"))


def of(path: str) -> Wire | None:
    place = path.partition("?")[0]
    if place.endswith("/messages"):
        return MESSAGES
    if place.endswith("/responses"):
        return RESPONSES
    if place.endswith("/chat/completions"):
        return CHAT
    return GEMINI if "enerateContent" in place else None


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part
        elif part.get("text"):
            yield part["text"]


def _fresh(prefix: str) -> str:
    return f"{prefix}_{time.monotonic_ns():x}"


def _event(kind: str, **members: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"


def _data(members: Json) -> str:
    return f"data: {json.dumps(members)}\n\n"


# --- messages -------------------------------------------------------------------------------------------------------


def _read_messages(body: Json) -> Asked:
    said = []
    for message in body.get("messages") or []:
        if message["role"] != "user":
            continue
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "tool_result":
                said.append(Said(by_user=False, text="".join(_texts(part.get("content")))))
            elif part.get("text"):
                said.append(Said(by_user=True, text=part["text"]))
    wants = "output_config" in body or "output_format" in body
    return Asked(said, frozenset(tool["name"] for tool in body.get("tools") or []), wants)


def _block(step: "Step") -> Json:
    if step.tool:
        return {"type": "tool_use", "id": _fresh("toolu"), "name": step.tool, "input": step.arguments}
    return {"type": "text", "text": "".join(step.pieces)}


def _message(content: list[Json], reason: str | None) -> Json:
    usage = {"input_tokens": IN, "output_tokens": OUT, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    about = {"id": _fresh("msg"), "type": "message", "role": "assistant", "model": "claude-test"}
    return {**about, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def _stream_messages(step: "Step") -> Iterator[str]:
    block = _block(step)
    yield _event("message_start", message=_message([], None))
    empty = {**block, "input": {}} if step.tool else {**block, "text": ""}
    yield _event("content_block_start", index=0, content_block=empty)
    if step.tool:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        yield _event("content_block_delta", index=0, delta=delta)
    for piece in step.pieces:
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _event("content_block_stop", index=0)
    reason = {"stop_reason": "tool_use" if step.tool else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=reason, usage={"input_tokens": IN, "output_tokens": OUT})
    yield _event("message_stop")


MESSAGES = Wire(
    _read_messages, _stream_messages, lambda step: _message([_block(step)], "tool_use" if step.tool else "end_turn")
)


# --- responses ------------------------------------------------------------------------------------------------------


def _read_responses(body: Json) -> Asked:
    said = []
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            said += [Said(by_user=True, text=text) for text in _texts(item["content"])]
        elif kind.endswith("_output"):
            put_out = item.get("output")
            said.append(Said(by_user=False, text=put_out if isinstance(put_out, str) else json.dumps(put_out)))
    return Asked(said, frozenset(_named(body.get("tools") or [])), "format" in (body.get("text") or {}))


def _named(tools: list[Json]) -> Iterator[str]:
    """The names of tools, those in a namespace as `NAMESPACE.NAME`."""
    for tool in tools:
        name = tool.get("name") or tool["type"]
        yield from (f"{name}.{one['name']}" for one in tool.get("tools") or ())
        yield name


def _item(step: "Step") -> Json:
    if step.tool:
        namespace, _, name = step.tool.rpartition(".")
        call = {"call_id": _fresh("call"), "name": name, "arguments": json.dumps(step.arguments)}
        within = {"namespace": namespace} if namespace else {}
        return {"type": "function_call", "id": _fresh("fc"), "status": "completed", **call, **within}
    content = [{"type": "output_text", "text": "".join(step.pieces), "annotations": []}]
    return {"type": "message", "id": _fresh("msg"), "role": "assistant", "status": "completed", "content": content}


def _response(*items: Json) -> Json:
    usage = {"input_tokens": IN, "output_tokens": OUT, "total_tokens": IN + OUT}
    return {"id": _fresh("resp"), "status": "completed", "output": list(items), "usage": usage}


def _stream_responses(step: "Step") -> Iterator[str]:
    item = _item(step)
    yield _event("response.created", response={"id": _fresh("resp"), "status": "in_progress"})
    yield _event("response.output_item.added", output_index=0, item=item if step.tool else {**item, "content": []})
    for piece in step.pieces:
        place = {"output_index": 0, "content_index": 0, "item_id": item["id"]}
        yield _event("response.output_text.delta", delta=piece, **place)
    yield _event("response.output_item.done", output_index=0, item=item)
    yield _event("response.completed", response=_response())


RESPONSES = Wire(_read_responses, _stream_responses, lambda step: _response(_item(step)))


# --- chat completions -----------------------------------------------------------------------------------------------


def _read_chat(body: Json) -> Asked:
    said = []
    for message in body.get("messages") or []:
        if message["role"] == "tool":
            said.append(Said(by_user=False, text="".join(_texts(message.get("content")))))
        elif message["role"] == "user":
            said += [Said(by_user=True, text=text) for text in _texts(message["content"])]
    return Asked(said, frozenset(tool["function"]["name"] for tool in body.get("tools") or []))


def _calls(step: "Step") -> Json:
    function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
    return {"tool_calls": [{"index": 0, "id": _fresh("call"), "type": "function", "function": function}]}


CHAT_USAGE = {"prompt_tokens": IN, "completion_tokens": OUT, "total_tokens": IN + OUT}


def _stream_chat(step: "Step") -> Iterator[str]:
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}

    def chunk(delta: Json, reason: str | None = None) -> str:
        return _data({**about, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    if step.tool:
        yield chunk(_calls(step))
    for piece in step.pieces:
        yield chunk({"content": piece})
    yield chunk({}, "tool_calls" if step.tool else "stop")
    yield _data({**about, "choices": [], "usage": CHAT_USAGE})
    yield "data: [DONE]\n\n"


def _whole_chat(step: "Step") -> Json:
    message = {"role": "assistant", "content": "".join(step.pieces), **(_calls(step) if step.tool else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if step.tool else "stop", "message": message}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": CHAT_USAGE,
    }


CHAT = Wire(_read_chat, _stream_chat, _whole_chat)


# --- gemini ---------------------------------------------------------------------------------------------------------


def _read_gemini(body: Json) -> Asked:
    said = []
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            if "functionResponse" in part:
                said.append(Said(by_user=False, text=json.dumps(part["functionResponse"].get("response"))))
            elif content.get("role") == "user" and "text" in part:
                said.append(Said(by_user=True, text=part["text"]))
    declared = (one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or [])
    wants = "json" in str((body.get("generationConfig") or {}).get("responseMimeType"))
    return Asked(said, frozenset(one["name"] for one in declared), wants)


def _candidate(parts: list[Json], reason: str | None = None) -> Json:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    usage = {"promptTokenCount": IN, "candidatesTokenCount": OUT, "totalTokenCount": IN + OUT}
    ended = {"finishReason": reason} if reason else {}
    return {"candidates": [{**candidate, **ended}], "modelVersion": "fake", "responseId": "g", "usageMetadata": usage}


def _stream_gemini(step: "Step") -> Iterator[str]:
    if step.tool:
        yield _data(_candidate([{"functionCall": {"name": step.tool, "args": step.arguments}}], "STOP"))
        return
    for piece in step.pieces:
        yield _data(_candidate([{"text": piece}]))
    yield _data(_candidate([{"text": ""}], "STOP"))


GEMINI = Wire(
    _read_gemini,
    _stream_gemini,
    lambda step: _candidate([{"text": "".join(step.pieces)}], "STOP"),
    lambda path, _: "stream" in path,
)
