"""The original's tests of `conversationCreate`, `…SendMessage` and `…Stream` (T8 to T13)."""

import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from tests.judges.promises.history import history, texts
from tests.scenarios.stage import POLICY_A, POLICY_B, Stage
from tests.support.line_client import PATIENCE_S
from tests.support.mcp_client import McpClient

OK = {
    "content": [{"type": "text", "text": '{"status":"ok"}'}],
    "isError": False,
    "structuredContent": {"status": "ok"},
}


def create(client: McpClient, model: str = "o3", **more: Any) -> str:
    result = client.result("conversationCreate", {"prompt": "", "model": model, "cwd": "/tmp", **more})
    assert result["structuredContent"]["model"] == model
    return str(UUID(result["structuredContent"]["conversation_id"]))


def send(client: McpClient, conversation: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return client.result("conversationSendMessage", {"conversation_id": conversation, "content": content})


def stream(client: McpClient, conversation: str, **more: Any) -> int | str:
    return client.tool("conversationStream", {"conversation_id": conversation}, **more)


def until(client: McpClient, conversation: str, state: str) -> None:
    """Poll the list of conversations, as the test expects that no message comes."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        rows = client.result("list_conversations", {"limit": 200})["structuredContent"]["conversations"]
        (found,) = [row["state"] for row in rows if row["threadId"] == conversation]
        if found == state:
            return
        assert time.monotonic() < deadline, f"it is {found}, not {state}"


def told(kind: str, **members: str) -> dict[str, Any]:
    return {"msg": {"type": kind, **members}}


def test_a_message_to_a_created_conversation_reaches_its_model(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation = create(client)
        assert send(client, conversation, "Hello, model of T8") == OK
        stage.model.wait_for(lambda: bool(stage.asked("Hello, model of T8")), "the model was not asked")
    (request,) = stage.asked("Hello, model of T8")
    assert (request.body["model"], request.body["stream"]) == ("o3", True)
    last = history(request.body)[-1]
    assert (last.kind, last.text) == ("user", "Hello, model of T8")


def test_a_conversation_in_a_directory_that_does_not_exist_is_made_with_a_notice(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation = create(client, cwd=str(work / "repo"))
        assert (
            f"working directory '{work / 'repo'}' does not exist" in client.notified("notifications/message")["data"]
        )
        assert send(client, conversation, "say fine") == OK
        done = client.result("codex-reply", {"threadId": conversation, "prompt": 'call shell ["ls"]; then; say done'})
        assert done["structuredContent"]["content"] == "done"
    (output,) = texts(stage.model.requests[-1].body, "output")
    assert output.startswith(f"execution error: the directory '{work / 'repo'}' does not exist")


def test_a_message_to_the_conversation_of_a_finished_call_is_acknowledged_exactly(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        done = client.result("codex", {"prompt": "say Response 1"})
        assert send(client, done["structuredContent"]["threadId"], "say Response 2") == OK


def test_a_message_to_a_conversation_that_nobody_made_is_refused(stage: Stage) -> None:
    with stage.bridge() as client:
        result = send(client, str(uuid4()), "Hello")
        assert result["isError"] is True
        assert "Session does not exist" in result["content"][0]["text"]


def test_a_stream_is_answered_then_has_its_state_and_then_what_happens(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation = create(client)
        mark = client.mark()
        number = stream(client, conversation)
        state = client.notified("notifications/initial_state")
        assert state == {"_meta": {"conversationId": conversation}, "initial_state": {"events": []}}
        answer = client.answer(number)["result"]
        assert answer == {"content": [{"text": "{}", "type": "text"}], "isError": False, "structuredContent": {}}
        assert [line.get("method", line.get("id")) for line in client.lines[mark:]][:2] == [
            number,
            "notifications/initial_state",
        ]
        assert send(client, conversation, "say Done") == OK
        assert client.notified("agent_message") == told("agent_message", message="Done")


def test_events_before_a_stream_are_in_its_state_or_come_live(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation = create(client)
        send(client, conversation, "say Done")
        client.answer(stream(client, conversation))
        state = client.notified("notifications/initial_state")
        client.wait(
            lambda line: (
                line.get("method") == "task_complete"
                or (line.get("method") == "notifications/initial_state" and "task_complete" in str(line))
            ),
            "the end of the turn",
        )
        done = told("agent_message", message="Done")
        in_state = state["initial_state"]["events"].count(done)
        assert in_state + client.told("agent_message").count(done) == 1


def test_a_cancelled_stream_is_silent_and_the_next_one_has_everything(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        conversation = create(client)
        first = stream(client, conversation)
        client.notified("notifications/initial_state")
        send(client, conversation, "say Msg1")
        assert client.notified("agent_message") == told("agent_message", message="Msg1")
        client.notified("task_complete")
        client.cancel(first)
        client.settle()
        mark = client.mark()
        send(client, conversation, "say Msg2")
        until(client, conversation, "idle")
        assert client.told("agent_message", mark) == []
        client.answer(stream(client, conversation))
        state = client.notified("notifications/initial_state", after=mark)
        assert [one for one in state["initial_state"]["events"] if one["msg"]["type"] != "token_count"] == [
            told("task_started"),
            told("agent_message", message="Msg1"),
            told("task_complete", last_agent_message="Msg1"),
            told("task_started"),
            told("agent_message", message="Msg2"),
            told("task_complete", last_agent_message="Msg2"),
        ]


def test_an_approval_that_waits_is_asked_for_when_somebody_streams(stage: Stage) -> None:
    """The trace of the reference, with the stream cancelled and the message with it."""
    with stage.bridge(*POLICY_B) as client:
        conversation = create(client)
        words = 'call shell ["git","rev-parse","--is-bare-repository","--no-such"]; then; call shell ["sleep","60"]'
        content = [{"type": "text", "text": words}]
        message = client.tool("conversationSendMessage", {"conversation_id": conversation, "content": content})
        assert client.answer(message)["result"] == OK
        until(client, conversation, "waiting")
        assert client.told("elicitation/create") == []
        streamed = stream(client, conversation)
        question = client.asked()
        told_before = client.notified("notifications/initial_state")["initial_state"]["events"]
        assert [one["msg"]["type"] for one in told_before] == ["task_started", "exec_approval_request"]
        client.respond(question["id"], {"decision": "approved"})
        client.notified("exec_command_begin")
        client.cancel(streamed)
        client.cancel(message)
        until(client, conversation, "idle")
        assert client.told("turn_aborted") == []
