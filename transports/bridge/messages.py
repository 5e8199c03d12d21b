"""Messages of JSON-RPC for the bridge: parsed, written and refused. Standard library only."""

from __future__ import annotations

from transports.bridge.json_text import from_json, to_json

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from typing import Any

    Id = int | str
    Message = dict[str, Any]

GONE = -31302  # errors.ActorGone, which is too expensive to import here


def parse_message(line: bytes) -> Message:
    """Parse a message; {} if it is none: the daemon will say why."""
    try:
        value = from_json(line.decode())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def message_line(message: Message) -> bytes:
    """The line of a message, byte for byte as the daemon would write it."""
    try:
        return to_json(message).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 lacks
        import json

        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def identity(members: Any, name: str = "id") -> Id | None:
    """The id among these members, if it is a valid one."""
    value = members.get(name) if isinstance(members, dict) else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def is_request(message: Message) -> bool:
    return "method" in message and identity(message) is not None


def answer(number: Id, outcome: Message) -> Message:
    """An answer; `outcome` has its `result` or its `error`."""
    return {"jsonrpc": "2.0", "id": number, **outcome}


def refusal(number: Id, error: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": error}


def notification(method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def unreachable(why: str, code: str = "daemon_unreachable") -> Message:
    return {"code": GONE, "message": why, "data": {"code": code, "retryable": True}}
