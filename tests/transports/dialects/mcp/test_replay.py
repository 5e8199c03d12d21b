"""The bridge with the messages of an MCP client and its daemons, without either of them."""

import json
from typing import Any

import pytest

from transports import jsonrpc
from transports.bridge.messages import parse_message
from transports.bridge.outstanding import NOTIFICATION, NUMBERED, TRIES, OutgoingLine, Outstanding
from transports.dialects.mcp.protocol.replay import BEGAN, LOST_KEPT, RECONNECTED, McpReplay

INITIALIZE = jsonrpc.request(0, "initialize", {"protocolVersion": "2025-11-25"})
INITIALIZED = jsonrpc.notification("notifications/initialized")
REPLAYED = "greenroom/replayed-initialize"


class Exchange:
    """Lines that pass through a bridge."""

    def __init__(self) -> None:
        self._replay = McpReplay()
        self._outstanding = Outstanding(self._replay)
        self.received = self._outstanding.note_received
        self.lost = self._outstanding.lose_daemon
        self.again = self._outstanding.replayed_lines
        self.hello = self._outstanding.hello

    def sent(self, line: bytes) -> None:
        self._outstanding.note_sent(OutgoingLine(line, parse_message(line), self._replay))

    def is_stale(self, line: bytes) -> bool:
        return self._outstanding.is_stale(parse_message(line))

    @property
    def requests(self) -> int:
        return self._outstanding.requests

    @property
    def handshaking(self) -> bool:
        return self._outstanding.handshaking


def greeted() -> Exchange:
    exchange = Exchange()
    exchange.sent(INITIALIZE)
    exchange.received(jsonrpc.result(0, {}))
    exchange.sent(INITIALIZED)
    return exchange


def told(lines: list[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines]


def test_an_open_request_fails_with_a_retryable_error_when_its_daemon_is_lost() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call"))
    (answer,) = told(exchange.lost("gone"))
    assert answer == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -31302, "message": "gone", "data": {"code": "daemon_restarted", "retryable": True}},
    }
    assert exchange.requests == 0


@pytest.mark.parametrize("number", [7, "7", "a,", "x" * 1000])
def test_an_answered_request_does_not_fail(number: int | str) -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(number, "tools/call"))
    assert exchange.received(jsonrpc.result(number, {}))
    assert exchange.lost("gone") == []


@pytest.mark.parametrize("number", [7, "7", 'a,"b', "é\\"])
def test_an_answer_that_nobody_here_waits_for_is_known_by_its_head(number: int | str) -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(number, "tools/call"))
    head, result, _ = jsonrpc.result(number, {}).partition(b'"result":')
    assert exchange.received(head + result + b"what is not even looked at\n")
    assert exchange.requests == 0


def test_an_error_is_an_answer_too() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call"))
    exchange.received(jsonrpc.error(7, -32603, "no"))
    assert exchange.requests == 0


def test_ids_that_differ_in_type_only_are_kept_apart() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(1, "tools/call"))
    exchange.sent(jsonrpc.request("1", "tools/call"))
    exchange.received(jsonrpc.result(1, {}))
    (answer,) = told(exchange.lost("gone"))
    assert answer["id"] == "1"


@pytest.mark.parametrize("number", [None, True, 1.5, [1]])
def test_a_request_whose_id_can_not_be_answered_is_not_waited_for(number: object) -> None:
    exchange = greeted()
    exchange.sent(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode())
    assert exchange.requests == 0


@pytest.mark.parametrize("line", [b"", b"[1]\n", b"{", b"\xff\n", b"[" * 100_000, b'{"method":{}}', b'{"method":[]}'])
def test_a_line_that_is_no_message_changes_nothing(line: bytes) -> None:
    exchange = greeted()
    exchange.sent(line)
    assert exchange.received(line)
    assert exchange.lost("gone") == []


def test_an_open_question_is_withdrawn_and_its_late_answer_is_for_nobody() -> None:
    exchange = greeted()
    exchange.received(jsonrpc.request("q", "elicitation/create"))
    (withdrawal,) = told(exchange.lost("gone"))
    assert withdrawal["method"] == "notifications/cancelled"
    assert withdrawal["params"] == {"requestId": "q", "reason": "gone"}
    assert exchange.is_stale(jsonrpc.result("q", {}))
    assert not exchange.is_stale(jsonrpc.request("q", "ping"))


def test_a_question_that_the_next_daemon_asks_under_the_same_id_may_be_answered() -> None:
    exchange = greeted()
    exchange.received(jsonrpc.request("q", "elicitation/create"))
    exchange.lost("gone")
    exchange.received(jsonrpc.request("q", "elicitation/create"))
    assert not exchange.is_stale(jsonrpc.result("q", {}))


def test_a_stateless_call_that_was_lost_is_told_the_conversation_that_its_progress_named() -> None:
    exchange = Exchange()
    exchange.sent(jsonrpc.request(7, "tools/call", CALL))
    params = {"_meta": {"requestId": 7, "threadId": "T1"}, "progressToken": "p", "progress": 1}
    assert exchange.received(jsonrpc.notification("notifications/progress", params))
    (lost,) = map(json.loads, exchange.lost("gone"))
    assert lost["error"]["data"]["threadId"] == "T1"


def test_a_daemon_tells_the_bridge_alone_where_a_stateless_call_without_progress_runs() -> None:
    exchange = Exchange()
    exchange.sent(jsonrpc.request(7, "tools/call", CALL))
    began = jsonrpc.notification(BEGAN, {"_meta": {"requestId": 7, "threadId": "T1"}})
    assert not exchange.received(began), "it is not for the client"
    (lost,) = map(json.loads, exchange.lost("gone"))
    assert lost["error"]["data"]["threadId"] == "T1"


def test_a_call_that_was_lost_is_told_which_conversation_it_began_or_named() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    exchange.sent(
        jsonrpc.request("7", "tools/call", {"name": "codex-reply", "arguments": {"threadId": "T2", "prompt": "x"}})
    )
    exchange.sent(jsonrpc.request(8, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    exchange.sent(jsonrpc.request(9, "tools/call", {"name": "codex", "arguments": {"prompt": "hi"}}))
    for number, thread in ((7, "T1"), (9, "T9")):
        params = {"_meta": {"requestId": number, "threadId": thread}, "id": "", "msg": {"type": "session_configured"}}
        assert exchange.received(jsonrpc.notification("codex/event", params))
    exchange.received(jsonrpc.result(9, {}))
    errors = {json.dumps(one["id"]): one["error"] for one in map(json.loads, exchange.lost("gone"))}
    assert {key: error["data"].get("threadId") for key, error in errors.items()} == {
        "7": "T1",
        '"7"': "T2",
        "8": None,
    }
    assert errors["7"]["message"] == "gone; this call's conversation is T1: continue it with codex-reply instead"
    assert errors["8"]["message"] == "gone"
    exchange.sent(jsonrpc.request(7, "ping", {}))
    (again,) = map(json.loads, exchange.lost("gone"))
    assert "threadId" not in again["error"]["data"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "codex-reply", "arguments": {"conversationId": "T", "prompt": "x"}}),
        ("tools/call", {"name": "send", "arguments": {"threadId": "T", "prompt": "x"}}),
        ("tools/call", {"name": "conversationSendMessage", "arguments": {"conversation_id": "T", "content": []}}),
        ("sendUserMessage", {"conversationId": "T", "items": []}),
        ("sendUserTurn", {"conversationId": "T", "items": []}),
    ],
)
def test_whatever_said_something_in_a_conversation_and_was_lost_names_it_and_how_to_go_on(
    method: str, params: dict[str, Any]
) -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(1, method, params))
    ((error),) = (one["error"] for one in map(json.loads, exchange.lost("gone")))
    assert error["data"]["threadId"] == "T"
    assert error["message"] == "gone; this call's conversation is T: continue it with codex-reply instead"


def test_a_wait_that_was_lost_is_told_that_it_can_be_begun_again() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(1, "tools/call", {"name": "wait_conversation", "arguments": {"threadId": "T"}}))
    (answer,) = map(json.loads, exchange.lost("gone"))
    assert answer["error"]["message"] == "gone; this call's conversation is T: wait_conversation goes on there"


CALL = {"name": "codex", "arguments": {"prompt": "hi"}}


def lost_calls(exchange: Exchange) -> object:
    """The calls that the next daemon is told of, by the last of what it hears first."""
    last = json.loads(exchange.again()[-1])
    return last["params"]["requests"] or None if last["method"] == "notifications/greenroom/reconnected" else None


def test_the_next_daemon_is_told_that_there_was_another_if_anything_was_said_to_it() -> None:
    exchange = greeted()
    exchange.lost("gone")
    assert RECONNECTED not in b"".join(exchange.again()).decode()
    exchange.sent(jsonrpc.request(7, "tools/call", CALL))
    exchange.received(jsonrpc.result(7, {}))
    exchange.lost("gone")
    assert json.loads(exchange.again()[-1])["params"] == {"requests": [], "tasks": []}


def test_calls_that_were_lost_are_named_to_every_next_daemon_until_they_are_said_again() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call", CALL))
    exchange.sent(jsonrpc.request(8, "tools/call", {"name": "send", "arguments": {"threadId": "T", "prompt": "x"}}))
    exchange.sent(jsonrpc.request(9, "tools/call", CALL))
    exchange.sent(jsonrpc.request(10, "tools/list", {}))
    exchange.received(jsonrpc.result(9, {}))
    assert lost_calls(exchange) is None
    for _ in range(2):
        exchange.lost("gone")
        assert lost_calls(exchange) == [{"id": 7, "threadId": None}, {"id": 8, "threadId": "T"}]
    exchange.sent(jsonrpc.request(7, "tools/call", CALL))
    assert lost_calls(exchange) == [{"id": 8, "threadId": "T"}]
    exchange.lost("gone")
    assert lost_calls(exchange) == [{"id": 8, "threadId": "T"}, {"id": 7, "threadId": None}]


def test_tasks_are_named_to_the_next_daemon() -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call", {**CALL, "task": {}}))
    exchange.received(jsonrpc.result(7, {"task": {"taskId": "a@b", "status": "working"}}))
    exchange.sent(jsonrpc.request(8, "tools/call", CALL))
    exchange.received(jsonrpc.result(8, {"content": []}))
    assert exchange.lost("gone") == []
    told = json.loads(exchange.again()[-1])
    assert told["method"] == "notifications/greenroom/reconnected"
    assert told["params"] == {"requests": [], "tasks": ["a@b"]}


def test_no_more_lost_calls_are_named_than_a_client_would_say_again() -> None:
    exchange = greeted()
    for number in range(LOST_KEPT + 1):
        exchange.sent(jsonrpc.request(number, "tools/call", CALL))
    exchange.lost("gone")
    named = lost_calls(exchange)
    assert isinstance(named, list)
    assert [one["id"] for one in named] == list(range(1, LOST_KEPT + 1))


@pytest.mark.parametrize("number", [None, [1], {"a": 1}, True])
def test_a_call_whose_id_nobody_can_answer_is_not_named(number: object) -> None:
    exchange = greeted()
    exchange.sent(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": CALL}).encode())
    exchange.lost("gone")
    assert lost_calls(exchange) is None


HELLO = b'{"greenroom":{"protocol":1,"dialect":"mcp"}}\n'


def test_the_next_daemon_is_told_to_count_its_questions_on() -> None:
    exchange = greeted()
    assert exchange.hello(HELLO) == HELLO
    for number in (0, 4, 1, "9"):
        exchange.received(jsonrpc.request(number, "elicitation/create"))
    exchange.lost("gone")
    said = json.loads(exchange.hello(HELLO))
    assert said == {"greenroom": {"protocol": 1, "dialect": "mcp", "first_question": 5}}
    assert exchange.hello(b"not a hello\n") == b"not a hello\n"


def test_an_answered_question_is_not_withdrawn() -> None:
    exchange = greeted()
    exchange.received(jsonrpc.request("q", "elicitation/create"))
    exchange.sent(jsonrpc.result("q", {}))
    assert exchange.lost("gone") == []


def test_the_handshake_is_replayed_under_an_id_of_our_own_and_its_answer_kept_from_the_client() -> None:
    exchange = greeted()
    exchange.lost("gone")
    first, second = exchange.again()
    assert json.loads(first) == {**json.loads(INITIALIZE), "id": REPLAYED}
    assert second == INITIALIZED
    assert not exchange.received(jsonrpc.result(REPLAYED, {}))
    assert not exchange.received(jsonrpc.error(REPLAYED, -32603, "no"))


def answered(exchange: Exchange, number: int, method: str, **params: object) -> None:
    exchange.sent(jsonrpc.request(number, method, params))
    exchange.received(jsonrpc.result(number, {}))


def replayed(exchange: Exchange) -> list[tuple[object, object]]:
    """The messages that the next daemon gets after the handshake."""
    exchange.lost("gone")
    return [(one["method"], one["params"]) for one in told(exchange.again()[2:])]


def test_the_log_level_and_the_subscriptions_are_replayed_and_their_answers_kept_from_the_client() -> None:
    exchange = greeted()
    answered(exchange, 1, "logging/setLevel", level="debug")
    answered(exchange, 2, "resources/subscribe", uri="a")
    answered(exchange, 3, "logging/setLevel", level="error")
    answered(exchange, 4, "resources/subscribe", uri="b")
    answered(exchange, 5, "resources/unsubscribe", uri="a")
    answered(exchange, 6, "resources/read", uri="c")
    holds = [("logging/setLevel", {"level": "error"}), ("resources/subscribe", {"uri": "b"})]
    assert replayed(exchange) == holds
    again = told(exchange.again()[2:])
    assert len({str(one["id"]) for one in again}) == 2
    for one in again:
        assert not exchange.received(jsonrpc.result(str(one["id"]), {}))
        assert not exchange.received(jsonrpc.error(str(one["id"]), -32002, "Resource not found"))
    assert replayed(exchange) == holds


def test_a_refused_or_unanswered_change_of_subscriptions_does_not_hold() -> None:
    exchange = greeted()
    answered(exchange, 1, "resources/subscribe", uri="a")
    exchange.sent(jsonrpc.request(2, "resources/subscribe", {"uri": "b"}))
    exchange.received(jsonrpc.error(2, -32002, "Resource not found"))
    exchange.sent(jsonrpc.request(3, "resources/unsubscribe", {"uri": "a"}))
    assert replayed(exchange) == [("resources/subscribe", {"uri": "a"})]
    exchange.received(jsonrpc.result(3, {}))
    assert replayed(exchange) == [("resources/subscribe", {"uri": "a"})]


@pytest.mark.parametrize("method", [[], {}, 5, None])
def test_a_request_whose_method_is_no_name_is_waited_for_like_any_other(method: object) -> None:
    exchange = greeted()
    exchange.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode())
    assert exchange.requests == 1


def test_a_client_that_introduces_itself_anew_has_asked_for_nothing() -> None:
    exchange = greeted()
    answered(exchange, 1, "logging/setLevel", level="debug")
    exchange.sent(INITIALIZE)
    exchange.received(jsonrpc.result(0, {}))
    exchange.sent(INITIALIZED)
    assert replayed(exchange) == []


@pytest.mark.parametrize("params", [None, [], {}, {"uri": 5}])
def test_a_subscription_to_nothing_that_makes_sense_breaks_nothing(params: object) -> None:
    exchange = greeted()
    exchange.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params}).encode())
    exchange.received(jsonrpc.result(1, {}))
    exchange.lost("gone")
    assert len(exchange.again()) == 3


def test_the_clients_own_use_of_the_old_id_is_still_answered() -> None:
    exchange = greeted()
    exchange.lost("gone")
    exchange.again()
    exchange.sent(jsonrpc.request(0, "tools/call"))
    assert exchange.received(jsonrpc.result(0, {}))
    assert exchange.requests == 0


def test_an_initialize_that_was_not_answered_is_said_again_as_it_was() -> None:
    exchange = Exchange()
    exchange.sent(INITIALIZE)
    assert exchange.lost("gone") == []
    assert exchange.handshaking
    (again,) = exchange.again()
    assert json.loads(again) == json.loads(INITIALIZE)
    assert exchange.received(jsonrpc.result(0, {}))
    assert not exchange.handshaking


def test_an_initialize_over_which_daemons_keep_dying_fails_in_the_end() -> None:
    exchange = Exchange()
    exchange.sent(INITIALIZE)
    for _ in range(TRIES - 1):
        assert exchange.lost("gone") == []
        assert exchange.again()
    (answer,) = told(exchange.lost("gone"))
    assert answer["id"] == 0
    assert exchange.again() == []


def test_nothing_is_replayed_for_a_client_that_never_shook_hands() -> None:
    assert Exchange().again() == []


def test_a_second_initialize_replaces_the_first() -> None:
    exchange = greeted()
    again = jsonrpc.request(9, "initialize", {"protocolVersion": "2025-06-18"})
    exchange.sent(again)
    exchange.received(jsonrpc.result(9, {}))
    exchange.lost("gone")
    (first,) = exchange.again()
    assert json.loads(first)["params"] == {"protocolVersion": "2025-06-18"}


def test_our_encoder_begins_notifications_and_only_those_as_the_bridge_expects() -> None:
    assert jsonrpc.notification("codex/event", {"id": 1}).startswith(NOTIFICATION)
    assert not jsonrpc.request("q", "elicitation/create").startswith(NOTIFICATION)
    assert jsonrpc.result(1, {}).startswith(NUMBERED + b'1,"result":')
    assert jsonrpc.error("a", -1, "no").startswith(NUMBERED + b'"a","error":')


def test_a_question_that_its_daemon_has_withdrawn_is_not_withdrawn_again() -> None:
    exchange = greeted()
    for number in (0, 1):
        exchange.received(jsonrpc.request(number, "elicitation/create", {}))
    assert exchange.received(jsonrpc.notification("notifications/cancelled", {"requestId": 0}))
    (withdrawal,) = told(exchange.lost("gone"))
    assert withdrawal["params"] == {"requestId": 1, "reason": "gone"}


@pytest.mark.parametrize("params", [None, [0], {}, {"requestId": [0]}])
def test_a_withdrawal_of_nothing_changes_nothing(params: dict[str, object] | list[object] | None) -> None:
    exchange = greeted()
    exchange.received(jsonrpc.request(0, "elicitation/create", {}))
    assert exchange.received(jsonrpc.notification("notifications/cancelled", params))
    assert len(exchange.lost("gone")) == 1


# --- streams --------------------------------------------------------------------------------------------------------


def streaming(
    exchange: Exchange, number: int, conversation: str = "here", result: dict[str, object] | None = None
) -> None:
    params = {"name": "conversationStream", "arguments": {"conversation_id": conversation}}
    exchange.sent(jsonrpc.request(number, "tools/call", params))
    exchange.received(jsonrpc.result(number, {"content": [], "isError": False} if result is None else result))


def ended(exchange: Exchange) -> list[object]:
    said = told(exchange.lost("gone"))
    assert all(one["method"] == "notifications/stream_disconnected" for one in said)
    return [one["params"] for one in said]


def test_a_stream_that_goes_with_its_daemon_is_said_to_be_over() -> None:
    exchange = greeted()
    streaming(exchange, 7)
    assert ended(exchange) == [{"_meta": {"conversationId": "here"}, "reason": "gone"}]
    assert ended(exchange) == []


def test_a_stream_that_was_refused_taken_back_or_ended_before_is_not() -> None:
    exchange = greeted()
    streaming(exchange, 7, "refused", {"content": [], "isError": True})
    streaming(exchange, 8, "cancelled")
    exchange.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 8}))
    streaming(exchange, 9, "ended")
    exchange.received(
        jsonrpc.notification("notifications/stream_disconnected", {"_meta": {"conversationId": "ended"}})
    )
    assert ended(exchange) == []


def test_taking_an_older_stream_back_leaves_the_one_that_took_over() -> None:
    exchange = greeted()
    streaming(exchange, 7)
    streaming(exchange, 8)
    exchange.sent(jsonrpc.notification("notifications/cancelled", {"requestId": 7}))
    assert len(ended(exchange)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"name": []}, {"name": "conversationStream", "arguments": []}])
def test_a_stream_that_names_nothing_is_none(params: Any) -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "tools/call", params))
    exchange.received(jsonrpc.result(7, {}))
    exchange.sent(jsonrpc.notification("notifications/cancelled", params))
    exchange.received(jsonrpc.notification("notifications/stream_disconnected", params))
    assert ended(exchange) == []


# --- listeners ------------------------------------------------------------------------------------------------------


def listening(exchange: Exchange, number: int, conversation: str = "here", subscription: str = "s") -> None:
    exchange.sent(jsonrpc.request(number, "addConversationListener", {"conversationId": conversation}))
    exchange.received(jsonrpc.result(number, {"subscriptionId": subscription}))


def leaving(exchange: Exchange, number: int, subscription: str) -> None:
    exchange.sent(jsonrpc.request(number, "removeConversationListener", {"subscriptionId": subscription}))


def warned(exchange: Exchange) -> list[str]:
    said: list[Any] = told(exchange.lost("gone"))
    assert all(one["method"] == "notifications/message" and one["params"]["level"] == "warning" for one in said)
    return [one["params"]["data"] for one in said]


def test_a_listener_of_a_daemon_that_is_gone_is_warned_once_for_each_conversation() -> None:
    exchange = greeted()
    listening(exchange, 7, "one", "a")
    listening(exchange, 8, "one", "b")
    listening(exchange, 9, "two", "c")
    assert warned(exchange) == [f"{one} can't be listened to any more: gone" for one in ("one", "two")]
    assert warned(exchange) == []


def test_a_client_that_stopped_listening_was_refused_or_wants_no_warnings_is_not_warned() -> None:
    exchange = greeted()
    listening(exchange, 7, "left", "a")
    leaving(exchange, 8, "a")
    exchange.received(jsonrpc.result(8, {}))
    exchange.sent(jsonrpc.request(9, "addConversationListener", {"conversationId": "refused"}))
    exchange.received(jsonrpc.error(9, -32600, "no such conversation"))
    assert warned(exchange) == []
    exchange.sent(jsonrpc.request(10, "logging/setLevel", {"level": "error"}))
    exchange.received(jsonrpc.result(10, {}))
    listening(exchange, 11)
    assert warned(exchange) == []


def test_a_listener_that_could_not_be_removed_still_listens() -> None:
    exchange = greeted()
    listening(exchange, 7)
    leaving(exchange, 8, "s")
    exchange.received(jsonrpc.error(8, -32600, "subscription not found"))
    assert len(warned(exchange)) == 1


@pytest.mark.parametrize("params", [None, [], {}, {"conversationId": [], "subscriptionId": {}}])
def test_a_listener_that_names_nothing_is_none(params: Any) -> None:
    exchange = greeted()
    exchange.sent(jsonrpc.request(7, "addConversationListener", params))
    exchange.received(jsonrpc.result(7, {"subscriptionId": "s"}))
    exchange.sent(jsonrpc.request(8, "removeConversationListener", params))
    exchange.received(jsonrpc.result(8, {}))
    assert warned(exchange) == []
