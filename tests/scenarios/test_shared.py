"""Abilities that the original lacked: conversations that clients share, and that outlive their daemon."""

import pytest

from tests.scenarios.stage import POLICY_A, POLICY_B, Stage
from tests.scenarios.test_tool_calls import interrupted
from tests.scenarios.test_typed_calls import create, send, stream, until
from tests.support.line_client import Json
from tests.support.mcp_client import McpClient

ASK = 'call shell ["touch","approved"]; then; say thanks'
SEEN = ("agent_message", "task_started", "task_complete", "exec_approval_request", "exec_command_begin")


def streaming(client: McpClient, conversation: str) -> None:
    client.answer(stream(client, conversation))
    client.notified("notifications/initial_state")


def seen(client: McpClient) -> list[str]:
    return [line["method"] for line in client.lines if line.get("method") in SEEN]


def test_two_bridges_see_the_same_and_the_approval_is_answered_by_one_and_taken_from_the_other(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as one, stage.bridge(*POLICY_B) as other:
        conversation = create(one)
        streaming(one, conversation)
        streaming(other, conversation)
        send(one, conversation, ASK)
        first, second = one.asked(), other.asked()
        assert first["params"]["codex_command"] == second["params"]["codex_command"] == ["touch", "approved"]
        other.respond(second["id"], {"action": "accept"})
        assert one.notified("notifications/cancelled")["requestId"] == first["id"]
        for client in (one, other):
            assert client.notified("task_complete")["msg"]["last_agent_message"] == "thanks"
        assert seen(one) == seen(other)
        assert other.told("notifications/cancelled") == []
        one.respond(first["id"], {"decision": "abort"})
        one.settle()
        mark = one.mark()
        send(one, conversation, "say still here")
        assert one.notified("task_complete", after=mark)["msg"]["last_agent_message"] == "still here"


def test_a_connected_client_is_listed_by_the_name_of_its_editor(stage: Stage) -> None:
    with stage.bridge(*POLICY_A), stage.control() as terminal:
        names = {one["name"] for one in terminal.ask("clients/list")["clients"]}
        assert names == {"tester", "test"}


def test_a_call_that_another_client_interrupts_ends_as_one_that_its_own_interrupts(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as one, stage.bridge(*POLICY_A) as other:
        one.tool("codex", {"prompt": 'call shell ["sleep","60"]'}, 1)
        thread = one.event("exec_command_begin")["_meta"]["threadId"]
        result = other.result("interrupt_conversation", {"threadId": thread})["structuredContent"]
        assert result["interrupted"] is True
        assert one.answer(1)["result"]["error"] == "Turn interrupted"
        reply = other.result("codex-reply", {"threadId": thread, "prompt": "say continued by another"})
        assert reply["structuredContent"]["content"] == "continued by another"


def test_a_call_that_a_terminal_interrupts_ends_as_one_that_its_own_client_interrupts(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client, stage.control() as terminal:
        client.tool("codex", {"prompt": 'call shell ["sleep","60"]'}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        terminal.ask("conversation/interrupt", conversation=thread)
        assert interrupted(client.answer(1)["result"])
        assert client.types()[-2:] == ["exec_command_end", "turn_aborted"]


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=[pytest.mark.soak, pytest.mark.timeout(300)])])
def test_the_daemon_is_killed_again_and_again_and_the_call_after_it_works(stage: Stage, kills: int) -> None:
    with stage.bridge(*POLICY_A) as client:
        thread = client.result("codex", {"prompt": "say begun"})["structuredContent"]["threadId"]
        for _ in range(kills):
            mark = client.mark()
            call = client.tool("codex-reply", {"threadId": thread, "prompt": 'call shell ["sleep","60"]'})
            client.event("exec_command_begin", after=mark)
            stage.kill_daemon()
            error = client.answer(call)["error"]
            assert error["data"]["retryable"] is True
        works = client.result("codex-reply", {"threadId": thread, "prompt": "say works"})
        assert works["structuredContent"] == {"threadId": thread, "sessionId": thread, "content": "works"}


def asked_in_two_lives(stage: Stage, client: McpClient) -> tuple[Json, Json, int]:
    """The same question before and after a kill of the daemon, and the place where the second one begins."""
    conversation = create(client)
    send(client, conversation, ASK)
    until(client, conversation, "waiting")
    streaming(client, conversation)
    first = client.asked()
    stage.kill_daemon()
    mark = client.mark()
    client.settle()
    client.answer(stream(client, conversation))
    client.notified("notifications/initial_state", after=mark)
    return first, client.asked(after=mark), mark


def test_an_approval_that_waited_when_the_daemon_was_killed_can_be_answered_by_the_bridge(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as client:
        first, second, mark = asked_in_two_lives(stage, client)
        assert second["params"]["codex_command"] == first["params"]["codex_command"]
        client.respond(second["id"], {"decision": "approved"})
        assert client.notified("task_complete", after=mark)["msg"]["last_agent_message"] == "thanks"


def test_a_late_answer_to_a_question_of_a_former_daemon_answers_no_new_one(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as client:
        first, second, mark = asked_in_two_lives(stage, client)
        assert second["id"] != first["id"]
        client.respond(first["id"], {"decision": "abort"})
        client.settle()
        client.respond(second["id"], {"decision": "approved"})
        assert client.notified("task_complete", after=mark)["msg"]["last_agent_message"] == "thanks"


def test_a_subscription_outlives_the_daemon(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as client:
        conversation = create(client)
        uri = f"greenroom://conversation/{conversation}"
        assert client.ask("resources/subscribe", {"uri": uri})["result"] == {}
        stage.kill_daemon()
        mark = client.mark()
        client.settle()
        send(client, conversation, "say still followed")
        assert client.notified("notifications/resources/updated", after=mark) == {"uri": uri}


@pytest.mark.parametrize("level", ["emergency", "warning"])
def test_a_log_level_outlives_the_daemon(stage: Stage, level: str) -> None:
    with stage.bridge(*POLICY_B, elicits=False) as client:
        conversation = create(client)
        send(client, conversation, ASK)
        until(client, conversation, "waiting")
        assert client.ask("logging/setLevel", {"level": level})["result"] == {}
        stage.kill_daemon()
        mark = client.mark()
        client.settle()
        streaming(client, conversation)  # whoever can't be asked is told by a warning what waits
        client.settle()
        assert len(client.told("notifications/message", after=mark)) == (level == "warning")


def test_a_conversation_that_another_bridge_makes_changes_the_list_of_who_has_seen_it(stage: Stage) -> None:
    with stage.bridge() as one, stage.bridge() as other:
        before = {row["uri"] for row in one.ask("resources/list")["result"]["resources"]}
        conversation = create(other)
        one.notified("notifications/resources/list_changed")
        after = {row["uri"] for row in one.ask("resources/list")["result"]["resources"]}
        assert f"greenroom://conversation/{conversation}" in after - before


def test_another_client_changes_settings_in_mid_turn_and_none_goes_above_its_ceiling(stage: Stage) -> None:
    asks = ("--approval", "untrusted")
    with stage.bridge(*asks) as one, stage.bridge(*asks) as other, stage.control() as terminal:
        conversation = create(one)
        streaming(one, conversation)
        send(one, conversation, ASK)
        question = one.asked()
        done = other.result("set_conversation", {"threadId": conversation, "model": "another", "name": "shared"})
        assert [(row["name"], row["after"]) for row in done["structuredContent"]["changed"]] == [("model", "another")]
        wide = {"threadId": "shared", "model": "third", "sandbox": "danger-full-access"}
        refused = other.result("set_conversation", wide)
        assert refused["isError"]
        assert "danger-full-access is wider than clients may ask for" in refused["content"][0]["text"]
        one.respond(question["id"], {"decision": "denied"})
        assert one.notified("task_complete")["msg"]["last_agent_message"] == "thanks"
        found = terminal.ask("conversation/get", conversation=conversation)
        assert (found["name"], found["settings"]["model"]) == ("shared", "another")
        assert found["settings"]["sandbox"]["mode"] != "danger-full-access"


def test_a_client_of_tools_names_the_agent_of_the_turns_to_come(stage: Stage) -> None:
    with stage.bridge(*POLICY_B) as one, stage.control() as terminal:
        conversation = create(one)
        refused = one.result("set_conversation", {"threadId": conversation, "agent": "claud"})
        assert refused["isError"]
        assert "there is no agent 'claud'; did you mean claude?" in refused["content"][0]["text"]
        done = one.result("set_conversation", {"threadId": conversation, "agent": "greenroom"})
        assert done["structuredContent"]["changed"] == []
        assert terminal.ask("conversation/get", conversation=conversation)["settings"]["agent"] == ""
        (row,) = one.result("list_conversations", {"limit": 1})["structuredContent"]["conversations"]
        assert row["agent"] == ""
