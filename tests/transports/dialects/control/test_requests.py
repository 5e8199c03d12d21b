"""Rules for every request of the control API, whatever its method: shape, ids, limits, cancelling."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.errors import Cancelled
from tests.transports.dialects.control.scripted import ONE, Scripted, kind_of
from tests.transports.dialects.control.test_methods import GOOD, NAMED
from transports.dialects.control.methods import METHODS


def refused(daemon: Scripted, method: str, params: Any, request: int | str = 1) -> str:
    answer = daemon.request(method, params, request)
    assert answer is not None
    assert answer["error"]["code"] == -32602, answer
    return str(answer["error"]["message"])


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_member_is_refused_by_its_name_and_nothing_is_done(method: str) -> None:
    daemon = Scripted()
    assert "speling" in refused(daemon, method, {**GOOD[method], "speling": 1})
    assert daemon.told == []


@pytest.mark.parametrize("method", METHODS)
def test_params_that_are_a_list_are_refused(method: str) -> None:
    assert refused(Scripted(), method, [1, 2])


@pytest.mark.parametrize(
    ("method", "member"),
    [(name, member) for name, method in METHODS.items() for member in method.params.model_fields],
)
def test_a_member_of_another_type_is_refused_by_its_name(method: str, member: str) -> None:
    schema = METHODS[method].params.model_json_schema()["properties"][member]
    right = {one["type"] for one in schema.get("anyOf", [schema]) if "type" in one}
    wrong = [value for kind, value in OF_TYPE if not right & kind]
    assert wrong
    for number, value in enumerate(wrong):
        daemon = Scripted()
        if not right and isinstance(value, str | dict):
            continue  # an enumeration or a reference: judged by its own words below
        text = refused(daemon, method, {**GOOD[method], member: value}, number)
        assert text.startswith(member), text
        assert daemon.told == []


OF_TYPE: list[tuple[set[str], Any]] = [
    ({"boolean"}, True),
    ({"integer", "number"}, 1),
    ({"number"}, 1.5),
    ({"string"}, "word"),
    ({"array"}, ["one"]),
    ({"object"}, {"a": 1}),
]


@pytest.mark.parametrize(
    ("method", "member", "value"),
    [
        ("conversation/send", "if_busy", "shout"),
        ("conversation/send", "items", [{"type": "smell"}]),
        ("conversation/send", "items", [{"type": "text"}]),
        ("conversation/create", "approval_policy", "always"),
        ("conversation/create", "sandbox", "sandcastle"),
        ("conversation/create", "name", ""),
        ("conversation/create", "name", "x" * 201),
        ("conversation/attach", "after", -1),
        ("conversation/attach", "after", 1 << 62),
        ("conversation/history", "after", 10**30),
        ("conversation/history", "limit", 0),
        ("conversation/history", "limit", 1001),
        ("conversation/list", "limit", 0),
        ("conversation/fork", "at", 0),
        ("approvals/answer", "decision", "perhaps"),
        ("daemon/down", "drain_s", -1),
        ("conversation/import", "file", 1),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_its_name(method: str, member: str, value: Any) -> None:
    assert refused(Scripted(), method, {**GOOD[method], member: value}).startswith(member)


@pytest.mark.parametrize(
    ("method", "member"),
    [
        (name, member)
        for name, method in METHODS.items()
        for member, field in method.params.model_fields.items()
        if field.is_required()
    ],
)
def test_a_required_member_that_is_missing_is_named(method: str, member: str) -> None:
    rest = {key: value for key, value in GOOD[method].items() if key != member}
    assert refused(Scripted(), method, rest).startswith(member)


HALF = "half a surrogate pair"


def test_half_a_surrogate_pair_is_refused_wherever_it_stands() -> None:
    daemon = Scripted()
    half = json.loads('"\\ud800"')
    assert HALF in refused(daemon, "conversation/send", {**NAMED, "prompt": half})
    items = [{"type": "text", "text": "fine"}, {"type": "text", "text": half}]
    assert HALF in refused(daemon, "conversation/send", {**NAMED, "items": items})
    assert HALF in refused(daemon, "conversation/create", {"config": {half: 1}})
    assert daemon.told == []
    assert "result" in (daemon.request("conversation/send", {**NAMED, "prompt": "\U0001f600"}) or {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_whatever_the_params_are_there_is_one_answer(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(sorted(METHODS)))
    members = sorted(METHODS[method].params.model_fields)
    drawn = data.draw(st.dictionaries(st.sampled_from(members) if members else st.nothing(), json_values))
    kept = {key: value for key, value in GOOD[method].items() if data.draw(st.booleans())}
    daemon = Scripted()
    answer = daemon.request(method, {**kept, **drawn})
    assert answer is not None
    assert "result" in answer or answer["error"]["code"] == -32602 or answer["error"]["code"] < -31000
    assert "result" in (daemon.request("clients/list", {}, 1) or {}), "its id is free again"


# --- before there are params ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["__init__", "opened", "arrived", "handlers.down", "daemon/__class__", "", "schema "]
)
def test_a_method_is_looked_up_in_the_table_and_nowhere_else(name: str) -> None:
    daemon = Scripted()
    answer = daemon.request(name, {})
    assert answer is not None
    assert answer["error"]["code"] == -32601
    assert daemon.told == []


def test_an_unknown_method_is_named_and_the_way_to_the_known_ones_too() -> None:
    answer = Scripted().request("conversation/destroy", {})
    assert answer is not None
    assert answer["error"]["code"] == -32601
    assert "conversation/destroy" in answer["error"]["message"]
    assert "schema" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"schema"}', -32600),
        (b'{"id":null,"method":"schema"}', -32600),
        (b'{"id":1,"method":7}', -32600),
        (b'{"id":1,"method":"schema","params":7}', -32600),
    ],
)
def test_an_invalid_request_is_answered_as_json_rpc_says(line: bytes, code: int) -> None:
    daemon = Scripted()
    daemon.line(line)
    (answer,) = daemon.lines
    assert answer["error"]["code"] == code


@pytest.mark.parametrize("line", [b'{"method":"daemon/down"}', b'{"id":1,"result":{}}', b'{"id":1,"error":{}}'])
def test_notifications_and_answers_of_a_client_do_nothing(line: bytes) -> None:
    daemon = Scripted()
    daemon.line(line)
    assert daemon.lines == []
    assert daemon.told == []


def test_a_line_that_was_too_long_is_answered_without_an_id() -> None:
    daemon = Scripted()
    daemon.perform(daemon.dialect.refuse_line("a message of 99 bytes is too long"))
    assert daemon.lines[0]["error"]["code"] == -32600
    assert daemon.lines[0]["id"] is None


# --- ids and room ---------------------------------------------------------------------------------------------------


def test_an_id_is_taken_until_its_request_is_answered_and_one_and_the_word_one_are_two() -> None:
    daemon = Scripted(held={"Inspect"})
    assert daemon.request("conversation/get", NAMED, 1) is None
    assert "not answered yet" in refused(daemon, "conversation/get", NAMED, 1)
    assert "not answered yet" in refused(daemon, "request/cancel", {"request": 5}, 1)
    assert daemon.request("conversation/get", NAMED, "1") is None
    daemon.release("Inspect")
    assert sum("result" in line for line in daemon.lines) == 2
    assert "result" in (daemon.request("conversation/get", NAMED, 1) or {})


def test_more_requests_than_allowed_are_refused_as_retryable_and_served_when_there_is_room() -> None:
    daemon = Scripted(held={"Send"}, in_flight=3)
    waiting = {**NAMED, "prompt": "p", "wait": True}
    for number in range(3):
        assert daemon.request("conversation/send", waiting, number) is None
    answer = daemon.request("conversation/send", waiting, 3)
    assert answer is not None
    assert answer["error"]["data"] == {"code": "overloaded", "retryable": True}
    daemon.release("Send")
    assert "result" in (daemon.request("conversation/send", waiting, 3) or {})


def test_a_client_without_room_left_can_still_interrupt_answer_and_withdraw() -> None:
    daemon = Scripted(held={"Send"}, in_flight=1)
    daemon.request("conversation/send", {**NAMED, "prompt": "p", "wait": True}, 1)
    assert "error" in (daemon.request("conversation/get", NAMED, 2) or {})
    for number, (method, params) in enumerate(
        [
            ("conversation/interrupt", NAMED),
            ("approvals/answer", GOOD["approvals/answer"]),
            ("request/cancel", {"request": 1}),
        ]
    ):
        assert "result" in (daemon.request(method, params, f"urgent-{number}") or {})
    daemon.held.add("Interrupt")
    assert daemon.request("conversation/interrupt", NAMED, 5) is None
    answer = daemon.request("conversation/interrupt", NAMED, 6)
    assert answer is not None
    assert answer["error"]["data"]["code"] == "overloaded", "that room is bounded too"


# --- taking back ----------------------------------------------------------------------------------------------------


def cancel(daemon: Scripted, request: int | str) -> None:
    assert daemon.request("request/cancel", {"request": request}, "cancel") == {
        "jsonrpc": "2.0",
        "id": "cancel",
        "result": {},
    }


def test_a_send_under_way_is_taken_back_under_the_name_it_has_inside() -> None:
    daemon = Scripted(held={"Send"}, replies={"Send": lambda _: Cancelled("taken back")})
    daemon.request("conversation/send", {**NAMED, "prompt": "p"}, 1)
    daemon.request("conversation/send", {**NAMED, "prompt": "q"}, "1")
    cancel(daemon, 1)
    sends = [message for message in daemon.told if kind_of(message) == "Send"]
    cancels = [message for message in daemon.told if kind_of(message) == "CancelRequest"]
    assert [one.caller for one in cancels] == [sends[0].caller]
    daemon.release("Send")
    assert daemon.answer(1)["error"]["data"]["code"] == "cancelled"


def test_a_request_that_is_taken_back_while_its_name_is_looked_up_is_never_carried_out() -> None:
    daemon = Scripted(held={"Resolve"})
    daemon.request("conversation/send", {"conversation": "by-name", "prompt": "p"}, 1)
    cancel(daemon, 1)
    daemon.release("Resolve")
    assert daemon.answer(1)["error"]["data"]["code"] == "cancelled"
    assert "Send" not in daemon.kinds()
    assert "result" in (daemon.request("conversation/send", {"conversation": "by-name", "prompt": "p"}, 2) or {})


def test_a_create_that_is_taken_back_while_its_settings_are_made_makes_nothing() -> None:
    daemon = Scripted(held={"MakeSettings"})
    daemon.request("conversation/create", {}, 1)
    cancel(daemon, 1)
    daemon.release("MakeSettings")
    assert daemon.answer(1)["error"]["data"]["code"] == "cancelled"
    assert "Create" not in daemon.kinds()


def test_taking_back_what_was_answered_or_never_asked_does_nothing() -> None:
    daemon = Scripted()
    daemon.request("conversation/get", NAMED, 1)
    cancel(daemon, 1)
    daemon.lines.clear()
    cancel(daemon, 99)
    assert "CancelRequest" not in daemon.kinds()
    assert "result" in (daemon.request("conversation/send", {"conversation": "by-name", "prompt": "p"}, 99) or {})


def test_ids_inside_are_never_those_of_the_client() -> None:
    daemon = Scripted()
    for number in range(3):
        daemon.request("conversation/get", {"conversation": ONE}, 7)
        daemon.lines.clear()
        assert len({message.caller for message in daemon.told}) == number + 1
