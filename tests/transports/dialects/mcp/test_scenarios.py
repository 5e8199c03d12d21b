"""The end-to-end scenarios of the original's tests, with the agent played by the test."""

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from actors.vocabulary.settings import ApprovalPolicy, Decision
from tests.support.work import command_began, command_ended
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import created, nothing_open, sent, text_of, wants_to_patch, wants_to_run


def test_a_command_is_asked_for_approved_and_told_and_the_text_is_the_result() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    arguments = {"prompt": "init a repo", "approval-policy": "untrusted"}
    client.tool("codex", arguments, 1)
    (conversation,) = daemon.conversations
    wants_to_run(daemon, conversation)
    client.respond(0, {"decision": "approved"})
    daemon.say(conversation, command_began("git", "init", call="call1234", item="i-a1"))
    daemon.say(conversation, command_ended("Initialized", call="call1234", item="i-a1"))
    daemon.say(conversation, ev.AgentMessage(message="Enjoy your new git repo!", item_id=ItemId("m")))
    daemon.finish(conversation, "Enjoy your new git repo!")
    daemon.settle()
    assert client.types() == [
        "session_configured",
        "task_started",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_end",
        "agent_message",
        "task_complete",
    ]
    assert text_of(client.answer(1)["result"]) == "Enjoy your new git repo!"
    assert [(one.approval, one.decision) for one in daemon.answered] == [(f"a1@{conversation}", Decision.APPROVED)]
    assert nothing_open(client)


def test_a_patch_is_asked_for_approved_and_told() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    client.tool("codex", {"prompt": "please modify the test file", "cwd": "/w"}, 1)
    (conversation,) = daemon.conversations
    wants_to_patch(daemon, conversation)
    (params,) = client.told("elicitation/create")
    assert params["codex_event_id"] == "1"
    client.respond(0, {"decision": "approved"})
    daemon.finish(conversation, "Patch has been applied successfully!")
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == "Patch has been applied successfully!"


def test_base_instructions_reach_the_agent() -> None:
    daemon = Daemon()
    McpClient(daemon).tool("codex", {"prompt": "How are you?", "base-instructions": "You are a helpful assistant."})
    (turn,) = daemon.turns.values()
    assert turn.settings.base_instructions == "You are a helpful assistant."


def test_a_turn_and_a_reply_are_both_cancelled_and_both_answered() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    client.tool("codex", {"prompt": "First Run: run `sleep 60`"}, 1)
    (configured,) = client.told("codex/event")[:1]
    client.cancel(1)
    arguments = {"sessionId": configured["msg"]["session_id"], "prompt": "Second Run: run `sleep 60`"}
    client.tool("codex-reply", arguments, 2)
    client.cancel(2)
    assert all("error" in client.answer(request)["result"] for request in (1, 2))
    assert client.types().count("turn_aborted") == 2


def test_a_created_conversation_says_to_the_model_what_it_was_told() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    assert sent(client, conversation, "Hello")["structuredContent"] == {"status": "ok"}
    turn = daemon.turns[conversation]
    (said,) = turn.inputs[-1].items
    assert (turn.settings.model, said.model_dump()) == ("o3", {"type": "text", "text": "Hello"})


@pytest.mark.parametrize("early", [True, False])
def test_a_message_before_the_stream_is_in_the_state_or_comes_live(early: bool) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    sent(client, conversation)

    def answered() -> None:
        daemon.say(conversation, ev.AgentMessage(message="Done", item_id=ItemId("m")))
        daemon.settle()

    if early:
        answered()
    client.tool("conversationStream", {"conversation_id": conversation})
    if not early:
        answered()
    expected = {"msg": {"type": "agent_message", "message": "Done"}}
    (state,) = client.told("notifications/initial_state")
    assert (expected in state["initial_state"]["events"]) is early
    assert (client.told("agent_message") == [expected]) is not early


def test_a_turn_that_never_asks_runs_after_one_that_did() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = client.ask("newConversation", {"approvalPolicy": "untrusted"})["result"]["conversationId"]
    client.ask("addConversationListener", {"conversationId": conversation})
    items: list[Json] = [{"type": "text", "data": {"text": "run python"}}]
    client.ask("sendUserMessage", {"conversationId": conversation, "items": items})
    assert daemon.turns[conversation].settings.approval_policy is ApprovalPolicy.UNTRUSTED
    wants_to_run(daemon, conversation)
    assert client.lines[-1]["method"] == "execCommandApproval"
    client.respond(client.lines[-1]["id"], {"decision": "approved"})
    daemon.finish(conversation, "done 1")
    daemon.settle()
    turn = {
        "conversationId": conversation,
        "items": items,
        "cwd": "/w",
        "approvalPolicy": "never",
        "sandboxPolicy": {"mode": "read-only"},
        "model": "mock-model",
        "effort": "medium",
        "summary": "auto",
    }
    client.forget()
    client.ask("sendUserTurn", turn)
    assert daemon.turns[conversation].settings.approval_policy is ApprovalPolicy.NEVER
    daemon.finish(conversation, "done 2")
    daemon.settle()
    assert [one for one in client.lines if "id" in one and "method" in one] == []
    assert len(client.told("codex/event/task_complete")) == 1
