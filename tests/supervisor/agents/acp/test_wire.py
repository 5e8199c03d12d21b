"""JSON-RPC as agents speak it: lenient in what is read."""

import json

import pytest

from supervisor.agents.acp import wire
from supervisor.agents.acp.peer import agent_error


@pytest.mark.parametrize(
    "line",
    [
        b"Welcome!",
        b"\x1b[1m{not json\x1b[0m",
        b"[1, 2]",
        b"{}",
        b'{"id": "ours?", "result": 1}',
        b'{"method": 7}',
        b'{"a": ' * 5_000,
        b"\xff\xfe",
        b'{"x": "' + b"[," * 300_000 + b'"',
        b'{"x": [' + b"1," * 600_000 + b"1]}",
    ],
)
def test_a_line_that_is_no_message_is_noise(line: bytes) -> None:
    assert wire.read(line) is None


@pytest.mark.parametrize("number", [0, 7, "a1", 1.5, None, "ü"])
def test_a_request_keeps_whatever_id_it_has(number: object) -> None:
    found = wire.read(json.dumps({"id": number, "method": "x/y", "params": {"a": 1}}).encode())
    assert isinstance(found, wire.RpcRequest)
    assert (found.method, found.params) == ("x/y", {"a": 1})
    assert json.loads(wire.answer(found.id, {"b": 2})) == {"jsonrpc": "2.0", "id": number, "result": {"b": 2}}


def test_the_id_of_a_cancelled_request_is_found_again() -> None:
    for number in (0, "a1", "ü"):
        asked = wire.read(json.dumps({"id": number, "method": "x"}, ensure_ascii=False).encode())
        assert isinstance(asked, wire.RpcRequest)
        assert asked.id == wire.id_of(number)


def test_an_answer_may_name_our_number_as_text() -> None:
    assert wire.read(b'{"id": "12", "result": {"a": 1}}') == wire.RpcAnswer(12, {"a": 1})
    assert wire.read(b'{"id": 12, "error": {"code": -1, "message": "no"}}') == wire.RpcAnswer(
        12, None, {"code": -1, "message": "no"}
    )


def test_half_a_pair_of_surrogates_costs_one_character_and_not_the_message() -> None:
    found = wire.read(b'{"method": "m", "params": {"t": "a\\ud83d", "u": "\\ude00b", "v": "\\ud83d\\ude00"}}')
    assert found == wire.RpcNotification("m", {"t": "a\ufffd", "u": "\ufffdb", "v": "😀"})


def test_names_that_are_no_text_are_sent_as_far_as_they_are() -> None:
    assert json.loads(wire.notification("m", {"path": "a\udcffb", "more": ["\udc80"]}))["params"] == {
        "path": "a?b",
        "more": ["?"],
    }


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            {"code": -32000, "message": "Gemini API key is missing or not configured."},
            "Gemini API key is missing or not configured; `greenroom agents a` says how to log in",
        ),
        (
            {"code": -32000, "message": "Authentication required"},
            "Authentication required; `greenroom agents a` says how to log in",
        ),
        ({"code": -32603, "message": "Internal error", "data": {"message": "401"}}, "Internal error: 401"),
        ({"code": -32603, "message": "Internal error", "data": "out of luck"}, "Internal error: out of luck"),
        ({}, "an error without words"),
    ],
)
def test_an_error_is_told_in_the_agents_words(error: wire.Json, said: str) -> None:
    assert str(agent_error(error, "a")) == said
