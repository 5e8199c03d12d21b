"""Answers that hold bytes which are JSON already, so that stored events go out as they were stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actors.ids import RequestId
from transports import jsonrpc


@dataclass(frozen=True, slots=True)
class Raw:
    value: Mapping[str, Any]
    encoded: Mapping[str, bytes] = field(default_factory=dict)


def result_line(request: RequestId, raw: Raw) -> bytes:
    members = b"".join(b',"' + name.encode() + b'":' + value for name, value in raw.encoded.items())
    inner = jsonrpc.line(raw.value)[:-2] + members + b"}"
    return jsonrpc.line({"jsonrpc": "2.0", "id": request})[:-2] + b',"result":' + inner + b"}\n"


def notification_line(method: str, params: Mapping[str, Any], shared: bytes) -> bytes:
    """`shared` are further members of the params, already encoded."""
    start = jsonrpc.line({"jsonrpc": "2.0", "method": method})[:-2]
    return start + b',"params":' + jsonrpc.line(params)[:-2] + b"," + shared + b"}\n"
