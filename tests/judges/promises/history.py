"""The history in a request to the model: its messages, calls and outputs, on each wire."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.model_prompt import OURS


@dataclass(frozen=True, slots=True)
class Item:
    """`kind`: user, assistant, call, output. `call` is the id that a call and its output share."""

    kind: str
    text: str
    call: str = ""


def history(body: dict[str, Any]) -> list[Item]:
    """The items in order, without the server's own messages before the first of a user."""
    if "system" in body:
        items = _messages(body["messages"])
    else:
        items = _chat(body["messages"]) if "messages" in body else _responses(body["input"])
    return [item for item in items if not (item.kind == "user" and item.text.startswith(OURS))]


def instructions(body: dict[str, Any]) -> str:
    """The words that stand before the history."""
    if "system" in body:
        return _text(body["system"])
    if "instructions" in body:
        return str(body["instructions"])
    first = body["messages"][0]
    return _text(first["content"]) if first["role"] in {"system", "developer"} else ""


def texts(body: dict[str, Any], kind: str) -> list[str]:
    return [item.text for item in history(body) if item.kind == kind]


def unpaired(body: dict[str, Any]) -> str:
    """The fault in the request's calls and outputs, in words; "" if each call is followed by its one output."""
    open_calls: set[str] = set()
    for item in history(body):
        if item.kind == "call":
            open_calls.add(item.call)
        elif item.kind == "output":
            if item.call not in open_calls:
                return f"an output of {item.call} that nobody waits for"
            open_calls.remove(item.call)
    return f"no output of {', '.join(sorted(open_calls))}" if open_calls else ""


def _chat(messages: list[dict[str, Any]]) -> Iterator[Item]:
    for message in messages:
        text = _text(message.get("content"))
        if message["role"] == "tool":
            yield Item("output", text, message["tool_call_id"])
        elif message["role"] == "user" or text:
            yield Item(message["role"], text)
        for call in message.get("tool_calls") or []:
            yield Item("call", call["function"]["arguments"], call["id"])


def _messages(messages: list[dict[str, Any]]) -> Iterator[Item]:
    for message in messages:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    yield Item(message["role"], block["text"])
                case "tool_use":
                    yield Item("call", json.dumps(block["input"]), block["id"])
                case "tool_result":
                    yield Item("output", _text(block.get("content")), block["tool_use_id"])
                case _:
                    continue


def _responses(items: list[dict[str, Any]]) -> Iterator[Item]:
    for item in items:
        match item.get("type", "message"):
            case "message":
                yield Item(item["role"], _text(item["content"]))
            case "function_call":
                yield Item("call", item["arguments"], item["call_id"])
            case "function_call_output":
                yield Item("output", str(item["output"]), item["call_id"])
            case _:
                continue


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
