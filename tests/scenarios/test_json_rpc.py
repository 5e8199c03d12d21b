"""The original's tests of the conversation methods beside MCP (T7, T14 to T17), and of what is listed (T18)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.judges.promises.history import texts
from tests.scenarios.stage import POLICY_A, POLICY_B, Stage
from tests.support.confinement import confinable
from tests.support.mcp_client import McpClient

PYTHON = 'call shell ["python3","-c","print(42)"]'


def begin(client: McpClient, **settings: Any) -> tuple[str, str]:
    """A conversation, and the subscription of a listener to it."""
    conversation = client.ask("newConversation", settings)["result"]["conversationId"]
    listening = client.ask("addConversationListener", {"conversationId": conversation})["result"]
    return conversation, listening["subscriptionId"]


def said(conversation: str, text: str) -> dict[str, Any]:
    return {"conversationId": conversation, "items": [{"type": "text", "data": {"text": text}}]}


def test_an_interrupt_is_answered_with_its_reason_however_often_it_is_asked_for(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation, _ = begin(client)
        sleep = said(conversation, 'call shell ["sleep","10"]')
        assert client.ask("sendUserMessage", sleep)["result"] == {}
        client.event("exec_command_begin")
        first = client.begin("interruptConversation", {"conversationId": conversation})
        second = client.begin("interruptConversation", {"conversationId": conversation})
        assert client.answer(first)["result"] == {"abortReason": "interrupted"}
        assert client.answer(second)["result"] == {"abortReason": "interrupted"}
        aborted = client.notified("codex/event/turn_aborted")
        assert aborted["conversationId"] == conversation
        assert aborted["msg"]["reason"] == "interrupted"
        methods = [line.get("method", line.get("id")) for line in client.lines]
        assert methods.index("codex/event/turn_aborted") < methods.index(first)


def test_a_listener_is_told_that_its_daemon_was_killed_and_may_listen_again(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation, _ = begin(client)
        stage.kill_daemon()
        told = client.notified("notifications/message")
        assert told["level"] == "warning"
        assert told["data"].startswith(f"{conversation} can't be listened to any more: ")
        assert client.ask("addConversationListener", {"conversationId": conversation})["result"]["subscriptionId"]
        assert client.ask("sendUserMessage", said(conversation, "say back"))["result"] == {}
        assert client.notified("codex/event/task_complete")["msg"]["last_agent_message"] == "back"


def test_a_known_safe_command_runs_without_a_question_and_a_listener_hears_its_end(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B) as client:
        made = client.ask("newConversation", {"cwd": str(work)})["result"]
        assert made["model"] == "mock-model"
        conversation = made["conversationId"]
        named = {"conversationId": conversation}
        subscription = client.ask("addConversationListener", named)["result"]["subscriptionId"]
        words = 'call shell ["ls"]; then; say listed'
        assert client.ask("sendUserMessage", said(conversation, words))["result"] == {}
        end = client.notified("codex/event/task_complete")
        assert end["conversationId"] == conversation
        assert end["msg"]["last_agent_message"] == "listed"
        assert client.notified("codex/event/exec_command_end")["msg"]["exit_code"] == 0
        assert client.ask("removeConversationListener", {"subscriptionId": subscription})["result"] == {}
        assert [line for line in client.lines if "id" in line and "method" in line] == []


def test_a_turn_that_never_asks_runs_after_one_that_did(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B) as client:
        conversation, _ = begin(client, cwd=str(work))
        client.ask("sendUserMessage", said(conversation, f"{PYTHON}; then; say done 1"))
        question = client.asked("execCommandApproval")
        assert question["params"] == {
            "conversation_id": conversation,
            "call_id": "call_2_0_0",
            "command": ["python3", "-c", "print(42)"],
            "cwd": str(work),
        }
        client.respond(question["id"], {"decision": "approved"})
        assert client.event("exec_command_end")["msg"]["stdout"] == "42\n"
        client.event("task_complete", last_agent_message="done 1")
        turn = {
            **said(conversation, f"{PYTHON}; then; say done 2"),
            "cwd": str(work),
            "approvalPolicy": "never",
            "sandboxPolicy": {"mode": "read-only"},
            "model": "mock-model",
            "effort": "medium",
            "summary": "auto",
        }
        assert client.ask("sendUserTurn", turn)["result"] == {}
        client.event("task_complete", last_agent_message="done 2")
        assert len([line for line in client.lines if "id" in line and "method" in line]) == 1


def test_conversations_are_listed_in_pages_and_one_is_resumed_with_another_model(own_stage: Stage) -> None:
    with own_stage.bridge(*POLICY_A) as client:
        for number in range(3):
            client.result("codex", {"prompt": f"say number {number}"})
    with own_stage.bridge(*POLICY_A) as client:
        first = client.ask("listConversations", {"pageSize": 2})["result"]
        second = client.ask("listConversations", {"pageSize": 2, "cursor": first["nextCursor"]})["result"]
        assert [len(page["items"]) for page in (first, second)] == [2, 1]
        items = [*first["items"], *second["items"]]
        assert {item["preview"] for item in items} == {f"say number {number}" for number in range(3)}
        params = {"path": items[0]["path"], "overrides": {"model": "o9"}}
        resumed = client.ask("resumeConversation", params)["result"]
        configured = client.notified("codex/event")
        assert "_meta" not in configured
        assert configured["msg"]["session_id"] == resumed["conversationId"]
        assert items[0]["path"].endswith(resumed["conversationId"])
        assert [one["type"] for one in resumed["initialMessages"] if one["type"] != "token_count"] == [
            "task_started",
            "agent_message",
            "task_complete",
            "background_event",
        ]
        client.ask("addConversationListener", {"conversationId": resumed["conversationId"]})
        client.ask("sendUserMessage", said(resumed["conversationId"], "say of the resumed"))
        client.event("task_complete", last_agent_message="of the resumed")
    (request,) = own_stage.asked("say of the resumed")
    assert request.body["model"] == "o9"
    assert items[0]["preview"] in texts(request.body, "user")


@pytest.mark.parametrize("method", ["loginApiKey", "loginChatGpt", "cancelLoginChatGpt", "logoutChatGpt"])
def test_a_login_is_answered_with_where_keys_come_from(stage: Stage, method: str) -> None:
    with stage.bridge() as client:
        assert "env_key" in client.ask(method)["error"]["message"]


def test_the_saved_config_is_that_of_the_file(stage: Stage) -> None:
    with stage.bridge() as client:
        config = client.ask("getUserSavedConfig")["result"]["config"]
        assert config == {"model": "mock-model", "profiles": {}}


@confinable
def test_a_command_of_its_own_and_a_diff_are_asked_of_the_daemon(stage: Stage, work: Path) -> None:
    subprocess.run(("git", "init", "--quiet", str(work)), check=True, timeout=10)
    with stage.bridge(*POLICY_A) as client:
        params = {"command": ["git", "rev-parse", "--is-inside-work-tree"], "cwd": str(work)}
        assert client.ask("execOneOffCommand", params)["result"] == {"exitCode": 0, "stdout": "true\n", "stderr": ""}
        error = client.ask("gitDiffToRemote", {"cwd": str(work)})["error"]
        assert error["message"] == f'failed to compute git diff to remote for cwd: "{work}"'


def test_the_tools_are_listed_with_the_names_and_arguments_of_the_original(stage: Stage) -> None:
    with stage.bridge() as client:
        tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
    assert list(tools)[:2] == ["codex", "codex-reply"]
    codex, reply = tools["codex"]["inputSchema"], tools["codex-reply"]["inputSchema"]
    assert codex["required"] == ["prompt"]
    assert {name: schema["type"] for name, schema in codex["properties"].items()} == {
        "prompt": "string",
        "model": "string",
        "profile": "string",
        "cwd": "string",
        "approval-policy": "string",
        "sandbox": "string",
        "config": "object",
        "base-instructions": "string",
        "developer-instructions": "string",
        "compact-prompt": "string",
        "include-plan-tool": "boolean",
    }
    assert codex["properties"]["approval-policy"]["enum"] == ["untrusted", "on-failure", "on-request", "never"]
    assert codex["properties"]["sandbox"]["enum"] == ["read-only", "workspace-write", "danger-full-access"]
    assert {"prompt", "sessionId"} <= set(reply["properties"])
    assert all(tool["title"] and tool["description"] for tool in tools.values())


def test_events_carry_whose_request_they_are_about_and_calls_keep_their_ids_types(stage: Stage) -> None:
    """T19, T20: unit tests of the original, checked on the program's output."""
    with stage.bridge(*POLICY_A) as client:
        both = [client.tool("codex", {"prompt": f"say {json.dumps(number)}"}, number) for number in (7, "7")]
        threads = {number: client.answer(number)["result"]["structuredContent"]["threadId"] for number in both}
        for number in both:
            mine = [one for one in client.told("codex/event") if one["_meta"]["threadId"] == threads[number]]
            assert {json.dumps(one["_meta"]["requestId"]) for one in mine} == {json.dumps(number)}
            assert all(set(one) == {"_meta", "id", "msg"} for one in mine)
            assert (mine[0]["id"], {one["id"] for one in mine[1:]}) == ("", {"7"})
            kinds = [one["msg"]["type"] for one in mine]
            assert (kinds[0], kinds[1], kinds[-1]) == ("session_configured", "task_started", "task_complete")
