"""The original's tests of `codex` and `codex-reply`: handshake, approvals, instructions, interrupts (T1 to T6)."""

import json
from pathlib import Path
from typing import Any

import pytest

from supervisor.version import VERSION
from tests.judges.promises.history import instructions
from tests.scenarios.stage import POLICY_A, POLICY_B, Stage
from tests.support.model_server import ModelServer

PATCH = """\
apply_patch <<'EOF'
*** Begin Patch
*** Update File: destination_file.txt
@@
-original content
+modified content
*** End Patch
EOF
"""


def runs(*command: str) -> str:
    """A directive for the model: a call of the shell tool."""
    return f"call shell {json.dumps(command)}"


def test_initialize_is_answered_exactly_and_initialized_accepted(stage: Stage) -> None:
    with stage.bridge(hello=False) as client:
        welcome = client.initialize()
        about = welcome["result"].pop("instructions").splitlines()
        begins = ["codex-reply", "start_conversation", "list_conversations", "answer_approval"]
        assert [line.split()[0] for line in about] == begins
        assert welcome == {
            "jsonrpc": "2.0",
            "id": 0,
            "result": {
                "capabilities": {
                    "tools": {"listChanged": True},
                    "resources": {"subscribe": True, "listChanged": True},
                    "prompts": {},
                    "completions": {},
                    "logging": {},
                },
                "protocolVersion": "2025-06-18",
                "serverInfo": {"name": "codex-mcp-server", "title": "Greenroom", "version": VERSION},
            },
        }
        client.settle()
        assert len(client.lines) == 2


def test_clients_that_try_the_next_era_first_are_told_at_once_and_fall_back(stage: Stage) -> None:
    with stage.bridge(hello=False, protocol="2025-11-25") as client:
        client.ask("ping")  # the daemon is there
        error = client.answer(client.begin("server/discover", {}), limit_s=1.0)["error"]
        assert error["code"] == -32602
        assert client.initialize()["result"]["protocolVersion"] == "2025-11-25"


def test_a_command_is_asked_for_runs_when_approved_and_the_text_is_the_result(stage: Stage, work: Path) -> None:
    with stage.bridge(*POLICY_B, cwd=work) as client:
        prompt = f"{runs('git', 'init')}; then; say Enjoy your new git repo!"
        client.tool("codex", {"prompt": prompt}, 1)
        question = client.asked()
        event, thread = (question["params"].pop(name) for name in ("codex_event_id", "threadId"))
        assert thread == client.event("task_started")["_meta"]["threadId"]
        assert isinstance(event, str)
        assert question == {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "elicitation/create",
            "params": {
                "message": f"Allow Codex to run `git init` in `{work}`?",
                "requestedSchema": {"type": "object", "properties": {}},
                "codex_elicitation": "exec-approval",
                "codex_mcp_tool_call_id": "1",
                "codex_call_id": "call_2_0_0",
                "codex_command": ["git", "init"],
                "codex_cwd": str(work),
                "codex_parsed_cmd": [{"type": "unknown", "cmd": "git init"}],
            },
        }
        assert not (work / ".git").exists()
        client.respond(0, {"decision": "approved"})
        result = client.answer(1)["result"]
        assert client.event("task_complete")["_meta"]["requestId"] == 1
        assert result["content"][0] == {"text": "Enjoy your new git repo!", "type": "text"}
        assert (work / ".git").is_dir()


def test_a_patch_is_asked_for_and_applied_when_approved(stage: Stage, work: Path) -> None:
    target = work / "destination_file.txt"
    target.write_text("original content\n")
    with stage.bridge(*POLICY_B) as client:
        prompt = f"{runs('bash', '-lc', PATCH)}; then; say Patch has been applied successfully!"
        client.tool("codex", {"prompt": prompt, "cwd": str(work)}, 1)
        question = client.asked()
        assert question["params"].pop("threadId") == client.event("task_started")["_meta"]["threadId"]
        assert question == {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "elicitation/create",
            "params": {
                "message": "Allow Codex to apply proposed code changes?",
                "requestedSchema": {"type": "object", "properties": {}},
                "codex_elicitation": "patch-approval",
                "codex_mcp_tool_call_id": "1",
                "codex_event_id": "1",
                "codex_call_id": "call_2_0_0",
                "codex_changes": {
                    str(target): {
                        "update": {
                            "unified_diff": "@@ -1 +1 @@\n-original content\n+modified content\n",
                            "move_path": None,
                        }
                    }
                },
            },
        }
        client.respond(0, {"decision": "approved"})
        said = {"text": "Patch has been applied successfully!", "type": "text"}
        assert client.answer(1)["result"]["content"][0] == said
        assert target.read_text() == "modified content\n"


def test_base_instructions_are_the_first_that_the_model_reads(stage: Stage) -> None:
    said = "You are a helpful assistant, and nothing else."
    with stage.bridge(*POLICY_A) as client:
        result = client.result("codex", {"prompt": "say Enjoy!", "base-instructions": said})
    assert result["content"][0] == {"text": "Enjoy!", "type": "text"}
    (request,) = stage.asked(said)
    assert instructions(request.body).startswith(said)


def test_a_call_and_a_reply_that_are_cancelled_abort_and_are_answered_with_an_error(stage: Stage) -> None:
    prompt = f"{runs('sleep', '60')}"
    with stage.bridge(*POLICY_A) as client:
        client.tool("codex", {"prompt": f"First Run: run sleep\n{prompt}"}, 1)
        session = client.event("session_configured")["msg"]["session_id"]
        begun = client.event("exec_command_begin")
        client.cancel(1)
        assert interrupted(client.answer(1)["result"])
        assert client.types()[-2:] == ["exec_command_end", "turn_aborted"]
        assert begun["_meta"]["requestId"] == 1
        mark = client.mark()
        client.tool("codex-reply", {"sessionId": session, "prompt": f"Second Run: run sleep\n{prompt}"}, 2)
        client.event("exec_command_begin", after=mark)
        client.cancel(2)
        assert interrupted(client.answer(2)["result"])
        assert client.types(mark)[-2:] == ["exec_command_end", "turn_aborted"]
        assert {params["_meta"]["requestId"] for params in client.told("codex/event", mark)} == {2}


def interrupted(result: dict[str, Any]) -> bool:
    """Whether an answer counts as interrupted for clients of both eras and those that follow MCP."""
    said = str(result["content"][0]["text"])
    return (
        result["isError"] is True
        and result["error"] == "Turn interrupted"
        and said.startswith("Turn interrupted by ")
    )


def test_an_interrupt_is_told_by_twins_and_not_answered_where_that_is_wanted(tmp_path: Path) -> None:
    """The behaviour of the original in the middle of August."""
    with ModelServer() as model:
        stage = Stage(tmp_path, model, "twin_notifications = true", "answer_cancelled = false")
        with stage.bridge(*POLICY_A) as client:
            client.tool("codex", {"prompt": runs("sleep", "60")}, 1)
            begun = client.event("exec_command_begin")
            client.cancel(1)
            assert client.notified("turn_aborted") == client.event("turn_aborted")
            methods = [line["method"] for line in client.lines if "method" in line]
            assert methods[::2] == ["codex/event"] * (len(methods) // 2)
            assert methods[1::2] == client.types()
            reply = {"threadId": begun["_meta"]["threadId"], "prompt": "say works"}
            assert client.result("codex-reply", reply, 2)["structuredContent"]["content"] == "works"
            assert [line["id"] for line in client.lines if "method" not in line] == [0, 2]
        stage.close()


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=[pytest.mark.soak, pytest.mark.timeout(120)])])
def test_after_each_interrupt_the_next_call_works(stage: Stage, times: int) -> None:
    with stage.bridge(*POLICY_A) as client:
        session = client.result("codex", {"prompt": "say begun"})["structuredContent"]["threadId"]
        for number in range(times):
            mark = client.mark()
            call = client.tool("codex-reply", {"threadId": session, "prompt": runs("sleep", "60")})
            client.event("exec_command_begin", after=mark)
            client.cancel(call)
            assert interrupted(client.answer(call)["result"])
            works = client.result("codex-reply", {"threadId": session, "prompt": f"say works {number}"})
            assert works["content"][0] == {"text": f"works {number}", "type": "text"}
