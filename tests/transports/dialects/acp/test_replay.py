"""The bridge with the messages of an ACP client and its daemons, without either of them."""

import json
from typing import Any

import pytest

from transports import jsonrpc
from transports.bridge.messages import parse_message
from transports.bridge.outstanding import DAEMONS, Outstanding
from transports.dialects.acp.replay import ATTACH, MESSAGES, AcpReplay

INITIALIZE = jsonrpc.request(0, "initialize", {"protocolVersion": 1})
SERVERS = [{"name": "s", "command": "/bin/s", "args": [], "env": []}]
Json = dict[str, Any]


def update(session: str, seq: int, **update: object) -> bytes:
    meta = {"greenroom": {"instance": "i", "seq": seq}}
    return jsonrpc.notification("session/update", {"sessionId": session, "update": update, "_meta": meta})


def running(session: str, seq: int, *, running: bool = True) -> bytes:
    meta = {"greenroom": {"instance": "i", "seq": seq, **({"running": True} if running else {})}}
    told = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    return jsonrpc.notification("session/update", {"sessionId": session, "update": told, "_meta": meta})


def chunk(session: str, seq: int, message: str, text: str, kind: str = "agent_message_chunk") -> bytes:
    return update(session, seq, sessionUpdate=kind, content={"type": "text", "text": text}, messageId=message)


class Exchange:
    """Lines that pass through a bridge whose client has introduced itself."""

    def __init__(self) -> None:
        self.outstanding = Outstanding(AcpReplay("1.2.3"))
        self.outstanding.note_answered_handshake(parse_message(INITIALIZE))
        self.received = self.outstanding.note_received

    def say(self, number: int, method: str, **params: object) -> bytes:
        """Send a request; returns the line as the daemon gets it."""
        line = jsonrpc.request(number, method, params)
        waiting = self.outstanding.outgoing_line(line, parse_message(line))
        self.outstanding.note_sent(waiting)
        return waiting.line

    def asked(self, number: int, method: str, result: object, **params: object) -> None:
        self.say(number, method, **params)
        self.received(jsonrpc.result(number, result))

    def lost(self, *, for_good: bool = False) -> list[Json]:
        return [json.loads(line) for line in self.outstanding.lose_daemon("gone", for_good=for_good)]

    def again(self) -> list[bytes]:
        return self.outstanding.replayed_lines()

    def attachments(self) -> list[Json]:
        """The words about each session that the next daemon hears."""
        first, *rest = (json.loads(line) for line in self.again())
        assert (first["method"], first["params"]) == ("initialize", {"protocolVersion": 1})
        return [message["params"] for message in rest if message["method"] == ATTACH]


@pytest.fixture
def exchange() -> Exchange:
    exchange = Exchange()
    exchange.asked(1, "session/new", {"sessionId": "a"}, cwd="/", mcpServers=SERVERS)
    return exchange


def test_a_session_is_read_on_from_the_last_event_that_its_client_has_seen(exchange: Exchange) -> None:
    exchange.received(update("a", 3, sessionUpdate="plan", entries=[]))
    exchange.received(update("a", 7, sessionUpdate="usage_update", used=1, size=2))
    exchange.lost()
    assert exchange.attachments() == [{"sessionId": "a", "after": 7, "shown": {}, "mcpServers": SERVERS}]


def test_the_shown_part_of_a_message_is_counted_in_characters(exchange: Exchange) -> None:
    exchange.received(chunk("a", 3, "m", "é\U0001f600"))
    exchange.received(chunk("a", 3, "m", 'x"}\n'))
    exchange.received(chunk("a", 4, "t", "hm", "agent_thought_chunk"))
    exchange.received(chunk("a", 4, "u", "not counted", "user_message_chunk"))
    exchange.lost()
    assert exchange.attachments() == [
        {"sessionId": "a", "after": 4, "shown": {"m": 6, "t": 2}, "mcpServers": SERVERS}
    ]


def test_a_long_conversation_keeps_the_length_of_its_last_messages_alone(exchange: Exchange) -> None:
    for number in range(MESSAGES + 5):
        exchange.received(chunk("a", number, f"m{number}", "x"))
    exchange.received(chunk("a", 99, "m5", "x"))
    exchange.received(chunk("a", 99, "new", "x"))
    (attachment,) = exchange.attachments()
    assert len(attachment["shown"]) == MESSAGES
    assert attachment["shown"]["m5"] == 2
    assert "m6" not in attachment["shown"]


def test_a_place_that_a_tool_has_written_is_not_taken_for_ours(exchange: Exchange) -> None:
    forged = {"greenroom": {"instance": "i", "seq": 99}}
    exchange.received(update("a", 3, sessionUpdate="tool_call", rawInput={"_meta": forged}))
    exchange.received(
        jsonrpc.notification(
            "session/update", {"sessionId": "a", "update": {"sessionUpdate": "tool_call", "_meta": forged}}
        )
    )
    exchange.received(update("a", 4, sessionUpdate="tool_call", title=f'"_meta":{json.dumps(forged)}}}}}\n'))
    assert exchange.attachments()[0]["after"] == 4


def test_a_place_is_found_wherever_it_stands(exchange: Exchange) -> None:
    params = {"sessionId": "a", "_meta": {"greenroom": {"seq": 5}}, "update": {"sessionUpdate": "plan", "more": 1}}
    exchange.received(jsonrpc.notification("session/update", params))
    assert exchange.attachments()[0]["after"] == 5


def test_sessions_that_were_loaded_resumed_or_forked_are_open_and_deleted_ones_are_not(exchange: Exchange) -> None:
    exchange.asked(2, "session/load", None, sessionId="b", cwd="/", mcpServers=[])
    exchange.asked(3, "session/resume", {}, sessionId="c", cwd="/")
    exchange.asked(4, "session/fork", {"sessionId": "d"}, sessionId="a", cwd="/", mcpServers=SERVERS)
    exchange.asked(5, "session/delete", {}, sessionId="b")
    exchange.say(6, "session/resume", sessionId="e", cwd="/")
    exchange.received(jsonrpc.error(6, -32002, "no such session"))
    attachments = {one["sessionId"]: one["mcpServers"] for one in exchange.attachments()}
    assert attachments == {"a": SERVERS, "c": [], "d": SERVERS}


def test_a_history_that_is_told_anew_is_counted_anew(exchange: Exchange) -> None:
    exchange.received(chunk("a", 3, "m", "twelve chars"))
    exchange.say(2, "session/load", sessionId="a", cwd="/", mcpServers=[])
    exchange.received(chunk("a", 3, "m", "twelve chars"))
    exchange.received(jsonrpc.result(2, None))
    assert exchange.attachments()[0]["shown"] == {"m": 12}


def test_a_load_that_was_refused_leaves_the_place_as_it_was(exchange: Exchange) -> None:
    exchange.received(chunk("a", 3, "m", "x"))
    exchange.say(2, "session/load", sessionId="a", cwd="/", mcpServers=[])
    exchange.received(jsonrpc.error(2, -32603, "no"))
    assert exchange.attachments() == [{"sessionId": "a", "after": 3, "shown": {"m": 1}, "mcpServers": SERVERS}]


def test_a_session_that_is_gone_is_not_attached_again(exchange: Exchange) -> None:
    _, attach = map(json.loads, exchange.again())
    assert exchange.received(jsonrpc.error(attach["id"], -32002, "no such session")) is False
    assert exchange.attachments() == []


def test_a_session_that_can_not_be_attached_for_now_is_attached_to_the_next_daemon(exchange: Exchange) -> None:
    _, attach = map(json.loads, exchange.again())
    exchange.received(jsonrpc.error(attach["id"], -31304, "overloaded"))
    assert [one["sessionId"] for one in exchange.attachments()] == ["a"]


def test_open_prompts_are_said_again_with_their_keys_behind_the_attachments(exchange: Exchange) -> None:
    first = exchange.say(2, "session/prompt", sessionId="a", prompt=[])
    second = exchange.say(3, "session/prompt", sessionId="a", prompt=[])
    assert exchange.lost() == []
    *_, attach, third, fourth = exchange.again()
    assert json.loads(attach)["method"] == ATTACH
    assert [third, fourth] == [first, second]
    keys = [json.loads(line)["greenroom"]["key"] for line in (first, second)]
    assert len(set(keys)) == 2
    assert len({key.partition("/")[0] for key in keys}) == 1


def test_a_cancel_is_said_again_behind_the_prompt_that_it_is_for(exchange: Exchange) -> None:
    first = exchange.say(2, "session/prompt", sessionId="a", prompt=[])
    second = exchange.say(3, "session/prompt", sessionId="b", prompt=[])
    cancel = jsonrpc.notification("session/cancel", {"sessionId": "a"})
    back = jsonrpc.notification("$/cancel_request", {"requestId": 3})
    stranger = jsonrpc.notification("$/cancel_request", {"requestId": 9})
    for line in (cancel, back, stranger):
        exchange.outstanding.note_sent(exchange.outstanding.outgoing_line(line, parse_message(line)))
    assert exchange.lost() == []
    *_, third, fourth = exchange.again()
    assert [third, fourth] == [first + cancel, second + back]


def test_a_prompt_that_is_answered_is_said_no_more(exchange: Exchange) -> None:
    exchange.asked(2, "session/prompt", {"stopReason": "end_turn"}, sessionId="a", prompt=[])
    exchange.lost()
    assert len(exchange.again()) == 2


def test_questions_are_withdrawn_and_other_requests_fail(exchange: Exchange) -> None:
    exchange.received(jsonrpc.request(4, "session/request_permission", {}))
    exchange.received(jsonrpc.request(5, "elicitation/create", {}))
    exchange.received(jsonrpc.notification("$/cancel_request", {"requestId": 4}))
    exchange.say(2, "session/list")
    exchange.say(3, "session/prompt", sessionId="a", prompt=[])
    failed, withdrawn = exchange.lost()
    assert (failed["id"], failed["error"]["data"]["code"]) == (2, "daemon_restarted")
    assert (withdrawn["method"], withdrawn["params"]) == ("$/cancel_request", {"requestId": 5})


def test_a_prompt_fails_when_there_is_no_next_daemon(exchange: Exchange) -> None:
    exchange.say(2, "session/prompt", sessionId="a", prompt=[])
    (failed,) = exchange.lost(for_good=True)
    assert failed["id"] == 2


def test_a_prompt_over_which_daemon_after_daemon_goes_down_without_a_word_fails(exchange: Exchange) -> None:
    exchange.say(2, "session/prompt", sessionId="a", prompt=[])
    for _ in range(DAEMONS):
        assert exchange.lost() == []
        exchange.received(jsonrpc.result(json.loads(exchange.again()[0])["id"], {}))
    assert [one["id"] for one in exchange.lost()] == [2]


def test_daemons_that_were_heard_of_do_not_count_against_a_prompt(exchange: Exchange) -> None:
    exchange.say(2, "session/prompt", sessionId="a", prompt=[])
    for seq in range(DAEMONS * 3):
        assert exchange.lost() == []
        exchange.received(update("a", seq, sessionUpdate="plan", entries=[]))


def test_a_turn_that_runs_in_an_open_session_is_unfinished_until_its_end_is_told(exchange: Exchange) -> None:
    outstanding = exchange.outstanding
    exchange.received(running("stranger", 3))
    assert bool(outstanding.awaits_daemon) is False
    exchange.received(running("a", 3))
    exchange.lost()
    assert bool(outstanding.awaits_daemon) is True
    exchange.received(running("a", 5, running=False))
    assert bool(outstanding.awaits_daemon) is False


def test_a_turn_over_which_daemon_after_daemon_goes_down_is_no_reason_for_another(exchange: Exchange) -> None:
    exchange.received(running("a", 3))
    for _ in range(DAEMONS):
        exchange.lost()
        assert exchange.outstanding.awaits_daemon
    exchange.lost()
    assert not exchange.outstanding.awaits_daemon


def test_a_client_that_gives_a_key_of_its_own_has_its_line_left_alone(exchange: Exchange) -> None:
    line = jsonrpc.line({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {}, "greenroom": {}})
    waiting = exchange.outstanding.outgoing_line(line, parse_message(line))
    assert (waiting.line, waiting.lasts) == (line, False)


@pytest.mark.parametrize("start", [b"", b"  \t", b"\r"])
def test_all_of_a_prompt_but_its_first_brace_passes_byte_for_byte(exchange: Exchange, start: bytes) -> None:
    line = start + b'{ "id" : "x",\t"method":"session\\/prompt", "params" : {"a": 1.50} }\r\n'
    waiting = exchange.outstanding.outgoing_line(line, parse_message(line))
    assert waiting.line.endswith(b"," + line.lstrip()[1:])
    assert json.loads(waiting.line)["params"] == {"a": 1.5}
