import json
from typing import Any

import pytest

from transports import jsonrpc
from transports.ledger import NOTIFICATION, REPLAY, TRIES, Ledger, refusals, unreachable

INITIALIZE = jsonrpc.request(0, "initialize", {"protocolVersion": "2025-11-25"})
INITIALIZED = jsonrpc.notification("notifications/initialized")


def greeted() -> Ledger:
    ledger = Ledger()
    ledger.sent(INITIALIZE)
    ledger.received(jsonrpc.result(0, {}))
    ledger.sent(INITIALIZED)
    return ledger


def told(lines: list[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines]


def test_an_open_request_fails_with_a_retryable_error_when_its_daemon_is_lost() -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "tools/call"))
    (answer,) = told(ledger.lost("gone"))
    assert answer == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -31302, "message": "gone", "data": {"code": "daemon_restarted", "retryable": True}},
    }
    assert ledger.waiting == 0


def test_an_answered_request_does_not_fail() -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "tools/call"))
    assert ledger.received(jsonrpc.result(7, {}))
    assert ledger.lost("gone") == []


def test_an_error_is_an_answer_too() -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "tools/call"))
    ledger.received(jsonrpc.error(7, -32603, "no"))
    assert ledger.waiting == 0


def test_ids_that_differ_in_type_only_are_kept_apart() -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(1, "tools/call"))
    ledger.sent(jsonrpc.request("1", "tools/call"))
    ledger.received(jsonrpc.result(1, {}))
    (answer,) = told(ledger.lost("gone"))
    assert answer["id"] == "1"


@pytest.mark.parametrize("number", [None, True, 1.5, [1]])
def test_a_request_whose_id_can_not_be_answered_is_not_waited_for(number: object) -> None:
    ledger = greeted()
    ledger.sent(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode())
    assert ledger.waiting == 0


@pytest.mark.parametrize("line", [b"", b"[1]\n", b"{", b"\xff\n", b"[" * 100_000, b'{"method":{}}', b'{"method":[]}'])
def test_a_line_that_is_no_message_changes_nothing(line: bytes) -> None:
    ledger = greeted()
    ledger.sent(line)
    assert ledger.received(line)
    assert ledger.lost("gone") == []


def test_an_open_question_is_withdrawn_and_its_late_answer_is_for_nobody() -> None:
    ledger = greeted()
    ledger.received(jsonrpc.request("q", "elicitation/create"))
    (withdrawal,) = told(ledger.lost("gone"))
    assert withdrawal["method"] == "notifications/cancelled"
    assert withdrawal["params"] == {"requestId": "q", "reason": "gone"}
    assert ledger.is_stale(jsonrpc.result("q", {}))
    assert not ledger.is_stale(jsonrpc.request("q", "ping"))


def test_a_question_that_the_next_daemon_asks_under_the_same_id_may_be_answered() -> None:
    ledger = greeted()
    ledger.received(jsonrpc.request("q", "elicitation/create"))
    ledger.lost("gone")
    ledger.received(jsonrpc.request("q", "elicitation/create"))
    assert not ledger.is_stale(jsonrpc.result("q", {}))


def test_a_call_that_was_lost_is_told_which_conversation_it_began_or_named() -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    ledger.sent(
        jsonrpc.request("7", "tools/call", {"name": "codex-reply", "arguments": {"threadId": "T2", "prompt": "x"}})
    )
    ledger.sent(jsonrpc.request(8, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    ledger.sent(jsonrpc.request(9, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    for number, thread in ((7, "T1"), (9, "T9")):
        params = {"_meta": {"requestId": number, "threadId": thread}, "id": "", "msg": {"type": "session_configured"}}
        assert ledger.received(jsonrpc.notification("codex/event", params))
    ledger.received(jsonrpc.result(9, {}))
    errors = {json.dumps(one["id"]): one["error"] for one in map(json.loads, ledger.lost("gone"))}
    assert {key: error["data"].get("threadId") for key, error in errors.items()} == {
        "7": "T1",
        '"7"': "T2",
        "8": None,
    }
    assert errors["7"]["message"] == "gone; this call's conversation is T1: continue it with codex-reply instead"
    assert errors["8"]["message"] == "gone"
    ledger.sent(jsonrpc.request(7, "ping", {}))
    (again,) = map(json.loads, ledger.lost("gone"))
    assert "threadId" not in again["error"]["data"]


HELLO = b'{"greenroom":{"protocol":1,"dialect":"mcp"}}\n'


def test_the_next_daemon_is_told_to_count_its_questions_on() -> None:
    ledger = greeted()
    assert ledger.hello(HELLO) == HELLO
    for number in (0, 4, 1, "9"):
        ledger.received(jsonrpc.request(number, "elicitation/create"))
    ledger.lost("gone")
    said = json.loads(ledger.hello(HELLO))
    assert said == {"greenroom": {"protocol": 1, "dialect": "mcp", "first_question": 5}}
    assert ledger.hello(b"not a hello\n") == b"not a hello\n"


def test_an_answered_question_is_not_withdrawn() -> None:
    ledger = greeted()
    ledger.received(jsonrpc.request("q", "elicitation/create"))
    ledger.sent(jsonrpc.result("q", {}))
    assert ledger.lost("gone") == []


def test_the_handshake_is_replayed_under_an_id_of_our_own_and_its_answer_kept_from_the_client() -> None:
    ledger = greeted()
    ledger.lost("gone")
    first, second = ledger.replay()
    assert json.loads(first) == {**json.loads(INITIALIZE), "id": REPLAY}
    assert second == INITIALIZED
    assert not ledger.received(jsonrpc.result(REPLAY, {}))
    assert not ledger.received(jsonrpc.error(REPLAY, -32603, "no"))


def answered(ledger: Ledger, number: int, method: str, **params: object) -> None:
    ledger.sent(jsonrpc.request(number, method, params))
    ledger.received(jsonrpc.result(number, {}))


def replayed(ledger: Ledger) -> list[tuple[object, object]]:
    """What the next daemon hears after the handshake."""
    ledger.lost("gone")
    return [(one["method"], one["params"]) for one in told(ledger.replay()[2:])]


def test_the_log_level_and_the_subscriptions_are_replayed_and_their_answers_kept_from_the_client() -> None:
    ledger = greeted()
    answered(ledger, 1, "logging/setLevel", level="debug")
    answered(ledger, 2, "resources/subscribe", uri="a")
    answered(ledger, 3, "logging/setLevel", level="error")
    answered(ledger, 4, "resources/subscribe", uri="b")
    answered(ledger, 5, "resources/unsubscribe", uri="a")
    answered(ledger, 6, "resources/read", uri="c")
    holds = [("logging/setLevel", {"level": "error"}), ("resources/subscribe", {"uri": "b"})]
    assert replayed(ledger) == holds
    lines = told(ledger.replay()[2:])
    assert len({str(one["id"]) for one in lines}) == 2
    for one in lines:
        assert not ledger.received(jsonrpc.result(str(one["id"]), {}))
        assert not ledger.received(jsonrpc.error(str(one["id"]), -32002, "Resource not found"))
    assert replayed(ledger) == holds


def test_what_was_refused_or_went_with_its_daemon_does_not_hold() -> None:
    ledger = greeted()
    answered(ledger, 1, "resources/subscribe", uri="a")
    ledger.sent(jsonrpc.request(2, "resources/subscribe", {"uri": "b"}))
    ledger.received(jsonrpc.error(2, -32002, "Resource not found"))
    ledger.sent(jsonrpc.request(3, "resources/unsubscribe", {"uri": "a"}))
    assert replayed(ledger) == [("resources/subscribe", {"uri": "a"})]
    ledger.received(jsonrpc.result(3, {}))
    assert replayed(ledger) == [("resources/subscribe", {"uri": "a"})]


@pytest.mark.parametrize("method", [[], {}, 5, None])
def test_a_request_whose_method_is_no_name_is_waited_for_like_any_other(method: object) -> None:
    ledger = greeted()
    ledger.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode())
    assert ledger.waiting == 1


def test_a_client_that_introduces_itself_anew_has_asked_for_nothing() -> None:
    ledger = greeted()
    answered(ledger, 1, "logging/setLevel", level="debug")
    ledger.sent(INITIALIZE)
    ledger.received(jsonrpc.result(0, {}))
    ledger.sent(INITIALIZED)
    assert replayed(ledger) == []


@pytest.mark.parametrize("params", [None, [], {}, {"uri": 5}])
def test_a_subscription_to_nothing_that_makes_sense_breaks_nothing(params: object) -> None:
    ledger = greeted()
    ledger.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params}).encode())
    ledger.received(jsonrpc.result(1, {}))
    ledger.lost("gone")
    assert len(ledger.replay()) == 3


def test_the_clients_own_use_of_the_old_id_is_still_answered() -> None:
    ledger = greeted()
    ledger.lost("gone")
    ledger.replay()
    ledger.sent(jsonrpc.request(0, "tools/call"))
    assert ledger.received(jsonrpc.result(0, {}))
    assert ledger.waiting == 0


def test_an_initialize_that_was_not_answered_is_said_again_as_it_was() -> None:
    ledger = Ledger()
    ledger.sent(INITIALIZE)
    assert ledger.lost("gone") == []
    assert ledger.handshaking
    (again,) = ledger.replay()
    assert json.loads(again) == json.loads(INITIALIZE)
    assert ledger.received(jsonrpc.result(0, {}))
    assert not ledger.handshaking


def test_an_initialize_over_which_daemons_keep_dying_fails_in_the_end() -> None:
    ledger = Ledger()
    ledger.sent(INITIALIZE)
    for _ in range(TRIES - 1):
        assert ledger.lost("gone") == []
        assert ledger.replay()
    (answer,) = told(ledger.lost("gone"))
    assert answer["id"] == 0
    assert ledger.replay() == []


def test_nothing_is_replayed_for_a_client_that_never_shook_hands() -> None:
    assert Ledger().replay() == []


def test_a_second_initialize_replaces_the_first() -> None:
    ledger = greeted()
    again = jsonrpc.request(9, "initialize", {"protocolVersion": "2025-06-18"})
    ledger.sent(again)
    ledger.received(jsonrpc.result(9, {}))
    ledger.lost("gone")
    (first,) = ledger.replay()
    assert json.loads(first)["params"] == {"protocolVersion": "2025-06-18"}


def test_our_encoder_begins_notifications_and_only_those_as_the_ledger_expects() -> None:
    assert jsonrpc.notification("codex/event", {"id": 1}).startswith(NOTIFICATION)
    assert not jsonrpc.request("q", "elicitation/create").startswith(NOTIFICATION)
    assert not jsonrpc.result(1, {}).startswith(NOTIFICATION)


def test_only_requests_are_refused() -> None:
    lines = [jsonrpc.request(1, "ping"), jsonrpc.notification("x"), jsonrpc.result(2, {}), b"garbage\n"]
    (answer,) = told(refusals(lines, unreachable("nobody there")))
    assert answer["id"] == 1
    assert answer["error"] == unreachable("nobody there")


def test_a_question_that_its_daemon_has_withdrawn_is_not_withdrawn_again() -> None:
    ledger = greeted()
    for number in (0, 1):
        ledger.received(jsonrpc.request(number, "elicitation/create", {}))
    assert ledger.received(jsonrpc.notification("notifications/cancelled", {"requestId": 0}))
    (withdrawal,) = told(ledger.lost("gone"))
    assert withdrawal["params"] == {"requestId": 1, "reason": "gone"}


@pytest.mark.parametrize("params", [None, [0], {}, {"requestId": [0]}])
def test_a_withdrawal_of_nothing_changes_nothing(params: dict[str, object] | list[object] | None) -> None:
    ledger = greeted()
    ledger.received(jsonrpc.request(0, "elicitation/create", {}))
    assert ledger.received(jsonrpc.notification("notifications/cancelled", params))
    assert len(ledger.lost("gone")) == 1


# --- streams --------------------------------------------------------------------------------------------------------


def streaming(
    ledger: Ledger, number: int, conversation: str = "here", result: dict[str, object] | None = None
) -> None:
    params = {"name": "conversationStream", "arguments": {"conversation_id": conversation}}
    ledger.sent(jsonrpc.request(number, "tools/call", params))
    ledger.received(jsonrpc.result(number, {"content": [], "isError": False} if result is None else result))


def ended(ledger: Ledger) -> list[object]:
    said = told(ledger.lost("gone"))
    assert all(one["method"] == "notifications/stream_disconnected" for one in said)
    return [one["params"] for one in said]


def test_a_stream_that_goes_with_its_daemon_is_said_to_be_over() -> None:
    ledger = greeted()
    streaming(ledger, 7)
    assert ended(ledger) == [{"_meta": {"conversationId": "here"}, "reason": "gone"}]
    assert ended(ledger) == []


def test_a_stream_that_was_refused_taken_back_or_ended_before_is_not() -> None:
    ledger = greeted()
    streaming(ledger, 7, "refused", {"content": [], "isError": True})
    streaming(ledger, 8, "cancelled")
    ledger.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 8}))
    streaming(ledger, 9, "ended")
    ledger.received(jsonrpc.notification("notifications/stream_disconnected", {"_meta": {"conversationId": "ended"}}))
    assert ended(ledger) == []


def test_taking_an_older_stream_back_leaves_the_one_that_took_over() -> None:
    ledger = greeted()
    streaming(ledger, 7)
    streaming(ledger, 8)
    ledger.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 7}))
    assert len(ended(ledger)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"name": []}, {"name": "conversationStream", "arguments": []}])
def test_a_stream_that_names_nothing_is_none(params: Any) -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "tools/call", params))
    ledger.received(jsonrpc.result(7, {}))
    ledger.sent(jsonrpc.notification("notifications/cancelled", params))
    ledger.received(jsonrpc.notification("notifications/stream_disconnected", params))
    assert ended(ledger) == []


# --- listeners ------------------------------------------------------------------------------------------------------


def listening(ledger: Ledger, number: int, conversation: str = "here", subscription: str = "s") -> None:
    ledger.sent(jsonrpc.request(number, "addConversationListener", {"conversationId": conversation}))
    ledger.received(jsonrpc.result(number, {"subscriptionId": subscription}))


def leaving(ledger: Ledger, number: int, subscription: str) -> None:
    ledger.sent(jsonrpc.request(number, "removeConversationListener", {"subscriptionId": subscription}))


def warned(ledger: Ledger) -> list[str]:
    said: list[Any] = told(ledger.lost("gone"))
    assert all(one["method"] == "notifications/message" and one["params"]["level"] == "warning" for one in said)
    return [one["params"]["data"] for one in said]


def test_who_listened_to_a_daemon_that_is_gone_is_warned_once_for_each_conversation() -> None:
    ledger = greeted()
    listening(ledger, 7, "one", "a")
    listening(ledger, 8, "one", "b")
    listening(ledger, 9, "two", "c")
    assert warned(ledger) == [f"{one} can't be listened to any more: gone" for one in ("one", "two")]
    assert warned(ledger) == []


def test_who_listens_no_more_was_refused_or_wants_no_warnings_is_not_warned() -> None:
    ledger = greeted()
    listening(ledger, 7, "left", "a")
    leaving(ledger, 8, "a")
    ledger.received(jsonrpc.result(8, {}))
    ledger.sent(jsonrpc.request(9, "addConversationListener", {"conversationId": "refused"}))
    ledger.received(jsonrpc.error(9, -32600, "no such conversation"))
    assert warned(ledger) == []
    ledger.sent(jsonrpc.request(10, "logging/setLevel", {"level": "error"}))
    ledger.received(jsonrpc.result(10, {}))
    listening(ledger, 11)
    assert warned(ledger) == []


def test_a_listener_that_could_not_be_removed_still_listens() -> None:
    ledger = greeted()
    listening(ledger, 7)
    leaving(ledger, 8, "s")
    ledger.received(jsonrpc.error(8, -32600, "subscription not found"))
    assert len(warned(ledger)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"conversationId": [], "subscriptionId": {}}])
def test_a_listener_that_names_nothing_is_none(params: Any) -> None:
    ledger = greeted()
    ledger.sent(jsonrpc.request(7, "addConversationListener", params))
    ledger.received(jsonrpc.result(7, {"subscriptionId": "s"}))
    ledger.sent(jsonrpc.request(8, "removeConversationListener", params))
    ledger.received(jsonrpc.result(8, {}))
    assert warned(ledger) == []
