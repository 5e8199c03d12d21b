"""JSON-RPC as agents speak it, a message a line. Pure; lenient in what it reads, strict in what it writes.

Ids may be anything: they are kept as the JSON that was sent, and compared as such.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from supervisor.formats.json_values import intricate

Json = dict[str, Any]  # as agents say it; only a key that was looked for is known

VALUES = 500_000  # in one message, which is a tenth of a second of parsing
METHOD_UNKNOWN, PARAMS_INVALID, INTERNAL, CANCELLED = -32601, -32602, -32603, -32800
LOGIN_WANTED = -32000
NAME = 200  # characters of a method's name
HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..")


class Request(Struct, frozen=True):
    id: bytes
    method: str
    params: Json


class Notification(Struct, frozen=True):
    method: str
    params: Json


class Answer(Struct, frozen=True):
    """An answer to a request of ours. `error` is None where it is a result."""

    id: int
    result: Any = None
    error: Json | None = None


Message = Request | Notification | Answer


class _Frame(Struct):
    id: Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | None = None
    params: Any = None
    result: Any = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Frame)
_encode = msgspec.json.Encoder().encode


def read(line: bytes) -> Message | None:
    """Return the message of a line; None if it is noise: a greeting, a stack trace, no JSON-RPC."""
    if not line.lstrip().startswith(b"{") or intricate(line, VALUES):
        return None
    try:
        frame = _decoded(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    if frame.method is not None:
        return _said(frame, frame.method[:NAME])
    return _answer(frame)


def _decoded(line: bytes) -> _Frame:
    """Programs that cut text anywhere send halves of surrogate pairs, which are no characters."""
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError:
        return _decoder.decode(HALF_PAIR.sub(rb"\\ufffd", line))


def _said(frame: _Frame, method: str) -> Request | Notification:
    params = frame.params if isinstance(frame.params, dict) else {}
    if frame.id is msgspec.UNSET:
        return Notification(method, params)
    return Request(bytes(frame.id), method, params)


def _answer(frame: _Frame) -> Answer | None:
    if frame.id is msgspec.UNSET:
        return None
    digits = bytes(frame.id).strip(b'"')  # ours are numbers; some send them back as text
    if not (digits.isdigit() and len(digits) < NAME):
        return None
    error = frame.error if isinstance(frame.error, dict) or frame.error is None else {"message": str(frame.error)}
    return Answer(int(digits), frame.result, error)


def request(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def answer(asked: bytes, result: object) -> bytes:
    return _line({"jsonrpc": "2.0", "id": Raw(asked), "result": result})


def refusal(asked: bytes, code: int, message: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": Raw(asked), "error": {"code": code, "message": message}})


def _line(message: Mapping[str, Any]) -> bytes:
    try:
        return _encode(message) + b"\n"
    except UnicodeEncodeError:  # halves of surrogate pairs, as in names of files that are not UTF-8
        return _encode(_sendable(message)) + b"\n"


def _sendable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict() | Mapping():
            return {_sendable(name): _sendable(one) for name, one in value.items()}
        case list() | tuple():
            return [_sendable(one) for one in value]
        case _:
            return value


def id_of(value: object) -> bytes:
    """Return an id as it stands in a message."""
    return _encode(value)
