"""The wire without a socket: lines however they are cut, and answers to the requests they belong to."""

import json
import logging
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.events import APPROVAL_REQUESTED
from greenroom import errors
from greenroom.exchange import Exchange, ScriptEnded, advance, result_of
from greenroom.scripts import QUESTION
from greenroom.wire import ControlWire, Json, hello, line

WELCOME: Json = {"greenroom": {"protocol": 1, "version": "1", "instance": "one"}}


def welcomed() -> Exchange:
    exchange = Exchange()
    exchange.feed(line(WELCOME))
    return exchange


def answer(number: int, **result: Any) -> bytes:
    return line({"jsonrpc": "2.0", "id": number, "result": result})


def test_a_hello_says_who_is_there_and_leaves_out_what_was_not_given() -> None:
    assert json.loads(hello("me", "2")) == {
        "greenroom": {
            "protocol": 1,
            "dialect": "control",
            "client": {"name": "me", "version": "2", "cwd": "/", "env": {}},
        }
    }
    assert json.loads(hello("me", "2", umask=0o22))["greenroom"]["client"]["umask"] == 18


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=2), max_size=5), st.data())
def test_messages_are_whole_however_their_bytes_are_cut(members: list[Json], data: st.DataObject) -> None:
    heard: list[Json] = []
    wire = ControlWire(heard.append)
    messages: list[Json] = [{"method": "events", "params": one} for one in members]
    text = b"".join(map(line, (WELCOME, *messages)))
    while text:
        cut = data.draw(st.integers(1, len(text)))
        wire.feed(text[:cut])
        text = text[cut:]
    assert (wire.welcome, heard) == (WELCOME, messages)


@given(st.permutations(range(1, 9)))
def test_each_answer_goes_to_its_request_in_whatever_order_they_come(order: list[int]) -> None:
    exchange, answered = welcomed(), dict[int, Json]()
    for number in sorted(order):
        sent, data = exchange.request("x", {}, partial(answered.__setitem__, number))
        assert (sent, json.loads(data)["id"]) == (number, number)
    exchange.feed(b"".join(answer(number, said=number) for number in order))
    assert {number: message["result"]["said"] for number, message in answered.items()} == {n: n for n in order}


def test_an_answer_that_nobody_waits_for_any_more_is_dropped() -> None:
    exchange, answered = welcomed(), list[Json]()
    number, _ = exchange.request("x", {}, answered.append)
    exchange.forget(number)
    exchange.feed(answer(number))
    exchange.feed(answer(77))
    assert answered == []
    assert exchange.detach_requests() == b""


def test_a_subscription_that_comes_too_late_is_ended() -> None:
    exchange = welcomed()
    number, _ = exchange.request("conversation/attach", {}, list[Json]().append)
    exchange.forget(number)
    exchange.feed(answer(number, subscription="s1"))
    said = json.loads(exchange.detach_requests())
    assert (said["method"], said["params"]) == ("conversation/detach", {"subscription": "s1"})


def test_late_messages_of_a_closed_subscription_are_dropped_until_its_end() -> None:
    exchange = welcomed()
    exchange.leave("s1")
    number = json.loads(exchange.detach_requests())["id"]
    exchange.feed(line({"method": "events", "params": {"subscription": "s1"}}))
    assert exchange.held_count == 1
    exchange.feed(answer(number))
    assert exchange.held_count == 0


def test_an_error_without_a_number_answers_all_that_is_open() -> None:
    exchange, answered = welcomed(), list[Json]()
    for _ in range(2):
        exchange.request("x", {}, answered.append)
    refused = {"id": None, "error": {"code": -32600, "message": "too long"}}
    exchange.feed(line(refused))
    assert answered == [refused, refused]


def test_an_announcement_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "greenroom"):
        welcomed().feed(line({"method": "announcement", "params": {"message": "the disk is full"}}))
    assert caplog.messages == ["the disk is full"]


def test_errors_are_of_the_class_with_their_code_and_keep_what_they_tell() -> None:
    data = {"code": "already_answered", "retryable": False, "decision": "denied", "by": "ada"}
    with pytest.raises(errors.AlreadyAnswered, match="too late") as raised:
        result_of({"error": {"code": -31004, "message": "too late", "data": data}})
    assert raised.value.details == {"decision": "denied", "by": "ada"}
    unknown = errors.error_of(
        {"code": -31999, "message": "no", "data": {"code": "from_the_future", "retryable": True}}
    )
    assert (type(unknown).__mro__[1], unknown.code) == (errors.Refusal, "from_the_future")
    assert errors.error_of({"code": -32602, "message": "no"}).code == "invalid_input"
    assert errors.error_of({"code": -32601, "message": "no"}).code == "refused"


def test_a_script_is_sent_answers_and_has_errors_raised_into_it() -> None:
    def script() -> Any:
        try:
            yield (yield "first")
        except errors.Busy:
            return "done"

    running = script()
    assert advance(running) == "first"
    assert advance(running, {"a": 1}) == {"a": 1}
    with pytest.raises(ScriptEnded) as ended:
        advance(running, errors.Busy("no"))
    assert ended.value.result == "done"


def test_a_question_is_known_by_its_type() -> None:
    assert QUESTION == APPROVAL_REQUESTED
