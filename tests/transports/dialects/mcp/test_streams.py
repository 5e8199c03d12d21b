"""The typed calls, and `conversationStream` above all: the history once, then live, with no gap and no duplicate."""

from typing import Any
from uuid import uuid4

import pytest

from actors.messages.effects import EndSubscription, Unsubscribed
from actors.messages.orders import Crashed
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import began, created, finished, nothing_open, sent, text_of, wants_to_run
from transports.dialects.codex.events import history_of
from transports.dialects.kit.paged_history import RecentMessages
from transports.dialects.mcp.protocol import sinks

STARTED = {"msg": {"type": "task_started"}}


def message(text: str) -> Json:
    return {"msg": {"type": "agent_message", "message": text}}


def complete(text: str) -> Json:
    return {"msg": {"type": "task_complete", "last_agent_message": text}}


def streams(client: McpClient, conversation: ConversationId, request: Any = None) -> Json:
    result: Json = client.answer(client.tool("conversationStream", {"conversation_id": conversation}, request))[
        "result"
    ]
    return result


def a_turn(daemon: Daemon, client: McpClient, conversation: ConversationId, text: str, request: Any = None) -> None:
    sent(client, conversation, request=request)
    daemon.say(conversation, ev.AgentMessage(message=text, item_id=ItemId(f"i-{text}")))
    daemon.finish(conversation, text)
    daemon.settle()


def state(client: McpClient, number: int = -1) -> list[Json]:
    events: list[Json] = client.told("notifications/initial_state")[number]["initial_state"]["events"]
    return events


def live(client: McpClient) -> list[Json]:
    names = {"task_started", "agent_message", "agent_message_delta", "task_complete", "turn_aborted"}
    return [one["params"] for one in client.lines if one.get("method") in names]


def test_a_conversation_is_created_without_a_word_to_the_model() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client, 1)
    assert client.answer(1)["result"] == {
        "content": [{"text": f'{{"conversation_id":"{conversation}","model":"o3"}}', "type": "text"}],
        "isError": False,
        "structuredContent": {"conversation_id": conversation, "model": "o3"},
    }
    assert daemon.turns == {}
    assert client.told("codex/event") == []


def test_creating_with_a_config_that_is_none_ignores_it_and_a_bad_profile_is_told() -> None:
    client = McpClient(Daemon())
    arguments = {"prompt": "", "model": "o3", "cwd": "/w", "config": 5}
    assert not client.result("conversationCreate", arguments)["isError"]
    failed = client.result("conversationCreate", {**arguments, "profile": "p"})
    assert failed["structuredContent"] == {"message": "Failed to load config: config profile `p` not found"}
    assert failed["isError"]


def test_a_message_goes_to_the_model_with_its_pictures() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    content = [{"type": "text", "text": "Hello"}, {"type": "local_image", "path": "a.png"}]
    more = {"parent_message_id": "x", "model": 5}
    client.result("conversationSendMessage", {"conversation_id": conversation, "content": content, **more})
    (waiting,) = daemon.turns[conversation].inputs
    assert [item.type for item in waiting.items] == ["text", "local_image"]


def test_a_message_can_go_to_a_conversation_that_codex_began_and_to_a_running_turn() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = finished(daemon, client)
    for _ in range(2):
        assert sent(client, conversation)["structuredContent"] == {"status": "ok"}
    assert list(daemon.turns) == [conversation]


@pytest.mark.parametrize(
    ("content", "text"),
    [([], "No content items provided"), ([{"type": "text", "text": "x"}], "Session does not exist")],
)
def test_faults_of_messages_are_told_in_order(content: list[Json], text: str) -> None:
    arguments = {"conversation_id": str(uuid4()), "content": content}
    result = McpClient(Daemon()).result("conversationSendMessage", arguments)
    assert result["isError"]
    assert result["structuredContent"] == {"status": "error", "message": text}


def test_a_stream_of_a_silent_conversation_begins_empty_and_goes_on_live() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    assert streams(client, conversation, 5) == {
        "content": [{"text": "{}", "type": "text"}],
        "isError": False,
        "structuredContent": {},
    }
    assert client.told("notifications/initial_state") == [
        {"_meta": {"conversationId": conversation}, "initial_state": {"events": []}}
    ]
    assert client.methods()[-2:] == ["=5", "notifications/initial_state"]
    a_turn(daemon, client, conversation, "Done")
    assert live(client) == [STARTED, message("Done"), complete("Done")]


def test_a_stream_of_an_unknown_conversation_has_no_payload() -> None:
    client = McpClient(Daemon())
    assert streams(client, ConversationId(str(uuid4()))) == {"content": [], "isError": True}
    assert nothing_open(client)


def test_earlier_events_are_in_the_state_and_later_ones_come_live() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    a_turn(daemon, client, conversation, "one")
    streams(client, conversation)
    a_turn(daemon, client, conversation, "two")
    assert state(client) == [STARTED, message("one"), complete("one")]
    assert live(client) == [STARTED, message("two"), complete("two")]


def test_after_a_cancel_there_is_silence_and_a_new_stream_tells_everything_again() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation, "A")
    a_turn(daemon, client, conversation, "one")
    client.cancel("A")
    client.forget()
    a_turn(daemon, client, conversation, "two")
    assert live(client) == []
    streams(client, conversation, "B")
    assert state(client) == [STARTED, message("one"), complete("one"), STARTED, message("two"), complete("two")]


def test_cancelling_an_old_stream_leaves_the_new_one_alone() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation, "A")
    streams(client, conversation, "B")
    assert client.told("notifications/stream_disconnected") == [
        {"_meta": {"conversationId": conversation}, "reason": "New stream() took over"}
    ]
    client.cancel("A")
    a_turn(daemon, client, conversation, "one")
    assert live(client) == [STARTED, message("one"), complete("one")]
    client.cancel("B")
    assert nothing_open(client)


def test_a_stream_that_is_cancelled_before_it_stands_never_begins() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    request = client.tool("conversationStream", {"conversation_id": conversation}, settle=False)
    client.cancel(request, settle=False)
    daemon.settle()
    a_turn(daemon, client, conversation, "one")
    assert len(client.answers(request)) == 1
    assert client.told("notifications/initial_state") == []
    assert live(client) == []
    assert nothing_open(client)


def test_a_stream_in_the_middle_of_an_answer_tells_what_there_is_of_it_once() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    sent(client, conversation)
    for part in ("Hel", "lo "):
        daemon.say(conversation, ev.AgentMessageDelta(delta=part, item_id=ItemId("i")))
    daemon.settle()
    streams(client, conversation)
    daemon.say(conversation, ev.AgentMessageDelta(delta="you", item_id=ItemId("i")))
    daemon.settle()
    daemon.say(conversation, ev.AgentMessage(message="Hello you", item_id=ItemId("i")))
    daemon.settle()
    assert state(client)[-1] == {"msg": {"type": "agent_message_delta", "delta": "Hello "}}
    assert live(client) == [{"msg": {"type": "agent_message_delta", "delta": "you"}}, message("Hello you")]
    client.forget()
    streams(client, conversation)
    assert state(client) == [STARTED, message("Hello you")]


def test_meta_is_added_to_live_events_only_when_asked_for() -> None:
    daemon = Daemon()
    client = McpClient(daemon, stream_meta=True)
    conversation = created(client)
    streams(client, conversation, 5)
    a_turn(daemon, client, conversation, "one")
    assert live(client)[0] == {"_meta": {"conversationId": conversation, "requestId": 5}, **STARTED}


def test_a_stream_whose_conversation_lets_go_is_taken_up_where_it_stood() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation)
    a_turn(daemon, client, conversation, "one")
    (subscription,) = daemon.state(conversation).subscribers
    daemon.state(conversation).subscribers = {}
    ended = EndSubscription(client.dialect._state.client.connection, Unsubscribed(subscription, "the actor failed"))
    daemon.switchboard.post(ended.connection, ended)
    daemon.settle()
    a_turn(daemon, client, conversation, "two")
    assert live(client) == [STARTED, message("one"), complete("one"), STARTED, message("two"), complete("two")]
    assert client.told("notifications/stream_disconnected") == []


def test_a_question_that_was_put_outlives_its_stream_until_it_is_settled() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation, 5)
    sent(client, conversation)
    wants_to_run(daemon, conversation)
    client.cancel(5)
    client.respond(0, {"decision": "approved"})
    assert [one.decision for one in daemon.answered] == ["approved"]
    assert nothing_open(client)


def test_a_stream_on_an_aborted_turn_asks_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    sent(client, conversation, request=2)
    wants_to_run(daemon, conversation)
    client.cancel(2)
    streams(client, conversation)
    assert [one["msg"]["type"] for one in state(client)] == ["task_started", "exec_approval_request", "turn_aborted"]
    assert client.told("elicitation/create") == []


def test_a_long_history_comes_in_pages_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    for number in range(200):
        a_turn(daemon, client, conversation, f"n{number}")
    streams(client, conversation)
    assert [one for one in state(client) if one["msg"]["type"] == "agent_message"] == [
        message(f"n{number}") for number in range(200)
    ]
    monkeypatch.setattr(sinks, "RecentMessages", lambda: RecentMessages(limit=2000))
    client.tool("conversationStream", {"conversation_id": conversation})
    small = RecentMessages(limit=100)
    for number in range(50):
        small.add(b'{"n":%d}' % number)
    first, *rest = history_of(small.messages, small.left_out)
    assert b"earlier events are not shown" in first
    assert rest[-1] == b'{"n":49}'
    assert sum(map(len, rest)) <= 100


def test_conversations_are_listed_in_pages_that_lose_none() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    made = [created(client) for _ in range(5)]
    found, cursor = [], None
    while True:
        page = client.result("conversationsList", {"limit": 2, **({"cursor": cursor} if cursor else {})})
        found += [one["conversation_id"] for one in page["structuredContent"]["conversations"]]
        cursor = page["structuredContent"].get("next_cursor")
        if cursor is None:
            break
    assert sorted(found) == sorted(made)
    assert len(found) == 5


def test_a_stream_that_was_replaced_tells_nothing_twice() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation, "A")
    streams(client, conversation, "B")
    a_turn(daemon, client, conversation, "one")
    assert live(client) == [STARTED, message("one"), complete("one")]


def test_a_reader_of_a_deleted_conversation_is_told_so_and_its_question_is_withdrawn() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    streams(client, conversation)
    client.ask("addConversationListener", {"conversationId": conversation})
    client.ask("resources/subscribe", {"uri": f"greenroom://conversation/{conversation}"})
    sent(client, conversation)
    wants_to_run(daemon, conversation)
    daemon._routing._index.forget(conversation)
    daemon.journal.delete(conversation)
    for subscription in daemon.state(conversation).subscribers:
        connection = client.dialect._state.client.connection
        gone = EndSubscription(connection, Unsubscribed(subscription, "the actor failed"))
        daemon.switchboard.post(gone.connection, gone)
    daemon.settle()
    assert client.told("notifications/stream_disconnected") == [
        {"_meta": {"conversationId": conversation}, "reason": "the actor failed"}
    ]
    assert "can't be listened to any more" in client.told("notifications/message")[-1]["data"]
    assert client.told("notifications/cancelled") == [{"requestId": 0, "reason": "the actor failed"}]
    assert nothing_open(client)


def test_a_turn_that_failed_says_error_on_every_wire_and_is_nowhere_called_interrupted() -> None:
    daemon = Daemon()
    caller, streamer, listener = McpClient(daemon, "c1"), McpClient(daemon, "c2"), McpClient(daemon, "c3")
    conversation = began(daemon, caller, 1)
    streams(streamer, conversation)
    listener.ask("addConversationListener", {"conversationId": conversation})
    daemon.end(conversation, Crashed("ValueError: a bug"))
    daemon.settle()
    error, over = (
        {"type": "error", "message": "ValueError: a bug"},
        {"type": "task_complete", "last_agent_message": None},
    )
    assert [one["msg"] for one in caller.told("codex/event")][-2:] == [error, over]
    assert [one["msg"] for name in ("error", "task_complete") for one in streamer.told(name)] == [error, over]
    told = [one["params"]["msg"] for one in listener.lines if one.get("method", "").startswith("codex/event/")]
    assert told == [error, over]
    result = caller.answer(1)["result"]
    assert result["isError"]
    assert text_of(result) == "ValueError: a bug"
    assert "interrupted" not in str(caller.lines + streamer.lines + listener.lines).lower()
