"""One line to one JSON-RPC 2.0 message, and messages to lines. Pure; knows no methods and no dialect.

The shape decides, as in the reference: a method makes a request or a notification, a result or an error a response. A
message without `jsonrpc` is accepted, a message of another version is not. A line that looks like a response is never
answered, or two peers could exchange complaints for ever.
"""

import contextlib
import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from msgspec import Struct, to_builtins
from pydantic import BaseModel

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import RequestId

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

NO_BATCHES = "a batch is not supported; send each message on a line of its own"
LONG = 64 * 1024  # bytes of a line; above it, counting brackets takes longer than walking the value
DEPTH_LIMIT = 128  # far below the interpreter's own bound, so that every value can be walked and written again

JsonObject = dict[str, Any]
Params = JsonObject | list[Any] | None


class Request(Struct, frozen=True):
    """`greenroom`: a member that our bridge has added to the client's message."""

    id: RequestId
    method: str
    params: Params
    greenroom: JsonObject | None = None


class Notification(Struct, frozen=True):
    method: str
    params: Params


class Response(Struct, frozen=True):
    id: RequestId
    result: Any


class ErrorResponse(Struct, frozen=True):
    """`id` is None when the peer could not read the id."""

    id: RequestId | None
    code: int
    message: str
    data: Any = None


class Malformed(Struct, frozen=True):
    """A message to be answered with this error; `id` if it could be read."""

    code: int
    message: str
    id: RequestId | None = None


Message = Request | Notification | Response | ErrorResponse | Malformed


def read_batch(line: bytes) -> list[Message] | None:
    """The messages of a batch; None if the line is no batch or can't be read. Never raises."""
    if not line.lstrip().startswith(b"[") or read(line) != Malformed(INVALID_REQUEST, NO_BATCHES):
        return None
    values = _decode(line)[0]
    return [_classify(value) for value in values] or [Malformed(INVALID_REQUEST, "a batch must not be empty")]


def read(line: bytes) -> Message:
    """Read any line as a message. Never raises."""
    try:
        value, whole = _decode(line)
    except UnicodeDecodeError as error:
        return Malformed(PARSE_ERROR, f"not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        return Malformed(PARSE_ERROR, f"not JSON: {error.msg} at character {error.pos}")
    except RecursionError:
        return Malformed(PARSE_ERROR, _TOO_DEEP)
    except ValueError as error:  # NaN, an infinity, or a number of thousands of digits
        return Malformed(PARSE_ERROR, f"not JSON: {error}")
    if not whole and b"\\u" in line and b"\\ud" in line.lower() and _has_half_a_pair(value):
        return Malformed(
            INVALID_PARAMS, "the text has half a surrogate pair; send whole Unicode characters", _id_of(value)
        )
    if (len(line) > LONG or line.count(b"{") + line.count(b"[") > DEPTH_LIMIT) and _too_deep(value):
        return Malformed(PARSE_ERROR, _TOO_DEEP)
    return _classify(value)


def _decode(line: bytes) -> tuple[Any, bool]:
    """Decode a line; a long one with a decoder ten times as fast, as no other client is served meanwhile.

    Errors are those of the standard decoder. The flag: all texts are known to have no half surrogate pair.
    """
    if len(line) > LONG:
        from pydantic_core import from_json  # late, since clients of the daemon do without it

        with contextlib.suppress(ValueError):
            value = from_json(line, allow_inf_nan=False)
            # The fast decoder reads 1e999 as infinity.
            if not any(isinstance(scalar, float) and math.isinf(scalar) for scalar in _scalars_in(value)):
                return value, True
    text = line.decode()
    if text.startswith("{"):
        value, end = _DECODER.raw_decode(text)
        if end == len(text):
            return value, False  # the usual case: no blanks around the value
    return _DECODER.decode(text), False


def _scalars_in(value: Any) -> Iterator[Any]:
    places = [value]
    while places:
        inner = places.pop()
        if isinstance(inner, dict | list):
            places += inner.values() if isinstance(inner, dict) else inner
        else:
            yield inner


def _classify(value: Any) -> Message:
    if not isinstance(value, dict):
        return Malformed(INVALID_REQUEST, NO_BATCHES if isinstance(value, list) else "a message is an object")
    request_id = _id_of(value)
    if value.get("jsonrpc", "2.0") != "2.0":
        return Malformed(INVALID_REQUEST, "jsonrpc is not 2.0", request_id)
    if "method" in value:
        return _call(value, request_id)
    if "error" in value:
        return _error_response(value["error"], request_id)
    if "result" in value and request_id is not None:
        return Response(request_id, value["result"])
    return Malformed(INVALID_REQUEST, "neither a method nor the answer to a request", request_id)


def _id_of(value: Any) -> RequestId | None:
    request = value.get("id") if isinstance(value, dict) else None
    return request if isinstance(request, int | str) and not isinstance(request, bool) else None


def _call(value: JsonObject, request_id: RequestId | None) -> Message:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return Malformed(INVALID_REQUEST, "method is not a string", request_id)
    if params is not None and not isinstance(params, dict | list):
        return Malformed(INVALID_REQUEST, "params is neither an object nor an array", request_id)
    if "id" not in value:
        return Notification(method, params)
    if request_id is None:
        return Malformed(INVALID_REQUEST, "id is neither a string nor an integer")
    beside = value.get("greenroom")
    return Request(request_id, method, params, beside if isinstance(beside, dict) else None)


def _error_response(error: Any, request_id: RequestId | None) -> Message:
    fields = error if isinstance(error, dict) else {}
    code, message = fields.get("code"), fields.get("message")
    return ErrorResponse(
        request_id,
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "",
        fields.get("data"),
    )


def _too_deep(value: Any) -> bool:
    """True if the value is nested too deep. Level by level: no recursion, and one pass."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEPTH_LIMIT):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _has_half_a_pair(value: Any) -> bool:
    """True if a text has half a surrogate pair, which JSON can spell but UTF-8, and so the journal, can't hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False  # the check of the depth refuses it
    return False


_TOO_DEEP = f"nested deeper than {DEPTH_LIMIT} levels"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


# --- messages to lines ----------------------------------------------------------------------------------------------


def result(request: RequestId, value: Any) -> bytes:
    return line({"jsonrpc": "2.0", "id": request, "result": value})


def error(request: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    body: JsonObject = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return line({"jsonrpc": "2.0", "id": request, "error": body})


def refusal_line(request: RequestId | None, why: GreenroomError) -> bytes:
    """The line of one of our errors: its number, and in `data` its stable code and its details."""
    data = {**why.details, "code": why.code, "retryable": why.retryable}
    return error(request, why.jsonrpc, why.message, data)


def request(request_id: RequestId, method: str, params: Params | Struct = None) -> bytes:
    return line({"jsonrpc": "2.0", "id": request_id, "method": method, **_params_member(params)})


def notification(method: str, params: Params | Struct = None) -> bytes:
    return line({"jsonrpc": "2.0", "method": method, **_params_member(params)})


def _params_member(params: Params | Struct) -> JsonObject:
    return {} if params is None else {"params": params}


def line(value: Any) -> bytes:
    """One line with its newline. Text is written as it is, but for half a surrogate pair, which UTF-8 lacks."""
    try:
        return to_json(value).encode() + b"\n"
    except UnicodeEncodeError:
        return _ASCII_ENCODER.encode(value).encode() + b"\n"


def plain(value: object) -> Any:
    """A struct or a model as values that JSON has."""
    if isinstance(value, Struct) or not isinstance(value, BaseModel):  # structs first: the other check is slow
        return to_builtins(value, enc_hook=plain)
    return value.model_dump(mode="json")


_STYLE: JsonObject = {"separators": (",", ":"), "allow_nan": False, "default": plain}
_ASCII_ENCODER = json.JSONEncoder(ensure_ascii=True, **_STYLE)

try:  # json makes its encoder anew for each value, which takes longer than to use it
    from _json import encode_basestring, make_encoder

    _encode = make_encoder(None, plain, encode_basestring, None, ":", ",", False, False, False)

    def to_json(o: object) -> str:
        return "".join(_encode(o, 0))

    assert to_json({"a": [1, None]}) == '{"a":[1,null]}'  # noqa: S101  # these names are private to CPython
except (ImportError, TypeError, AssertionError):
    to_json = json.JSONEncoder(ensure_ascii=False, **_STYLE).encode
