"""Event notifications, put together from bytes that are JSON already. Pure."""

from collections.abc import Mapping
from typing import Any

from transports import jsonrpc


def event_notification(method: str, params: Mapping[str, Any], msg: bytes) -> bytes:
    """`params` come first, then the event as `msg`."""
    head = jsonrpc.line(params)[:-2]
    comma = b"," if params else b""
    return _start(method) + head + comma + b'"msg":' + msg + b"}}\n"


def listener_notification(kind: str, event_id: str, conversation: str, msg: bytes) -> bytes:
    tail = jsonrpc.line({"conversationId": conversation})[1:-1]
    event = jsonrpc.line({"id": event_id})[:-2] + b',"msg":' + msg + b"," + tail
    return _start(f"codex/event/{kind}") + event + b"}\n"


def initial_state(meta: Mapping[str, Any], messages: list[bytes]) -> bytes:
    events = b",".join(b'{"msg":' + msg + b"}" for msg in messages)
    head = jsonrpc.line({"_meta": meta})[:-2]
    return _start("notifications/initial_state") + head + b',"initial_state":{"events":[' + events + b"]}}}\n"


def _start(method: str) -> bytes:
    return jsonrpc.line({"jsonrpc": "2.0", "method": method})[:-2] + b',"params":'
