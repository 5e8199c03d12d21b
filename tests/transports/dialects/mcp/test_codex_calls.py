"""`codex` and `codex-reply`: from the arguments to the one result, with the events in between."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from actors.messages.effects import Deliver, Slice
from actors.messages.orders import Completed, Crashed, InputWanted, ModelFailed
from actors.routing import Routing
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ConnectionId, ItemId
from tests.support.work import command_ended, command_wrote
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import began, finished, link_to, nothing_open, text_of
from transports import supervisor_requests as ask
from transports.dialect import Write


def test_a_turn_is_told_in_order_and_the_result_comes_last() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    daemon.say(conversation, ev.AgentMessage(message="Done", item_id=ItemId("i")))
    daemon.finish(conversation, "Done")
    daemon.settle()
    meta = {"requestId": 1, "threadId": conversation}
    configured = {
        "type": "session_configured",
        "session_id": conversation,
        "model": "mock-model",
        "history_log_id": 0,
        "history_entry_count": 0,
    }
    assert client.told("codex/event") == [
        {"_meta": meta, "id": "", "msg": configured},
        {"_meta": meta, "id": "1", "msg": {"type": "task_started"}},
        {"_meta": meta, "id": "1", "msg": {"type": "agent_message", "message": "Done"}},
        {"_meta": meta, "id": "1", "msg": {"type": "task_complete", "last_agent_message": "Done"}},
    ]
    assert client.methods()[-1] == "=1"
    assert client.answer(1)["result"] == {
        "content": [{"text": "Done", "type": "text"}],
        "structuredContent": {"threadId": conversation, "sessionId": conversation, "content": "Done"},
    }


@pytest.mark.parametrize(("revision", "links"), [("2025-03-26", 0), ("2025-06-18", 1), ("2025-11-25", 1)])
def test_a_result_ends_with_a_link_to_its_conversation_where_the_revision_has_links(
    revision: str, links: int
) -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=revision)
    conversation = finished(daemon, client)
    read = client.result("read_conversation", {"threadId": conversation})
    waiting = client.result("waiting_messages", {"threadId": conversation})
    for result in (read, waiting):
        assert result["content"][1:] == [link_to(conversation)] * links


@pytest.mark.parametrize(
    ("revision", "name", "links"),
    [
        ("2025-06-18", "tester", 0),
        ("2025-06-18", "mcp", 0),
        ("2025-06-18", "gemini-cli-mcp-client", 1),
        ("2025-11-25", "tester", 1),
    ],
)
def test_a_turn_is_its_text_alone_for_clients_of_the_summer_and_gemini_is_of_today(
    revision: str, name: str, links: int
) -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=revision, title=name)
    conversation = finished(daemon, client)
    replied = client.tool("codex-reply", {"threadId": conversation, "prompt": "more"})
    daemon.finish(conversation, "More")
    daemon.settle()
    for request in (100, replied):
        assert client.answer(request)["result"]["content"][1:] == [link_to(conversation)] * links


@pytest.mark.parametrize("name", ["mcp", "opencode"])
def test_a_client_that_can_not_take_a_link_reads_the_id_in_words(name: str) -> None:
    daemon = Daemon()
    client = McpClient(daemon, title=name, protocol="2025-11-25")
    conversation = finished(daemon, client)
    _, words = client.answer(100)["result"]["content"]
    assert words["type"] == "text"
    assert f"`codex-reply` and {conversation} as threadId" in words["text"]


def test_an_error_of_a_conversation_has_its_link_and_one_of_none_has_none() -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol="2025-11-25")
    conversation = began(daemon, client, 1)
    daemon.end(conversation, ModelFailed("no credit"))
    daemon.settle()
    assert client.answer(1)["result"]["content"][1:] == [link_to(conversation)]
    assert len(client.result("codex", {})["content"]) == 1


def test_without_a_last_message_the_text_is_empty() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    daemon.end(conversation, Completed(None))
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == ""


def test_all_arguments_reach_the_settings_and_words_of_the_bridge_come_second() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    arguments = {
        "model": "o3",
        "cwd": "sub",
        "approval-policy": "never",
        "sandbox": "read-only",
        "config": {"a.b": 1},
        "base-instructions": "be brief",
        "include-plan-tool": True,
        "unknown": 1,
    }
    began(daemon, client, **arguments)
    (made,) = [one for one in daemon.asked if isinstance(one, ask.MakeSettings)]
    assert (made.model, made.cwd, made.approval_policy, made.sandbox) == ("o3", "sub", "never", "read-only")
    assert (made.config, made.base_instructions, made.include_plan_tool) == ({"a.b": 1}, "be brief", True)


def test_settings_without_effect_are_named_in_the_result_and_in_a_warning() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(
        daemon, client, 1, **{"compact-prompt": "short", "sandbox-mode": "x", "base_instructions": "b"}
    )
    daemon.finish(conversation, "Done")
    daemon.settle()
    notices = [
        "codex: unknown argument 'sandbox-mode', ignored",
        "codex: compact-prompt has no effect yet: histories are not compacted",
    ]
    assert client.answer(1)["result"]["structuredContent"]["notices"] == notices
    assert [one["data"] for one in client.told("notifications/message")][:2] == notices
    reply = client.tool("codex-reply", {"threadId": conversation, "prompt": "x", "model": "o3"}, 2)
    daemon.finish(conversation, "Done")
    daemon.settle()
    said = client.answer(reply)["result"]["structuredContent"]["notices"]
    assert said == ["codex-reply: unknown argument 'model', ignored"]


def test_a_call_of_which_everything_counts_has_no_notices() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1, **{"developer-instructions": "d", "approval_policy": "never"})
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert "notices" not in client.answer(1)["result"]["structuredContent"]
    (made,) = [one for one in daemon.asked if isinstance(one, ask.MakeSettings)]
    assert made.developer_instructions == "d"


def test_unknown_members_of_a_conversation_method_are_told_in_a_warning() -> None:
    client = McpClient(Daemon())
    client.ask("newConversation", {"model": "m", "modelProvider": "x", "_meta": {}})
    client.result("conversationCreate", {"prompt": "", "model": "m", "cwd": "/w", "effort": "low"})
    told = [one["data"] for one in client.told("notifications/message")]
    assert "newConversation: unknown argument 'modelProvider', ignored" in told
    assert "conversationCreate: unknown argument 'effort', ignored" in told
    assert not any("_meta" in one for one in told)


def test_the_client_s_environment_is_remembered_before_anything_runs() -> None:
    daemon = Daemon()
    conversation = began(daemon, McpClient(daemon))
    assert [one.conversation for one in daemon.asked if isinstance(one, ask.RememberEnvironment)] == [conversation]


UNKNOWN_VARIANT = (
    "Failed to parse configuration for Codex tool: unknown variant `none`, expected one of "
    "`read-only`, `workspace-write` or `danger-full-access`"
)
NO_WORDS = "Failed to parse configuration for Codex tool: `prompt` must not be empty"
NO_UUID = (
    "Failed to parse session_id: invalid character: expected an optional prefix of `urn:uuid:` followed by "
    "[0-9a-fA-F-], found `n` at 1"
)


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("nope", {}, "Unknown tool 'nope'"),
        ("conversationCreate", {"prompt": ""}, "Unknown tool 'conversationCreate'"),
        ("conversationCreate", None, "Unknown tool 'conversationCreate'"),
        ("conversationStream", {"conversation_id": "x"}, "Unknown tool 'conversationStream'"),
        (
            "conversationSendMessage",
            {"conversation_id": "x", "content": []},
            "Unknown tool 'conversationSendMessage'",
        ),
        ("codex", None, "Missing arguments for codex tool-call; the `prompt` field is required."),
        ("codex", {}, "Failed to parse configuration for Codex tool: missing field `prompt`"),
        ("codex", {"prompt": ""}, NO_WORDS),
        ("codex", {"prompt": " \n"}, NO_WORDS),
        ("codex-reply", {"prompt": "", "sessionId": "67e55044-10b1-426f-9247-bb680e5fe0c8"}, NO_WORDS),
        (
            "codex",
            {"prompt": "x", "sandbox": "none"},
            UNKNOWN_VARIANT,
        ),
        (
            "codex",
            [1],
            "Failed to parse configuration for Codex tool: invalid type: sequence, expected an object",
        ),
        (
            "codex",
            {"prompt": "x", "profile": "p"},
            "Failed to load Codex configuration from overrides: config profile `p` not found",
        ),
        (
            "codex-reply",
            None,
            "Missing arguments for codex-reply tool-call; the `session_id` and `prompt` fields are required.",
        ),
        ("codex-reply", {"prompt": "x"}, "Failed to parse configuration for Codex tool: missing field `sessionId`"),
        (
            "codex-reply",
            {"prompt": "x", "sessionId": "nope"},
            NO_UUID,
        ),
        (
            "codex-reply",
            {"prompt": "x", "sessionId": "{67E55044-10B1-426F-9247-BB680E5FE0C8}"},
            "Session not found for session_id: 67e55044-10b1-426f-9247-bb680e5fe0c8",
        ),
    ],
)
def test_a_failure_before_a_turn_is_a_tool_error_of_one_shape(tool: str, arguments: Any, text: str) -> None:
    client = McpClient(Daemon())
    assert client.result(tool, arguments) == {"content": [{"text": text, "type": "text"}], "isError": True}
    assert nothing_open(client)


def test_a_conversation_that_cannot_start_is_told_so() -> None:
    daemon = Daemon()
    daemon._routing = Routing(max_live=0)
    text = text_of(McpClient(daemon).result("codex", {"prompt": "x"}))
    assert text.startswith("Failed to start Codex session: ")
    assert "greenroom.limits.live_sessions" in text


def test_a_failing_model_is_an_error_and_the_event_comes_first() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    daemon.end(conversation, ModelFailed("stream disconnected"))
    daemon.settle()
    assert client.types()[-2:] == ["error", "task_complete"]
    result = client.answer(1)["result"]
    assert (text_of(result), result["isError"], result["error"]) == (
        "stream disconnected",
        True,
        "stream disconnected",
    )
    assert result["structuredContent"]["threadId"] == conversation


def test_a_crash_of_the_agent_is_a_failed_turn_in_words_that_clients_know() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    daemon.end(conversation, Crashed("a bug"))
    daemon.settle()
    over = {"type": "task_complete", "last_agent_message": None}
    assert client.events()[-2:] == [{"type": "error", "message": "a bug"}, over]
    assert text_of(client.answer(1)["result"]) == "a bug"


@pytest.mark.parametrize("name", ["sessionId", "threadId", "conversationId"])
def test_a_reply_goes_by_any_of_three_names_and_its_turn_has_an_id_of_its_own(name: str) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = finished(daemon, client)
    client.forget()
    request = client.tool("codex-reply", {name: conversation.upper(), "prompt": "more"}, "r2")
    turn = daemon.turns[conversation].turn
    daemon.finish(conversation, "More")
    daemon.settle()
    assert client.types() == ["task_started", "task_complete"]
    assert {params["id"] for params in client.told("codex/event")} == {turn}
    assert {params["_meta"]["requestId"] for params in client.told("codex/event")} == {"r2"}
    assert text_of(client.answer(request)["result"]) == "More"
    assert nothing_open(client)


def test_a_conversation_of_another_client_can_be_continued() -> None:
    daemon = Daemon()
    conversation = finished(daemon, McpClient(daemon, "a"))
    other = McpClient(daemon, "b")
    request = other.tool("codex-reply", {"threadId": conversation, "prompt": "more"})
    daemon.finish(conversation, "More")
    daemon.settle()
    assert text_of(other.answer(request)["result"]) == "More"


def test_a_conversation_of_an_earlier_daemon_can_be_continued() -> None:
    earlier = Daemon()
    conversation = finished(earlier, McpClient(earlier))
    daemon = Daemon(earlier.journal)
    client = McpClient(daemon)
    request = client.tool("codex-reply", {"threadId": conversation, "prompt": "more"})
    daemon.finish(conversation, "More")
    daemon.settle()
    assert client.types() == ["task_started", "task_complete"]
    assert text_of(client.answer(request)["result"]) == "More"


def test_a_turn_that_the_daemon_did_not_survive_does_not_hinder_the_next() -> None:
    earlier = Daemon()
    conversation = began(earlier, McpClient(earlier))
    daemon = Daemon(earlier.journal)
    client = McpClient(daemon)
    request = client.tool("codex-reply", {"threadId": conversation, "prompt": "again"})
    daemon.finish(conversation, "Here I am")
    daemon.settle()
    assert text_of(client.answer(request)["result"]) == "Here I am"


def test_a_reply_to_a_busy_conversation_steers_and_both_calls_are_answered_by_the_one_turn() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "also"}, 2)
    assert client.answers(2) == []
    daemon.say(conversation, InputWanted())
    daemon.finish(conversation, "Both")
    daemon.settle()
    assert client.types().count("task_started") == client.types().count("task_complete") == 1
    assert {params["_meta"]["requestId"] for params in client.told("codex/event")} == {1}
    assert [text_of(client.answer(one)["result"]) for one in (1, 2)] == ["Both", "Both"]
    assert client.methods()[-2:] == ["=1", "=2"]


def test_an_enqueued_reply_has_events_and_an_end_of_its_own() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "later", "if-busy": "enqueue"}, 2)
    daemon.finish(conversation, "First")
    daemon.settle()
    daemon.finish(conversation, "Second")
    daemon.settle()
    owners = [(params["_meta"]["requestId"], params["msg"]["type"]) for params in client.told("codex/event")]
    assert owners[1:] == [(1, "task_started"), (1, "task_complete"), (2, "task_started"), (2, "task_complete")]
    assert [text_of(client.answer(one)["result"]) for one in (1, 2)] == ["First", "Second"]


def test_a_reply_that_rejects_a_busy_conversation_is_told_that_it_is() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    result = client.result("codex-reply", {"threadId": conversation, "prompt": "x", "if-busy": "reject"})
    assert result["isError"]
    assert "is running" in text_of(result)
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == "Done"


def test_twin_notifications_repeat_each_event_under_its_own_name() -> None:
    daemon = Daemon()
    client = McpClient(daemon, twin_notifications=True)
    finished(daemon, client)
    lines = [one for one in client.lines if one.get("method") == "codex/event"]
    for line in lines:
        after = client.lines[client.lines.index(line) + 1]
        assert after["method"] == line["params"]["msg"]["type"]
        assert after["params"] == line["params"]


@pytest.mark.parametrize(
    ("protocol", "twins", "told"),
    [
        ("2025-06-18", "auto", ["task_started", "agent_message", "task_complete"]),
        ("2024-11-05", "auto", ["task_started", "agent_message", "task_complete"]),
        ("2025-11-25", "auto", []),
        ("2025-06-18", False, []),
        ("2025-11-25", True, ["task_started", "agent_message_delta", "agent_message", "task_complete"]),
    ],
)
def test_events_go_under_their_own_names_to_clients_of_that_time_and_deltas_only_where_asked_for(
    protocol: str, twins: Any, told: list[str]
) -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=protocol, twin_notifications=twins)
    conversation = began(daemon, client, 1)
    daemon.say(conversation, ev.AgentMessageDelta(delta="Do", item_id=ItemId("i")))
    daemon.settle()
    daemon.say(conversation, ev.AgentMessage(message="Done", item_id=ItemId("i")))
    daemon.finish(conversation, "Done")
    daemon.settle()
    named = {"task_started", "agent_message_delta", "agent_message", "task_complete", "session_configured"}
    assert [one["method"] for one in client.lines if one.get("method") in named - {"session_configured"}] == told


def test_events_have_the_members_of_their_time_and_no_others() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client)
    listing = ev.CommandSubject(command=("ls",), cwd=Path("/w"), hints=(ev.CommandHint(cmd="ls"),))
    daemon.say(
        conversation,
        ev.WorkBegan(call_id=CallId("c1"), item_id=ItemId("i1"), subject=listing),
        command_wrote(b"Init", call="c1", item="i1"),
    )
    daemon.settle()
    daemon.say(
        conversation,
        command_ended("x" * 6000, call="c1", item="i1"),
        ev.StreamError(message="stream error: x; retrying 1/5 in 200ms…", attempt=1, delay_ms=200),
        ev.TokenCount(input_tokens=1, output_tokens=2, total_tokens=3),
    )
    daemon.finish(conversation, None)
    daemon.settle()
    assert client.events()[2:-1] == [
        {
            "type": "exec_command_begin",
            "call_id": "c1",
            "command": ["ls"],
            "cwd": "/w",
            "parsed_cmd": [{"Unknown": {"cmd": "ls"}}],
        },
        {"type": "exec_command_output_delta", "call_id": "c1", "stream": "stdout", "chunk": [73, 110, 105, 116]},
        {
            "type": "exec_command_end",
            "call_id": "c1",
            "stdout": "x" * 5120,
            "stderr": "",
            "exit_code": 0,
            "duration": {"secs": 0, "nanos": 0},
        },
        {"type": "background_event", "message": "stream error: x; retrying 1/5 in 200ms…"},
        {
            "type": "token_count",
            "input_tokens": 1,
            "cached_input_tokens": None,
            "output_tokens": 2,
            "reasoning_output_tokens": None,
            "total_tokens": 3,
        },
    ]


def test_an_unknown_conversation_leaves_no_reader_behind() -> None:
    client = McpClient(Daemon())
    client.result("codex-reply", {"threadId": str(uuid4()), "prompt": "x"})
    assert client.statistics()["readers"] == 0


def test_notices_are_logged_once_and_only_as_loud_as_was_chosen() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began(daemon, client)
    began(daemon, client)
    assert client.told("notifications/message") == [
        {"level": "notice", "logger": "greenroom", "data": "using mock-model"}
    ]
    quiet = McpClient(daemon, "quiet")
    quiet.ask("logging/setLevel", {"level": "error"})
    began(daemon, quiet)
    assert quiet.told("notifications/message") == []
    assert quiet.ask("logging/setLevel", {"level": "loud"})["error"]["code"] == -32602


def test_a_slice_is_one_write_and_its_reader_is_ready_when_that_has_left() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client)
    (reader,) = client.dialect._state.readers.in_conversation(conversation)
    page = daemon.journal.read(conversation, 0, 9)
    assert page is not None
    slice_ = Slice(conversation, page.records, live=True)
    (write,) = client.dialect.take_slice(Deliver(ConnectionId("c1"), reader.subscription, slice_))
    assert isinstance(write, Write)
    assert write.ready == reader.subscription
    assert write.data.count(b"\n") == 2
    empty = Slice(conversation, (), live=True)
    assert list(client.dialect.take_slice(Deliver(ConnectionId("c1"), reader.subscription, empty))) == []
