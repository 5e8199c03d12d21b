"""One line to one message, and back."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.errors import Overloaded
from transports import jsonrpc
from transports.jsonrpc import (
    INVALID_REQUEST,
    LONG,
    PARSE_ERROR,
    ErrorResponse,
    Malformed,
    Message,
    Notification,
    Request,
    Response,
    read,
)

GOOD: list[tuple[bytes, Message]] = [
    (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}', Request(1, "m", {"a": [1]})),
    (b'{"id":"1","method":"m"}', Request("1", "m", None)),
    (b'{"jsonrpc":"2.0","id":0,"method":"m","params":[]}', Request(0, "m", [])),
    (b'{"jsonrpc":"2.0","id":-7,"method":"m","params":null}', Request(-7, "m", None)),
    (b'{"jsonrpc":"2.0","method":"n"}', Notification("n", None)),
    (b'{"jsonrpc":"2.0","id":3,"result":null}', Response(3, None)),
    (b'{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no","data":2}}', ErrorResponse("x", -1, "no", 2)),
    (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}', ErrorResponse(None, -32700, "?")),
    (b'{"jsonrpc":"2.0","id":4,"error":"odd"}', ErrorResponse(4, jsonrpc.INTERNAL_ERROR, "")),
    ('{"id":1,"method":"\u2028 ✓"}'.encode(), Request(1, "\u2028 ✓", None)),
    (b'{"id":"\\ud83d\\ude00","method":"m"}', Request("\U0001f600", "m", None)),
    (
        b'{"id":1,"method":"m","params":["\\ud800"]}',
        Malformed(-32602, "the text has half a surrogate pair; send whole Unicode characters", 1),
    ),
]


@pytest.mark.parametrize(("line", "message"), GOOD)
def test_shape_decides_what_a_message_is(line: bytes, message: Message) -> None:
    assert read(line) == message


def test_a_number_and_its_text_are_different_ids() -> None:
    one, text = read(b'{"id":1,"method":"m"}'), read(b'{"id":"1","method":"m"}')
    assert isinstance(one, Request)
    assert isinstance(text, Request)
    assert (type(one.id), type(text.id)) == (int, str)


UNREADABLE = {
    "no json": b"hello",
    "cut": b'{"id":1,"method":"m"',
    "two values": b"{} {}",
    "half a character": b'{"id":1,"method":"\xc3"}',
    "latin 1": b'{"method":"\xe9"}',
    "an encoded surrogate": b'{"method":"\xed\xa0\x80"}',
    "utf-16": '{"id":1,"method":"m"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"id":1,"method":"m"}',
    "a raw control character": b'{"method":"\x00"}',
    "only NUL": b"\x00\x00",
    "NaN": b'{"id":1,"method":"m","params":[NaN]}',
    "infinity": b'{"id":1,"method":"m","params":[-Infinity]}',
    "a float that overflows": b'{"id":1,"method":"m","params":[1e999]}',
    "an integer of 5000 digits": b'{"id":1,"method":"m","params":[' + b"9" * 5000 + b"]}",
    "deep arrays": b"[" * (1 << 20),
    "deep and closed": b'{"id":1,"method":"m","params":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "deep objects": b'{"a":' * (1 << 18),
    "just too deep": b'{"id":1,"method":"m","params":' + b"[" * 128 + b"]" * 128 + b"}",
}


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=UNREADABLE)
def test_invalid_json_is_a_parse_error_quickly(line: bytes) -> None:
    started = time.process_time()
    message = read(line)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (PARSE_ERROR, None)
    assert time.process_time() - started < 2.0


def test_a_message_may_be_as_deep_as_the_limit_and_can_be_written_again() -> None:
    line = b'{"id":1,"method":"m","params":' + b"[" * 127 + b"]" * 127 + b"}"
    message = read(line)
    assert isinstance(message, Request)
    assert jsonrpc.request(message.id, message.method, message.params).count(b"[") == 127


def test_many_flat_objects_are_not_deep() -> None:
    assert isinstance(read(b'{"id":1,"method":"m","params":[' + b"{}," * 1000 + b"{}]}"), Request)


def test_a_text_full_of_brackets_is_not_deep() -> None:
    assert isinstance(read(json.dumps({"id": 1, "method": "[" * 5000}).encode()), Request)
    assert isinstance(read(json.dumps("[" * 5000).encode()), Malformed)


MISSHAPEN = [
    (b"[]", None),
    (b'[{"id":1,"method":"m"}]', None),
    (b'"text"', None),
    (b"12", None),
    (b"null", None),
    (b"{}", None),
    (b'{"id":null,"method":"m"}', None),
    (b'{"id":1.0,"method":"m"}', None),
    (b'{"id":true,"method":"m"}', None),
    (b'{"id":{},"method":"m"}', None),
    (b'{"jsonrpc":"2.0","id":5}', 5),
    (b'{"id":6,"method":7}', 6),
    (b'{"id":7,"method":"m","params":"text"}', 7),
    (b'{"jsonrpc":"1.0","id":"eight","method":"m"}', "eight"),
    (b'{"jsonrpc":2.0,"id":9,"method":"m"}', 9),
    (b'{"jsonrpc":null,"id":10,"method":"m"}', 10),
    (b'{"id":null,"result":1}', None),
]


@pytest.mark.parametrize(("line", "request_id"), MISSHAPEN)
def test_an_invalid_message_is_an_invalid_request_with_its_id_if_it_has_one(
    line: bytes, request_id: int | str | None
) -> None:
    message = read(line)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (INVALID_REQUEST, request_id)


@given(st.binary(max_size=200))
def test_no_line_makes_reading_raise(line: bytes) -> None:
    read(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=4))
def test_a_written_message_is_one_line_and_is_read_unchanged(
    request: int | str, method: str, params: dict[str, object]
) -> None:
    lines = [
        (jsonrpc.request(request, method, params), Request(request, method, params)),
        (jsonrpc.notification(method, params), Notification(method, params)),
        (jsonrpc.result(request, params), Response(request, params)),
        (jsonrpc.error(request, -5, method, params), ErrorResponse(request, -5, method, params)),
    ]
    for line, message in lines:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        assert read(line[:-1]) == message


def test_text_is_written_as_it_is_and_half_a_pair_as_an_escape() -> None:
    assert jsonrpc.result(1, "é\u2028\n") == '{"jsonrpc":"2.0","id":1,"result":"é\u2028\\n"}\n'.encode()
    assert jsonrpc.result("\ud800", None) == b'{"jsonrpc":"2.0","id":"\\ud800","result":null}\n'


def test_a_number_that_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        jsonrpc.result(1, float("nan"))


def test_our_own_errors_carry_their_number_and_their_code() -> None:
    body = json.loads(jsonrpc.refusal_line("r", Overloaded("later", waiting=3)))
    assert body["error"] == {
        "code": -31010,
        "message": "later",
        "data": {"waiting": 3, "code": "overloaded", "retryable": True},
    }


@pytest.mark.parametrize(
    "value",
    [
        b'"%b"' % (b"A" * LONG),
        b'["%b", 1, -0.0, 1e10, 123456789012345678901234567890, true, null]' % (b"A" * LONG),
        b'{"a": 1, "a": 2, "b": "%b"}' % ("ü😀".encode() * LONG),
        b'"%b\\n\\ud83d\\ude00"' % (b"A" * LONG),
        b'["%b", 1e999]' % (b"A" * LONG),
        b'["%b", NaN]' % (b"A" * LONG),
        b'["%b", 01]' % (b"A" * LONG),
        b'["%b\n"]' % (b"A" * LONG),
        b'["%b\xff"]' % (b"A" * LONG),
        b'["%b\\ud800"]' % (b"A" * LONG),
        b'["%b", %b]' % (b"A" * LONG, b"9" * 5_000),
        b'["%b", %b]' % (b"A" * LONG, b"[" * 200 + b"]" * 200),
        b"[%b]" % (b" " * LONG),
    ],
    ids=range(13),
)
def test_a_long_line_is_read_as_the_same_line_would_be_if_it_were_short(
    value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"value": %b}}' % value
    long = jsonrpc.read(line)
    monkeypatch.setattr(jsonrpc, "LONG", len(line))
    assert long == jsonrpc.read(line)
