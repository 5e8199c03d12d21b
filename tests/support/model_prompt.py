"""Requests to the test model: the words asked for, and the number of the reply to them. No I/O."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.model_script import WireName

PATHS: dict[str, WireName] = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
OURS = (
    "<user_instructions>",
    "<environment_context>",
    "<skills>",
    "[pictures from the call",
)  # user messages that nobody typed


@dataclass(frozen=True, slots=True)
class Asked:
    """The place of a request: `before` has all user messages up to `text`; `reply` counts from 0."""

    before: tuple[str, ...]
    text: str
    reply: int


def wire_of(path: str) -> WireName | None:
    end = urlsplit(path).path
    return next((wire for last, wire in PATHS.items() if end.endswith(last)), None)


def asked(wire: WireName, body: dict[str, Any]) -> Asked:
    """The reply's number is in the ids of the calls whose outputs are here: `call_PROMPT_REPLY_NUMBER`."""
    users: list[str] = []
    reply = 0
    for kind, text in READERS[wire](body):
        if kind == "user":
            users.append(text)
            reply = reply if text.startswith(OURS) else 0
        else:
            reply = max(reply, _reply_of(text) + 1)
    typed = [text for text in users if not text.startswith(OURS)]
    return Asked(tuple(users[:-1]), typed[-1] if typed else "", reply)


def _chat(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for message in body.get("messages", []):
        if message["role"] == "user":
            yield "user", _text(message["content"])
        elif message["role"] == "tool":
            yield "output", message["tool_call_id"]


def _responses(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for item in body.get("input", []):
        if item.get("role") == "user":
            yield "user", _text(item["content"])
        elif item["type"] == "function_call_output":
            yield "output", item["call_id"]


def _messages(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A text of its own for each text block, because adjacent messages of a person are one here."""
    for message in body.get("messages", []):
        for block in message["content"] if message["role"] == "user" else ():
            if block["type"] == "text":
                yield "user", block["text"]
            elif block["type"] == "tool_result":
                yield "output", block["tool_use_id"]


READERS: dict[WireName, Callable[[dict[str, Any]], Iterator[tuple[str, str]]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
}


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _reply_of(call_id: str) -> int:
    parts = call_id.split("_")
    return int(parts[2]) if len(parts) == 4 and parts[2].isdigit() else 0
