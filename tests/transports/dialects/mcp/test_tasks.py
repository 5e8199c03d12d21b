"""Calls as tasks of 2025-11-25: answered at once, looked at, waited for, listed and cancelled."""

from typing import Any

import pytest

from actors.messages.orders import ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.settings import Decision
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import finished, link_to, nothing_open, text_of, wants_to_run
from transports.dialects.mcp.protocol.replay import RECONNECTED

RELATED = "io.modelcontextprotocol/related-task"
OLD = "2025-06-18"


def speaking(daemon: Daemon, name: str = "c1", **more: Any) -> McpClient:
    return McpClient(daemon, name, protocol="2025-11-25", **more)


def begun(daemon: Daemon, client: McpClient, **arguments: Any) -> tuple[str, ConversationId]:
    before = set(daemon.conversations)
    made = client.answer(client.tool("codex", {"prompt": "hi", **arguments}, task={"ttl": 60_000}))["result"]
    (conversation,) = set(daemon.conversations) - before
    return made["task"]["taskId"], conversation


def ended(daemon: Daemon, conversation: ConversationId, text: str = "Done") -> None:
    daemon.finish(conversation, text)
    daemon.settle()


def looked(client: McpClient, task: str) -> Json:
    shown: Json = client.ask("tasks/get", {"taskId": task})["result"]
    return shown


def statuses(client: McpClient) -> list[str]:
    return [told["status"] for told in client.told("notifications/tasks/status")]


# --- offered ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("revision", "offered"), [(OLD, False), ("2025-11-25", True)])
def test_tasks_are_offered_to_clients_whose_revision_has_them(revision: str, *, offered: bool) -> None:
    client = McpClient(Daemon(), protocol=revision, hello=False)
    assert ("tasks" in client.initialize()["result"]["capabilities"]) is offered


def test_the_two_tools_that_run_a_turn_can_be_tasks_and_no_other() -> None:
    client = speaking(Daemon())
    tools = client.ask("tools/list")["result"]["tools"]
    able = [tool["name"] for tool in tools if tool.get("execution") == {"taskSupport": "optional"}]
    assert able == ["codex", "codex-reply"]
    refused = client.answer(client.tool("list_conversations", {}, task={}))["error"]
    assert refused["code"] == -32601


def test_a_client_of_an_older_revision_that_says_task_gets_the_result_of_the_call() -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=OLD)
    request = client.tool("codex", {"prompt": "hi"}, task={})
    (conversation,) = daemon.conversations
    assert client.answers(request) == []
    ended(daemon, conversation)
    assert text_of(client.answer(request)["result"]) == "Done"


# --- begun ------------------------------------------------------------------------------------------------------


def test_a_task_is_answered_at_once_and_is_working() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    answer = client.answer(client.tool("codex", {"prompt": "hi"}, task={"ttl": 1}))["result"]
    (conversation,) = daemon.conversations
    task = answer["task"]
    assert task["taskId"].startswith(f"{conversation}.")
    assert task["status"] == "working"
    assert task["ttl"] == 24 * 3600 * 1000
    assert answer["_meta"][RELATED] == {"taskId": task["taskId"]}
    assert conversation in answer["_meta"]["io.modelcontextprotocol/model-immediate-response"]
    assert looked(client, task["taskId"]) == task


@pytest.mark.parametrize(
    ("name", "arguments", "part"),
    [
        ("codex", {"prompt": " "}, "`prompt` must not be empty"),
        ("codex", None, "Missing arguments"),
        ("codex-reply", {"prompt": "x", "threadId": "nope"}, "Failed to parse session_id"),
        ("codex-reply", {"prompt": "x", "threadId": "67e55044-10b1-426f-9247-bb680e5fe0c8"}, "no conversation"),
    ],
)
def test_a_failure_before_a_task_exists_is_an_error_of_the_request(name: str, arguments: Any, part: str) -> None:
    client = speaking(Daemon())
    assert part in client.answer(client.tool(name, arguments, task={}))["error"]["message"]
    assert nothing_open(client)


# --- its end ----------------------------------------------------------------------------------------------------


def test_the_result_is_that_of_the_call_whether_it_was_waited_for_or_fetched_later() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    early = client.begin("tasks/result", {"taskId": task})
    assert client.answers(early) == []
    ended(daemon, conversation)
    assert looked(client, task)["status"] == "completed"
    late = client.ask("tasks/result", {"taskId": task})["result"]
    assert client.answer(early)["result"] == late
    assert late == {
        "content": [{"text": "Done", "type": "text"}, link_to(conversation)],
        "structuredContent": {"threadId": conversation, "sessionId": conversation, "content": "Done"},
        "_meta": {RELATED: {"taskId": task}},
    }
    assert statuses(client) == ["completed"]
    assert nothing_open(client)


def test_events_of_a_task_are_told_to_who_waits_for_its_result() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    client.begin("tasks/result", {"taskId": task}, 7)
    daemon.say(conversation, ev.AgentMessage(message="I look", item_id=ItemId("i")))
    ended(daemon, conversation)
    told = client.told("codex/event")
    assert [one["msg"]["type"] for one in told] == ["agent_message", "task_complete"]
    assert told[0]["_meta"] == {"requestId": 7, "threadId": conversation, RELATED: {"taskId": task}}


def test_a_task_that_failed_says_why() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    daemon.end(conversation, ModelFailed("no credit"))
    daemon.settle()
    assert (looked(client, task)["status"], looked(client, task)["statusMessage"]) == ("failed", "no credit")
    result = client.ask("tasks/result", {"taskId": task})["result"]
    assert result["isError"]
    assert text_of(result) == "no credit"


def test_a_reply_can_be_a_task_that_waits_behind_a_turn() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    first, conversation = begun(daemon, client)
    reply = {"threadId": conversation, "prompt": "then this", "if-busy": "enqueue"}
    made = client.answer(client.tool("codex-reply", reply, task={}))["result"]["task"]
    assert (made["status"], made["statusMessage"]) == ("working", "waits behind another turn")
    ended(daemon, conversation, "one")
    ended(daemon, conversation, "two")
    results = [client.ask("tasks/result", {"taskId": one})["result"] for one in (first, made["taskId"])]
    assert list(map(text_of, results)) == ["one", "two"]


# --- questions --------------------------------------------------------------------------------------------------


def test_a_task_that_asks_requires_input_and_asks_who_waits_for_its_result() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    approval = wants_to_run(daemon, conversation)
    shown = looked(client, task)
    assert shown["status"] == "input_required"
    assert approval in shown["statusMessage"]
    assert client.told("elicitation/create") == []
    request = client.begin("tasks/result", {"taskId": task})
    (asked,) = client.told("elicitation/create")
    assert asked["_meta"] == {RELATED: {"taskId": task}}
    client.respond(0, {"action": "accept"})
    assert [one.decision for one in daemon.answered] == [Decision.APPROVED]
    ended(daemon, conversation, "Made")
    assert text_of(client.answer(request)["result"]) == "Made"
    assert statuses(client)[0] == "input_required"
    assert statuses(client)[-1] == "completed"


# --- cancelled --------------------------------------------------------------------------------------------------


def test_a_cancelled_task_ends_its_turn_and_says_by_whom() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    cancelled = client.ask("tasks/cancel", {"taskId": task})["result"]
    assert cancelled["status"] == "cancelled"
    assert cancelled["statusMessage"] == "Turn interrupted by tester[4711]: its task was cancelled"
    assert conversation not in daemon.turns
    assert looked(client, task) == cancelled
    again = client.ask("tasks/cancel", {"taskId": task})["error"]
    assert (again["code"], again["message"]) == (-32602, "the task is cancelled already")
    assert nothing_open(client)


def test_a_cancelled_task_that_waits_is_withdrawn_and_the_running_turn_goes_on() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    _, conversation = begun(daemon, client)
    reply = {"threadId": conversation, "prompt": "then this", "if-busy": "enqueue"}
    task = client.answer(client.tool("codex-reply", reply, task={}))["result"]["task"]["taskId"]
    assert client.ask("tasks/cancel", {"taskId": task})["result"]["status"] == "cancelled"
    assert (looked(client, task)["status"], looked(client, task)["statusMessage"]) == (
        "cancelled",
        "withdrawn before a turn took it",
    )
    assert client.ask("tasks/result", {"taskId": task})["error"]["code"] == -32602
    assert conversation in daemon.turns
    ended(daemon, conversation)
    assert conversation not in daemon.turns


def test_a_cancelled_wait_for_a_result_does_not_cancel_the_task() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    task, conversation = begun(daemon, client)
    request = client.begin("tasks/result", {"taskId": task})
    client.cancel(request)
    assert client.answers(request) == []
    assert looked(client, task)["status"] == "working"
    ended(daemon, conversation)
    assert text_of(client.ask("tasks/result", {"taskId": task})["result"]) == "Done"
    assert nothing_open(client)


# --- durable ----------------------------------------------------------------------------------------------------


def test_a_task_goes_on_without_its_client_and_is_there_for_the_next_connection() -> None:
    daemon = Daemon()
    first = speaking(daemon, "first", gone_s=1.0)
    task, conversation = begun(daemon, first)
    daemon.hang_up(first.mailbox)
    daemon.advance(60)
    client = speaking(daemon, "next")
    assert looked(client, task)["status"] == "working"
    ended(daemon, conversation)
    assert text_of(client.ask("tasks/result", {"taskId": task})["result"]) == "Done"


def test_a_task_that_is_over_has_its_result_after_a_restart_and_one_that_was_not_has_failed() -> None:
    earlier = Daemon()
    client = speaking(earlier)
    over, conversation = begun(earlier, client)
    ended(earlier, conversation)
    lost, _ = begun(earlier, client)
    daemon = Daemon(earlier.journal)
    client = speaking(daemon)
    assert text_of(client.ask("tasks/result", {"taskId": over})["result"]) == "Done"
    shown = looked(client, lost)
    assert shown["status"] == "failed"
    assert "the daemon was stopped" in shown["statusMessage"]


def test_the_tasks_of_a_client_are_listed_on_its_next_connection_too() -> None:
    daemon = Daemon()
    first = speaking(daemon, "first")
    task, conversation = begun(daemon, first)
    ended(daemon, conversation)
    other, _ = begun(daemon, first)
    assert [one["taskId"] for one in first.ask("tasks/list")["result"]["tasks"]] == [task, other]
    client = speaking(daemon, "next")
    assert client.ask("tasks/list")["result"]["tasks"] == []
    told = {"requests": [], "tasks": [task, "forged", 7]}
    client.say({"jsonrpc": "2.0", "method": RECONNECTED, "params": told})
    assert client.ask("tasks/list")["result"]["tasks"] == [looked(client, task)]
    assert client.ask("tasks/list", {"cursor": "x"})["error"]["code"] == -32602


def test_a_task_that_is_begun_again_after_a_loss_is_the_same_task() -> None:
    daemon = Daemon()
    first = speaking(daemon, "first", bridge="b")
    made = client_task(first)
    daemon.hang_up(first.mailbox)
    client = speaking(daemon, "next", bridge="b")
    client.say({"jsonrpc": "2.0", "method": RECONNECTED, "params": {"requests": [{"id": 7}]}})
    assert client_task(client) == made


def client_task(client: McpClient) -> str:
    task: str = client.answer(client.tool("codex", {"prompt": "hi"}, 7, task={}))["result"]["task"]["taskId"]
    return task


@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
@pytest.mark.parametrize("task", ["", "x", "x@y", "x@67e55044-10b1-426f-9247-bb680e5fe0c8"])
def test_a_task_that_nobody_knows_is_a_bad_parameter(method: str, task: str) -> None:
    client = speaking(Daemon())
    assert client.ask(method, {"taskId": task})["error"]["code"] == -32602
    assert nothing_open(client)


def test_input_of_a_known_conversation_that_is_no_task_is_a_bad_parameter() -> None:
    daemon = Daemon()
    client = speaking(daemon)
    conversation = finished(daemon, client)
    assert client.ask("tasks/get", {"taskId": f"x@{conversation}"})["error"]["code"] == -32602
