"""Questions to clients that can't answer: the clients asked next, those that are never asked, and the final no."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.stage import POLICY_B, Stage
from tests.scenarios.test_hard_cases import ASK
from tests.scenarios.test_shared import streaming
from tests.scenarios.test_typed_calls import create, send
from tests.support.control_client import ControlClient
from tests.support.model_server import ModelServer

PATIENCE_S = 1.0  # of the daemon, with a client that can't be asked


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Stage]:
    with ModelServer() as model:
        stage = Stage(
            tmp_path, model, f"unanswerable_seconds = {PATIENCE_S}", 'tools = ["codex", "conversationCreate"]'
        )
        yield stage
        stage.close()


def resolution(stage: Stage, conversation: str) -> tuple[str, str]:
    """Wait for the resolution of the conversation's question: the decision and the reason."""
    with stage.control() as control:
        control.ask("conversation/attach", conversation=conversation, read_only=True)
        event = control.until("approval_resolved")[-1]["event"]
        return event["decision"], event["reason"]


def test_when_every_bridge_answers_with_an_error_the_last_one_has_said_no(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as one, stage.bridge(*POLICY_B) as other:
        conversation = create(one)
        for client in (one, other):
            streaming(client, conversation)
        send(one, conversation, ASK)
        first, second = one.asked(), other.asked()
        one.refuse(first["id"])
        one.settle()
        assert one.told("notifications/cancelled") == other.told("notifications/cancelled") == []
        other.refuse(second["id"])
        for client in (one, other):
            assert client.notified("task_complete")["msg"]["last_agent_message"] == "thanks"
    assert resolution(stage, conversation) == ("denied", "no client that was asked could answer it")


def test_an_attached_terminal_can_answer_what_the_only_bridge_can_not(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as client, stage.control() as terminal:
        client.tool("codex", {"prompt": ASK}, 1)
        asked = client.event("exec_approval_request")
        terminal.ask("conversation/attach", conversation=asked["_meta"]["threadId"])
        client.refuse(client.asked()["id"])
        client.settle()
        approve(terminal, asked["_meta"]["threadId"])
        assert client.answer(1)["result"]["structuredContent"]["content"] == "thanks"
    assert (work / "approved").exists()


def approve(terminal: ControlClient, conversation: str) -> None:
    (waiting,) = terminal.ask("approvals/list", conversation=conversation)["approvals"]
    terminal.ask("approvals/answer", approval=waiting["approval_id"], decision="approved")


def test_a_question_that_no_client_can_be_asked_is_denied_in_time_after_the_client_has_left(impatient: Stage) -> None:
    with impatient.bridge(*POLICY_B, elicits=False) as mute:
        mute.tool("codex", {"prompt": ASK}, 1)
        conversation = mute.event("exec_approval_request")["_meta"]["threadId"]
        mute.settle()
    reason = f"no attached client was able to answer it within {PATIENCE_S:g} s"
    assert resolution(impatient, conversation) == ("denied", reason)


def test_the_tools_that_are_listed_are_those_of_the_config(impatient: Stage) -> None:
    with impatient.bridge() as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert names == ["codex", "conversationCreate"]
