"""JSON-RPC as agents speak it, a message a line. Pure; a lenient reader and a strict writer.

Ids may be anything: they are kept as the JSON that was sent, and compared as such.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from actors.vocabulary.json_values import has_too_many_values

Json = dict[str, Any]  # an agent's JSON, of which nothing is checked

VALUES = 500_000  # in one message, which is a tenth of a second of parsing
METHOD_UNKNOWN, PARAMS_INVALID, INTERNAL, CANCELLED = -32601, -32602, -32603, -32800
LOGIN_WANTED = -32000
NAME = 200  # characters of a method's name
HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..")


class RpcRequest(Struct, frozen=True):
    id: bytes
    method: str
    params: Json


class RpcNotification(Struct, frozen=True):
    method: str
    params: Json


class RpcAnswer(Struct, frozen=True):
    """An answer to a request of ours. `error` is None if it is a result."""

    id: int
    result: Any = None
    error: Json | None = None


Message = RpcRequest | RpcNotification | RpcAnswer


class _Frame(Struct):
    id: Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | None = None
    params: Any = None
    result: Any = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Frame)
_encode = msgspec.json.Encoder().encode


def read(line: bytes) -> Message | None:
    """Return the message of a line; None if it is no JSON-RPC, but a greeting or a stack trace."""
    if not line.lstrip().startswith(b"{") or has_too_many_values(line, VALUES):
        return None
    try:
        frame = _decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    if frame.method is not None:
        return _request_or_notification(frame, frame.method[:NAME])
    return _answer(frame)


def _decode(line: bytes) -> _Frame:
    """Decode a line; replace halves of surrogate pairs, which programs send that cut text anywhere."""
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError:
        return _decoder.decode(HALF_PAIR.sub(rb"\\ufffd", line))


def _request_or_notification(frame: _Frame, method: str) -> RpcRequest | RpcNotification:
    params = frame.params if isinstance(frame.params, dict) else {}
    if frame.id is msgspec.UNSET:
        return RpcNotification(method, params)
    return RpcRequest(bytes(frame.id), method, params)


def _answer(frame: _Frame) -> RpcAnswer | None:
    if frame.id is msgspec.UNSET:
        return None
    digits = bytes(frame.id).strip(b'"')  # ours are numbers; some send them back as text
    if not (digits.isdigit() and len(digits) < NAME):
        return None
    error = frame.error if isinstance(frame.error, dict) or frame.error is None else {"message": str(frame.error)}
    return RpcAnswer(int(digits), frame.result, error)


def request(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def answer(request_id: bytes, result: object) -> bytes:
    return _line({"jsonrpc": "2.0", "id": Raw(request_id), "result": result})


def refusal(request_id: bytes, code: int, message: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": Raw(request_id), "error": {"code": code, "message": message}})


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
            return {_sendable(name): _sendable(member) for name, member in value.items()}
        case list() | tuple():
            return [_sendable(item) for item in value]
        case _:
            return value


def id_of(value: object) -> bytes:
    """Return an id as it stands in a message."""
    return _encode(value)
