"""Requests to a model, in one shape for all wires, and the rules that every request must keep."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.model_server import ModelServer, Received

Line = tuple[str, ...]  # (user|assistant, text) | (call, id, name, arguments) | (output, id, text)
OURS = ("<user_instructions>", "<environment_context>", "<skills>", "[pictures from the call")


def lines(request: Received) -> list[Line]:
    if request.path.endswith("/messages"):
        return [line for message in request.body["messages"] for line in _of_messages(message)]
    if "messages" in request.body:
        return [line for message in request.body["messages"] for line in _of_chat(message)]
    return [line for item in request.body["input"] for line in _of_responses(item)]


def unmarked(body: Any) -> Any:
    """Return the body without the marks for a cache, which stand at the end of each request."""
    if isinstance(body, list):
        return [unmarked(one) for one in body]
    if isinstance(body, dict):
        return {key: unmarked(value) for key, value in body.items() if key != "cache_control"}
    return body


def talk(server: ModelServer, number: int = -1) -> list[Line]:
    """Return the conversation's own messages, without our notices."""
    return [line for line in lines(server.requests[number]) if not (line[0] == "user" and line[1].startswith(OURS))]


def _of_chat(message: dict[str, Any]) -> Iterator[Line]:
    role, content = message["role"], message.get("content")
    if role == "tool":
        yield "output", message["tool_call_id"], str(content)
        return
    if role != "system" and content is not None:
        yield role, content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    for call in message.get("tool_calls", ()):
        yield "call", call["id"], call["function"]["name"], call["function"]["arguments"]


def _of_messages(message: dict[str, Any]) -> Iterator[Line]:
    for block in message["content"]:
        match block["type"]:
            case "text":
                yield message["role"], block["text"]
            case "tool_use":
                yield "call", block["id"], block["name"], json.dumps(block["input"], separators=(",", ":"))
            case "tool_result":
                yield "output", block["tool_use_id"], block.get("content", "")
            case kind:
                yield (str(kind),)


def _of_responses(item: dict[str, Any]) -> Iterator[Line]:
    match item["type"]:
        case "message":
            yield item["role"], "".join(part.get("text", "") for part in item["content"])
        case "function_call":
            yield "call", item["call_id"], item["name"], item["arguments"]
        case "function_call_output":
            yield "output", item["call_id"], item["output"]
        case kind:
            yield (str(kind),)


def check_well_formed(request: Received) -> None:
    """Check that each call has exactly one output, placed after it and before any other message."""
    open_calls: list[str] = []
    for line in lines(request):
        if line[0] == "call":
            open_calls.append(line[1])
        elif line[0] == "output":
            assert line[1] in open_calls, f"an output without its call before it: {line}"
            open_calls.remove(line[1])
        else:
            assert not open_calls, f"{line[0]} speaks while {open_calls} have no output"
    assert not open_calls, f"calls without an output: {open_calls}"
