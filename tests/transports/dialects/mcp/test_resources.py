"""Conversations as resources: list, read, follow."""

import json
from uuid import uuid4

import pytest

from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import created, finished, nothing_open, sent, wants_to_run
from transports.dialects.mcp.protocol.resources import SPELLINGS

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"


def uri(conversation: str) -> str:
    return f"greenroom://conversation/{conversation}"


def test_every_conversation_is_a_resource_and_pages_lose_none() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    made = {uri(created(client)) for _ in range(60)}
    first = client.ask("resources/list")["result"]
    second = client.ask("resources/list", {"cursor": first["nextCursor"]})["result"]
    assert {one["uri"] for one in (*first["resources"], *second["resources"])} == made
    assert "nextCursor" not in second


@pytest.mark.parametrize("cursor", ["nonsense", "", "nan|x", "1e999|x", "-inf|x", "9|"])
@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "tools/list"])
def test_a_cursor_that_is_none_of_ours_is_refused(method: str, cursor: str) -> None:
    error = McpClient(Daemon()).ask(method, {"cursor": cursor})["error"]
    assert error["code"] == -32602


@pytest.mark.parametrize("tool", ["list_conversations", "conversationsList"])
def test_a_bad_cursor_is_an_error_of_its_tool(tool: str) -> None:
    result = McpClient(Daemon()).result(tool, {"cursor": "nonsense"})
    assert result["isError"]
    assert "cursor" in str(result["content"])


def test_there_is_a_template_for_reading_and_one_for_programs() -> None:
    templates = McpClient(Daemon()).ask("resources/templates/list")["result"]["resourceTemplates"]
    assert [one["mimeType"] for one in templates] == ["text/markdown", "application/json"]


def test_a_transcript_reads_as_markdown_and_as_json() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = finished(daemon, client)
    (markdown,) = client.ask("resources/read", {"uri": uri(conversation)})["result"]["contents"]
    assert markdown["mimeType"] == "text/markdown"
    assert "**User**\n\nhi" in markdown["text"]
    (events,) = client.ask("resources/read", {"uri": uri(conversation) + "/events"})["result"]["contents"]
    types = [one["event"]["type"] for one in json.loads(events["text"])["events"]]
    assert types == ["session_configured", "task_started", "user_message", "task_complete"]


def test_an_unknown_resource_is_not_found() -> None:
    client = McpClient(Daemon())
    for missing in (uri(str(uuid4())), "file:///etc/passwd", uri("nobody")):
        for method in ("resources/read", "resources/subscribe"):
            error = client.ask(method, {"uri": missing})["error"]
            assert (error["code"], error["data"]) == (-32002, {"uri": missing})
    assert nothing_open(client)


def test_updates_are_told_at_once_and_then_no_more_often_than_they_are_of_use() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    assert client.ask("resources/subscribe", {"uri": uri(conversation)})["result"] == {}
    for _ in range(20):
        sent(client, conversation)
    assert client.told(UPDATED) == [{"uri": uri(conversation)}]
    daemon.advance(1)
    daemon.advance(1)
    daemon.advance(1)
    assert len(client.told(UPDATED)) == 2
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert len(client.told(UPDATED)) == 3


def test_after_unsubscribing_there_is_silence() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    for method in ("subscribe", "subscribe", "unsubscribe", "unsubscribe"):
        assert client.ask(f"resources/{method}", {"uri": uri(conversation)})["result"] == {}
    sent(client, conversation)
    assert client.told(UPDATED) == []
    assert nothing_open(client)


def test_a_connection_watches_listens_to_and_streams_so_many_conversations_together() -> None:
    client = McpClient(Daemon(), subscriptions=3)
    made = [created(client) for _ in range(4)]
    assert client.ask("resources/subscribe", {"uri": uri(made[0])})["result"] == {}
    assert client.ask("resources/subscribe", {"uri": uri(made[1])})["result"] == {}
    assert "result" in client.ask("addConversationListener", {"conversationId": made[2]})
    for method, params in (
        ("resources/subscribe", {"uri": uri(made[3])}),
        ("addConversationListener", {"conversationId": made[3]}),
    ):
        assert "greenroom.limits.subscriptions" in client.ask(method, params)["error"]["message"]
    assert client.ask("resources/unsubscribe", {"uri": uri(made[0])})["result"] == {}
    assert client.ask("resources/subscribe", {"uri": uri(made[3])})["result"] == {}


def test_one_conversation_is_not_watched_under_ever_more_spellings_of_its_id() -> None:
    client = McpClient(Daemon())
    conversation = created(client)
    letters = [place for place, letter in enumerate(conversation) if letter.isalpha()]
    spelled = [conversation[:at] + conversation[at].upper() + conversation[at + 1 :] for at in letters]
    answers = [client.ask("resources/subscribe", {"uri": uri(one)}) for one in (spelled * 9)[:9] + spelled]
    taken = {one for one, answer in zip((spelled * 9)[:9] + spelled, answers, strict=True) if "result" in answer}
    assert len(taken) <= SPELLINGS
    sent(client, conversation)
    assert len(client.told(UPDATED)) <= SPELLINGS


def test_a_client_that_only_watches_is_never_asked() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    client.ask("resources/subscribe", {"uri": uri(conversation)})
    sent(client, conversation)
    wants_to_run(daemon, conversation)
    assert client.told("elicitation/create") == []
    assert all(one.read_only for one in daemon.state(conversation).subscribers.values())


def test_only_who_looked_at_the_list_is_told_that_it_changed() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    created(client)
    assert client.told(LIST_CHANGED) == []
    client.ask("resources/list")
    created(client)
    assert len(client.told(LIST_CHANGED)) == 1


def test_a_client_that_read_the_list_is_told_of_new_conversations_of_others() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    client.ask("resources/list")
    client.ask("resources/list")
    conversation = created(other)
    assert len(client.told(LIST_CHANGED)) == 1
    daemon.advance(1)
    archive = {"conversationId": conversation, "rolloutPath": uri(conversation)}
    assert other.ask("archiveConversation", archive)["result"] == {}
    assert len(client.told(LIST_CHANGED)) == 2
    assert other.told(LIST_CHANGED) == []


def test_changes_right_after_a_notification_are_told_once_a_moment_later() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    client.ask("resources/list")
    for _ in range(20):
        created(other)
    assert len(client.told(LIST_CHANGED)) == 1
    daemon.advance(1)
    assert len(client.told(LIST_CHANGED)) == 2
    daemon.advance(1)
    assert len(client.told(LIST_CHANGED)) == 2


def test_events_in_a_conversation_do_not_change_the_list() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = created(other)
    client.ask("resources/list")
    sent(other, conversation)
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert client.told(LIST_CHANGED) == []
