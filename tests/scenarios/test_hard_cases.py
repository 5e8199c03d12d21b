"""Misbehaving clients, and several at once: each call gets its answer, whichever messages cross."""

import json
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.stage import POLICY_A, POLICY_B, Stage, is_running
from tests.scenarios.test_tool_calls import interrupted, runs
from tests.support.bridge import wait_until

MANY = 20
ASK = f"{runs('touch', 'approved')}; then; say thanks"
SLEEP = runs("sleep", "60")


def test_a_call_that_is_cancelled_in_the_same_breath_ends_and_leaves_nothing_behind(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        params = {"name": "codex", "arguments": {"prompt": f"never to be run\n{SLEEP}"}}
        client.begin("tools/call", params, 1, cancelled=True)
        assert interrupted(client.answer(1)["result"])
        client.settle()
        rows = client.result("list_conversations", {"limit": 200})["structuredContent"]["conversations"]
        assert not [row for row in rows if "never to be run" in row["preview"] and row["state"] != "idle"]
        assert client.result("codex", {"prompt": "say works"})["structuredContent"]["content"] == "works"


def test_many_calls_at_once_are_each_answered_with_their_own(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        calls = [client.tool("codex", {"prompt": f"words answer number {number}"}) for number in range(MANY)]
        for number, call in enumerate(calls):
            assert client.answer(call)["result"]["structuredContent"]["content"] == f"answer number {number}"
        owners = {
            json.dumps(one["_meta"]["requestId"]): one["_meta"]["threadId"] for one in client.told("codex/event")
        }
        assert len(set(owners.values())) == len(owners) == MANY


def test_a_reply_to_a_busy_conversation_joins_its_turn_and_both_are_answered(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": f"{runs('sleep', '0.5')}; then; say first"}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        client.tool("codex-reply", {"threadId": thread, "prompt": "say joined"}, 2)
        assert client.answer(1)["result"]["content"] == client.answer(2)["result"]["content"]
        kinds = client.types()
        assert (kinds.count("task_started"), kinds.count("task_complete")) == (1, 1)


def test_a_reply_that_would_rather_be_refused_is_and_the_turn_goes_on(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": f"{runs('sleep', '0.4')}; then; say undisturbed"}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        refused = client.result("codex-reply", {"threadId": thread, "prompt": "say no", "if-busy": "reject"})
        assert refused["isError"] is True
        assert client.answer(1)["result"]["structuredContent"]["content"] == "undisturbed"


def test_a_reply_that_interrupts_replaces_the_turn_and_both_are_answered(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": SLEEP}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        reply = {"threadId": thread, "prompt": "say instead", "if-busy": "interrupt"}
        assert client.result("codex-reply", reply)["structuredContent"]["content"] == "instead"
        assert interrupted(client.answer(1)["result"])
        assert client.types().count("turn_aborted") == 1


def test_a_client_that_answers_with_an_error_has_said_no_and_the_turn_goes_on(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as client:
        client.tool("codex", {"prompt": ASK}, 1)
        client.refuse(client.asked()["id"])
        assert client.answer(1)["result"]["structuredContent"]["content"] == "thanks"
    assert not (work / "approved").exists()


@pytest.mark.parametrize(("reply", "ran"), [("accept", True), ("decline", False), ("cancel", False)])
def test_the_actions_of_mcp_are_understood(stage: Stage, work: Path, reply: str, ran: bool) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as client:
        client.tool("codex", {"prompt": ASK}, 1)
        client.respond(client.asked()["id"], {"action": reply})
        result = client.answer(1)["result"]
        assert result["structuredContent"]["content"] == "thanks"
        assert ("dismissed the question" in result["content"][-1]["text"]) is (reply == "cancel")
    assert (work / "approved").exists() is ran


def test_a_client_that_cannot_be_asked_is_told_and_another_answers_by_a_tool(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B, cwd=work, elicits=False) as mute, stage.bridge() as other:
        mute.tool("codex", {"prompt": ASK}, 1, _meta={"progressToken": "p1"})
        said = mute.notified("notifications/progress")
        assert said["progressToken"] == "p1"
        assert "touch approved" in said["message"]
        (approval,) = re.findall(r"greenroom approve ([^ `]+)`", said["message"])
        other.result("answer_approval", {"approvalId": approval, "decision": "approved"})
        assert mute.answer(1)["result"]["structuredContent"]["content"] == "thanks"
        assert mute.told("elicitation/create") == []
    assert (work / "approved").exists()


def test_a_client_that_leaves_is_gone_within_a_second_and_its_turn_goes_on(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": f"{runs('sleep', '0.5')}; then; say went on"}, 1)
        thread = client.event("exec_command_begin")["_meta"]["threadId"]
        assert client.leave() < 1.5  # a second, and what a busy machine adds
    with stage.bridge() as later:
        deadline = time.monotonic() + 10
        while "went on" not in later.result("read_conversation", {"threadId": thread})["structuredContent"]["text"]:
            assert time.monotonic() < deadline, "the turn did not go on"


def fails_with(code: int, line: dict[str, Any]) -> bool:
    return bool(line.get("error", {}).get("code") == code)


def test_lines_that_are_none_are_answered_and_disturb_no_call(stage: Stage) -> None:
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": f"{runs('sleep', '0.2')}; then; say fine"}, 1)
        client.event("exec_command_begin")
        assert client.process.stdin is not None
        client.process.stdin.write(b"{nonsense\n[]\n\n" + b'{"id":5}\n')
        for code in (-32700, -32600):
            client.wait(partial(fails_with, code), f"the error {code}")
        assert client.ask("no/such/method")["error"]["code"] == -32601
        assert client.ask("tools/call", {"nonsense": 1})["error"]["code"] == -32602
        assert client.answer(1)["result"]["structuredContent"]["content"] == "fine"


def test_a_call_whose_question_was_open_when_the_daemon_was_killed_goes_on_by_a_reply(
    stage: Stage, work: Path
) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as client:
        client.tool("codex", {"prompt": ASK}, 1)
        thread = client.event("exec_approval_request")["_meta"]["threadId"]
        first = client.asked()
        stage.kill_daemon()
        assert client.answer(1)["error"]["data"]["retryable"] is True
        assert client.notified("notifications/cancelled")["requestId"] == first["id"]
        mark = client.mark()
        reply = client.tool("codex-reply", {"threadId": thread, "prompt": "say go on"}, 2)
        second = client.asked(after=mark)
        assert second["params"]["codex_command"] == ["touch", "approved"]
        client.respond(second["id"], {"decision": "approved"})
        assert client.answer(reply)["result"]["structuredContent"]["threadId"] == thread
    assert (work / "approved").exists()


def test_a_caller_that_is_killed_leaves_no_command_and_a_sound_conversation(own_stage: Stage, work: Path) -> None:
    settings = ("-c", "greenroom.mcp.caller_gone_seconds=0.2")
    with own_stage.bridge(*POLICY_A) as other:
        with own_stage.bridge(*POLICY_A, *settings) as client:
            command = runs("sh", "-c", "echo $$ > pid; sleep 60")
            client.tool("codex", {"prompt": command, "cwd": str(work)}, 1)
            thread = client.event("exec_command_begin")["_meta"]["threadId"]
            wait_until(
                lambda: (work / "pid").exists() and bool((work / "pid").read_text().strip()), "it did not start"
            )
            client.process.kill()
            client.process.wait()
        wait_until(lambda: not is_running(int((work / "pid").read_text())), "it runs on")
        said = other.result("codex-reply", {"threadId": thread, "prompt": "say back"})
        assert said["structuredContent"]["content"] == "back"
        text = other.result("read_conversation", {"threadId": thread})["structuredContent"]["text"]
        assert "*Turn interrupted*" in text
