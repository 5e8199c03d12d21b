"""The revision without a handshake, through the real bridge and daemon: rounds, tasks, prompts, a killed daemon."""

import time
from pathlib import Path
from typing import Any

from tests.scenarios.stage import POLICY_A, POLICY_B, Stage
from tests.scenarios.test_tool_calls import runs
from tests.support.bridge import wait_until
from tests.support.mcp_client import McpClient
from tests.transports.dialects.mcp.peer import Json, envelope

ACCEPT: Json = {"action": "accept", "content": {}}
ASK: Json = {"prompt": f"{runs('touch', 'approved')}; then; say thanks"}


class StatelessBridge(McpClient):
    """A client that introduces itself with every request."""

    tasks = False

    def begin(self, method: str, params: Any = None, request: int | str | None = None, **how: Any) -> int | str:
        given = {**(params or {}), "_meta": envelope(tasks=self.tasks)}
        return super().begin(method, given, request, **how)


def bridge(stage: Stage, *arguments: str, **more: Any) -> StatelessBridge:
    return StatelessBridge(stage.home.env, *arguments, protocol="2026-07-28", hello=False, **more)


def answered(client: StatelessBridge, question: Json) -> Json:
    """The result of the call that is made again, with a yes to all of its questions."""
    responses = dict.fromkeys(question["inputRequests"], ACCEPT)
    return client.result("codex", ASK, inputResponses=responses, requestState=question["requestState"])


def test_an_approval_is_a_round_and_the_command_runs_once(stage: Stage, work: Path) -> None:
    with bridge(stage, *POLICY_B, cwd=work) as client:
        assert "2026-07-28" in client.ask("server/discover")["result"]["supportedVersions"]
        question = client.result("codex", ASK)
        assert question["resultType"] == "input_required"
        assert not (work / "approved").exists()
        result = answered(client, question)
        assert result["structuredContent"]["content"] == "thanks"
        assert (work / "approved").exists()
        assert client.told("codex/event") == client.told("notifications/message") == []


def test_a_question_outlives_the_daemon_and_another_bridge_may_bring_the_answer(stage: Stage, work: Path) -> None:
    with bridge(stage, *POLICY_B, cwd=work) as client:
        question = client.result("codex", ASK)
        stage.kill_daemon()
    with bridge(stage, *POLICY_B, cwd=work) as other:
        result = answered(other, question)
        assert result["structuredContent"]["content"] == "thanks"
        assert (work / "approved").exists()
        again = other.tool("codex", ASK, inputResponses={}, requestState=question["requestState"] + "x")
        assert other.answer(again)["error"]["code"] == -32602
    key = Path(stage.home.paths.seal_file)
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_bridge_goes_on_with_the_next_daemon_without_a_handshake(stage: Stage) -> None:
    with bridge(stage, *POLICY_A) as client:
        thread = client.result("codex", {"prompt": "say one"})["structuredContent"]["threadId"]
        stage.kill_daemon()
        deadline = time.monotonic() + 20  # what is on its way to the daemon that has just died is refused
        while "error" in (
            reply := client.answer(client.tool("codex-reply", {"threadId": thread, "prompt": "say two"}))
        ):
            assert reply["error"]["data"]["retryable"], reply
            assert time.monotonic() < deadline
        assert reply["result"]["structuredContent"]["content"] == "two"


def test_a_task_runs_without_its_caller_and_is_read_by_another(stage: Stage, work: Path) -> None:
    with bridge(stage, *POLICY_A, cwd=work) as client:
        client.tasks = True
        begun = client.result("codex", {"prompt": f"{runs('sleep', '0.5')}; then; say slept"})
        assert begun["resultType"] == "task"
    with bridge(stage, *POLICY_A, cwd=work) as other:
        other.tasks = True

        def done() -> bool:
            return bool(other.ask("tasks/get", {"taskId": begun["taskId"]})["result"]["status"] == "completed")

        wait_until(done, "the task did not end")
        result = other.ask("tasks/get", {"taskId": begun["taskId"]})["result"]["result"]
        assert result["structuredContent"]["content"] == "slept"


def test_saved_prompts_and_skills_are_in_the_menu(stage: Stage, work: Path) -> None:
    prompts = Path(stage.home.paths.config) / "prompts"
    prompts.mkdir(exist_ok=True)
    (prompts / "greet.md").write_text("Say hello to $WHO.")
    skill = work / ".agents" / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tidy\ndescription: How we tidy up.\n---\nSort it.\n")
    with bridge(stage, *POLICY_A, cwd=work) as client:
        names = [one["name"] for one in client.ask("prompts/list")["result"]["prompts"]]
        assert names == ["greet", "tidy"]
        got = client.ask("prompts/get", {"name": "greet", "arguments": {"who": "Ann"}})["result"]
        assert got["messages"][0]["content"]["text"] == "Say hello to Ann."
