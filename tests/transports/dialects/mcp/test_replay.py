"""What the bridge does with the messages of an MCP client and its daemons, without either of them."""

import json
from typing import Any

import pytest

from transports import jsonrpc
from transports.bridge.messages import parsed
from transports.bridge.outstanding import NOTIFICATION, TRIES, Outstanding, Waiting
from transports.dialects.mcp.replay import McpReplay

INITIALIZE = jsonrpc.request(0, "initialize", {"protocolVersion": "2025-11-25"})
INITIALIZED = jsonrpc.notification("notifications/initialized")


REPLAYED = "greenroom/replayed-initialize"


class Lines:
    """Lines that pass through a bridge."""

    def __init__(self) -> None:
        self._replay = McpReplay()
        self._outstanding = Outstanding(self._replay)
        self.received = self._outstanding.received
        self.lost = self._outstanding.lost
        self.again = self._outstanding.again
        self.hello = self._outstanding.hello

    def sent(self, line: bytes) -> None:
        self._outstanding.sent(Waiting(line, parsed(line), self._replay))

    def is_stale(self, line: bytes) -> bool:
        return self._outstanding.is_stale(parsed(line))

    @property
    def requests(self) -> int:
        return self._outstanding.requests

    @property
    def handshaking(self) -> bool:
        return self._outstanding.handshaking


def greeted() -> Lines:
    lines = Lines()
    lines.sent(INITIALIZE)
    lines.received(jsonrpc.result(0, {}))
    lines.sent(INITIALIZED)
    return lines


def told(lines: list[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines]


def test_an_open_request_fails_with_a_retryable_error_when_its_daemon_is_lost() -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "tools/call"))
    (answer,) = told(lines.lost("gone"))
    assert answer == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -31302, "message": "gone", "data": {"code": "daemon_restarted", "retryable": True}},
    }
    assert lines.requests == 0


def test_an_answered_request_does_not_fail() -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "tools/call"))
    assert lines.received(jsonrpc.result(7, {}))
    assert lines.lost("gone") == []


def test_an_error_is_an_answer_too() -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "tools/call"))
    lines.received(jsonrpc.error(7, -32603, "no"))
    assert lines.requests == 0


def test_ids_that_differ_in_type_only_are_kept_apart() -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(1, "tools/call"))
    lines.sent(jsonrpc.request("1", "tools/call"))
    lines.received(jsonrpc.result(1, {}))
    (answer,) = told(lines.lost("gone"))
    assert answer["id"] == "1"


@pytest.mark.parametrize("number", [None, True, 1.5, [1]])
def test_a_request_whose_id_can_not_be_answered_is_not_waited_for(number: object) -> None:
    lines = greeted()
    lines.sent(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode())
    assert lines.requests == 0


@pytest.mark.parametrize("line", [b"", b"[1]\n", b"{", b"\xff\n", b"[" * 100_000, b'{"method":{}}', b'{"method":[]}'])
def test_a_line_that_is_no_message_changes_nothing(line: bytes) -> None:
    lines = greeted()
    lines.sent(line)
    assert lines.received(line)
    assert lines.lost("gone") == []


def test_an_open_question_is_withdrawn_and_its_late_answer_is_for_nobody() -> None:
    lines = greeted()
    lines.received(jsonrpc.request("q", "elicitation/create"))
    (withdrawal,) = told(lines.lost("gone"))
    assert withdrawal["method"] == "notifications/cancelled"
    assert withdrawal["params"] == {"requestId": "q", "reason": "gone"}
    assert lines.is_stale(jsonrpc.result("q", {}))
    assert not lines.is_stale(jsonrpc.request("q", "ping"))


def test_a_question_that_the_next_daemon_asks_under_the_same_id_may_be_answered() -> None:
    lines = greeted()
    lines.received(jsonrpc.request("q", "elicitation/create"))
    lines.lost("gone")
    lines.received(jsonrpc.request("q", "elicitation/create"))
    assert not lines.is_stale(jsonrpc.result("q", {}))


def test_a_call_that_was_lost_is_told_which_conversation_it_began_or_named() -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    lines.sent(
        jsonrpc.request("7", "tools/call", {"name": "codex-reply", "arguments": {"threadId": "T2", "prompt": "x"}})
    )
    lines.sent(jsonrpc.request(8, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    lines.sent(jsonrpc.request(9, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    for number, thread in ((7, "T1"), (9, "T9")):
        params = {"_meta": {"requestId": number, "threadId": thread}, "id": "", "msg": {"type": "session_configured"}}
        assert lines.received(jsonrpc.notification("codex/event", params))
    lines.received(jsonrpc.result(9, {}))
    errors = {json.dumps(one["id"]): one["error"] for one in map(json.loads, lines.lost("gone"))}
    assert {key: error["data"].get("threadId") for key, error in errors.items()} == {
        "7": "T1",
        '"7"': "T2",
        "8": None,
    }
    assert errors["7"]["message"] == "gone; this call's conversation is T1: continue it with codex-reply instead"
    assert errors["8"]["message"] == "gone"
    lines.sent(jsonrpc.request(7, "ping", {}))
    (again,) = map(json.loads, lines.lost("gone"))
    assert "threadId" not in again["error"]["data"]


HELLO = b'{"greenroom":{"protocol":1,"dialect":"mcp"}}\n'


def test_the_next_daemon_is_told_to_count_its_questions_on() -> None:
    lines = greeted()
    assert lines.hello(HELLO) == HELLO
    for number in (0, 4, 1, "9"):
        lines.received(jsonrpc.request(number, "elicitation/create"))
    lines.lost("gone")
    said = json.loads(lines.hello(HELLO))
    assert said == {"greenroom": {"protocol": 1, "dialect": "mcp", "first_question": 5}}
    assert lines.hello(b"not a hello\n") == b"not a hello\n"


def test_an_answered_question_is_not_withdrawn() -> None:
    lines = greeted()
    lines.received(jsonrpc.request("q", "elicitation/create"))
    lines.sent(jsonrpc.result("q", {}))
    assert lines.lost("gone") == []


def test_the_handshake_is_replayed_under_an_id_of_our_own_and_its_answer_kept_from_the_client() -> None:
    lines = greeted()
    lines.lost("gone")
    first, second = lines.again()
    assert json.loads(first) == {**json.loads(INITIALIZE), "id": REPLAYED}
    assert second == INITIALIZED
    assert not lines.received(jsonrpc.result(REPLAYED, {}))
    assert not lines.received(jsonrpc.error(REPLAYED, -32603, "no"))


def answered(lines: Lines, number: int, method: str, **params: object) -> None:
    lines.sent(jsonrpc.request(number, method, params))
    lines.received(jsonrpc.result(number, {}))


def replayed(lines: Lines) -> list[tuple[object, object]]:
    """What the next daemon hears after the handshake."""
    lines.lost("gone")
    return [(one["method"], one["params"]) for one in told(lines.again()[2:])]


def test_the_log_level_and_the_subscriptions_are_replayed_and_their_answers_kept_from_the_client() -> None:
    lines = greeted()
    answered(lines, 1, "logging/setLevel", level="debug")
    answered(lines, 2, "resources/subscribe", uri="a")
    answered(lines, 3, "logging/setLevel", level="error")
    answered(lines, 4, "resources/subscribe", uri="b")
    answered(lines, 5, "resources/unsubscribe", uri="a")
    answered(lines, 6, "resources/read", uri="c")
    holds = [("logging/setLevel", {"level": "error"}), ("resources/subscribe", {"uri": "b"})]
    assert replayed(lines) == holds
    again = told(lines.again()[2:])
    assert len({str(one["id"]) for one in again}) == 2
    for one in again:
        assert not lines.received(jsonrpc.result(str(one["id"]), {}))
        assert not lines.received(jsonrpc.error(str(one["id"]), -32002, "Resource not found"))
    assert replayed(lines) == holds


def test_what_was_refused_or_went_with_its_daemon_does_not_hold() -> None:
    lines = greeted()
    answered(lines, 1, "resources/subscribe", uri="a")
    lines.sent(jsonrpc.request(2, "resources/subscribe", {"uri": "b"}))
    lines.received(jsonrpc.error(2, -32002, "Resource not found"))
    lines.sent(jsonrpc.request(3, "resources/unsubscribe", {"uri": "a"}))
    assert replayed(lines) == [("resources/subscribe", {"uri": "a"})]
    lines.received(jsonrpc.result(3, {}))
    assert replayed(lines) == [("resources/subscribe", {"uri": "a"})]


@pytest.mark.parametrize("method", [[], {}, 5, None])
def test_a_request_whose_method_is_no_name_is_waited_for_like_any_other(method: object) -> None:
    lines = greeted()
    lines.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode())
    assert lines.requests == 1


def test_a_client_that_introduces_itself_anew_has_asked_for_nothing() -> None:
    lines = greeted()
    answered(lines, 1, "logging/setLevel", level="debug")
    lines.sent(INITIALIZE)
    lines.received(jsonrpc.result(0, {}))
    lines.sent(INITIALIZED)
    assert replayed(lines) == []


@pytest.mark.parametrize("params", [None, [], {}, {"uri": 5}])
def test_a_subscription_to_nothing_that_makes_sense_breaks_nothing(params: object) -> None:
    lines = greeted()
    lines.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params}).encode())
    lines.received(jsonrpc.result(1, {}))
    lines.lost("gone")
    assert len(lines.again()) == 3


def test_the_clients_own_use_of_the_old_id_is_still_answered() -> None:
    lines = greeted()
    lines.lost("gone")
    lines.again()
    lines.sent(jsonrpc.request(0, "tools/call"))
    assert lines.received(jsonrpc.result(0, {}))
    assert lines.requests == 0


def test_an_initialize_that_was_not_answered_is_said_again_as_it_was() -> None:
    lines = Lines()
    lines.sent(INITIALIZE)
    assert lines.lost("gone") == []
    assert lines.handshaking
    (again,) = lines.again()
    assert json.loads(again) == json.loads(INITIALIZE)
    assert lines.received(jsonrpc.result(0, {}))
    assert not lines.handshaking


def test_an_initialize_over_which_daemons_keep_dying_fails_in_the_end() -> None:
    lines = Lines()
    lines.sent(INITIALIZE)
    for _ in range(TRIES - 1):
        assert lines.lost("gone") == []
        assert lines.again()
    (answer,) = told(lines.lost("gone"))
    assert answer["id"] == 0
    assert lines.again() == []


def test_nothing_is_replayed_for_a_client_that_never_shook_hands() -> None:
    assert Lines().again() == []


def test_a_second_initialize_replaces_the_first() -> None:
    lines = greeted()
    again = jsonrpc.request(9, "initialize", {"protocolVersion": "2025-06-18"})
    lines.sent(again)
    lines.received(jsonrpc.result(9, {}))
    lines.lost("gone")
    (first,) = lines.again()
    assert json.loads(first)["params"] == {"protocolVersion": "2025-06-18"}


def test_our_encoder_begins_notifications_and_only_those_as_the_bridge_expects() -> None:
    assert jsonrpc.notification("codex/event", {"id": 1}).startswith(NOTIFICATION)
    assert not jsonrpc.request("q", "elicitation/create").startswith(NOTIFICATION)
    assert not jsonrpc.result(1, {}).startswith(NOTIFICATION)


def test_a_question_that_its_daemon_has_withdrawn_is_not_withdrawn_again() -> None:
    lines = greeted()
    for number in (0, 1):
        lines.received(jsonrpc.request(number, "elicitation/create", {}))
    assert lines.received(jsonrpc.notification("notifications/cancelled", {"requestId": 0}))
    (withdrawal,) = told(lines.lost("gone"))
    assert withdrawal["params"] == {"requestId": 1, "reason": "gone"}


@pytest.mark.parametrize("params", [None, [0], {}, {"requestId": [0]}])
def test_a_withdrawal_of_nothing_changes_nothing(params: dict[str, object] | list[object] | None) -> None:
    lines = greeted()
    lines.received(jsonrpc.request(0, "elicitation/create", {}))
    assert lines.received(jsonrpc.notification("notifications/cancelled", params))
    assert len(lines.lost("gone")) == 1


# --- streams --------------------------------------------------------------------------------------------------------


def streaming(lines: Lines, number: int, conversation: str = "here", result: dict[str, object] | None = None) -> None:
    params = {"name": "conversationStream", "arguments": {"conversation_id": conversation}}
    lines.sent(jsonrpc.request(number, "tools/call", params))
    lines.received(jsonrpc.result(number, {"content": [], "isError": False} if result is None else result))


def ended(lines: Lines) -> list[object]:
    said = told(lines.lost("gone"))
    assert all(one["method"] == "notifications/stream_disconnected" for one in said)
    return [one["params"] for one in said]


def test_a_stream_that_goes_with_its_daemon_is_said_to_be_over() -> None:
    lines = greeted()
    streaming(lines, 7)
    assert ended(lines) == [{"_meta": {"conversationId": "here"}, "reason": "gone"}]
    assert ended(lines) == []


def test_a_stream_that_was_refused_taken_back_or_ended_before_is_not() -> None:
    lines = greeted()
    streaming(lines, 7, "refused", {"content": [], "isError": True})
    streaming(lines, 8, "cancelled")
    lines.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 8}))
    streaming(lines, 9, "ended")
    lines.received(jsonrpc.notification("notifications/stream_disconnected", {"_meta": {"conversationId": "ended"}}))
    assert ended(lines) == []


def test_taking_an_older_stream_back_leaves_the_one_that_took_over() -> None:
    lines = greeted()
    streaming(lines, 7)
    streaming(lines, 8)
    lines.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 7}))
    assert len(ended(lines)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"name": []}, {"name": "conversationStream", "arguments": []}])
def test_a_stream_that_names_nothing_is_none(params: Any) -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "tools/call", params))
    lines.received(jsonrpc.result(7, {}))
    lines.sent(jsonrpc.notification("notifications/cancelled", params))
    lines.received(jsonrpc.notification("notifications/stream_disconnected", params))
    assert ended(lines) == []


# --- listeners ------------------------------------------------------------------------------------------------------


def listening(lines: Lines, number: int, conversation: str = "here", subscription: str = "s") -> None:
    lines.sent(jsonrpc.request(number, "addConversationListener", {"conversationId": conversation}))
    lines.received(jsonrpc.result(number, {"subscriptionId": subscription}))


def leaving(lines: Lines, number: int, subscription: str) -> None:
    lines.sent(jsonrpc.request(number, "removeConversationListener", {"subscriptionId": subscription}))


def warned(lines: Lines) -> list[str]:
    said: list[Any] = told(lines.lost("gone"))
    assert all(one["method"] == "notifications/message" and one["params"]["level"] == "warning" for one in said)
    return [one["params"]["data"] for one in said]


def test_who_listened_to_a_daemon_that_is_gone_is_warned_once_for_each_conversation() -> None:
    lines = greeted()
    listening(lines, 7, "one", "a")
    listening(lines, 8, "one", "b")
    listening(lines, 9, "two", "c")
    assert warned(lines) == [f"{one} can't be listened to any more: gone" for one in ("one", "two")]
    assert warned(lines) == []


def test_who_listens_no_more_was_refused_or_wants_no_warnings_is_not_warned() -> None:
    lines = greeted()
    listening(lines, 7, "left", "a")
    leaving(lines, 8, "a")
    lines.received(jsonrpc.result(8, {}))
    lines.sent(jsonrpc.request(9, "addConversationListener", {"conversationId": "refused"}))
    lines.received(jsonrpc.error(9, -32600, "no such conversation"))
    assert warned(lines) == []
    lines.sent(jsonrpc.request(10, "logging/setLevel", {"level": "error"}))
    lines.received(jsonrpc.result(10, {}))
    listening(lines, 11)
    assert warned(lines) == []


def test_a_listener_that_could_not_be_removed_still_listens() -> None:
    lines = greeted()
    listening(lines, 7)
    leaving(lines, 8, "s")
    lines.received(jsonrpc.error(8, -32600, "subscription not found"))
    assert len(warned(lines)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"conversationId": [], "subscriptionId": {}}])
def test_a_listener_that_names_nothing_is_none(params: Any) -> None:
    lines = greeted()
    lines.sent(jsonrpc.request(7, "addConversationListener", params))
    lines.received(jsonrpc.result(7, {"subscriptionId": "s"}))
    lines.sent(jsonrpc.request(8, "removeConversationListener", params))
    lines.received(jsonrpc.result(8, {}))
    assert warned(lines) == []
