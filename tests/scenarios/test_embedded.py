"""`greenroom mcp --embedded`: the same server without a daemon, in one process."""

from pathlib import Path

from tests.scenarios.stage import POLICY_B, Stage
from tests.scenarios.test_hard_cases import ASK, SLEEP
from tests.scenarios.test_tool_calls import interrupted


def test_a_call_an_approval_and_a_cancel_need_no_daemon(own_stage: Stage, work: Path) -> None:
    with own_stage.bridge("--embedded", *POLICY_B, cwd=work) as client:
        client.tool("codex", {"prompt": ASK}, 1)
        client.respond(client.asked()["id"], {"action": "accept"})
        structured = client.answer(1)["result"]["structuredContent"]
        assert structured["content"] == "thanks"
        assert (work / "approved").exists()
        mark = client.mark()
        reply = client.tool("codex-reply", {"threadId": structured["threadId"], "prompt": SLEEP}, 2)
        client.respond(client.asked(after=mark)["id"], {"action": "accept"})
        client.event("exec_command_begin", after=mark)
        client.cancel(reply)
        assert interrupted(client.answer(reply)["result"])
        assert client.leave() < 3.0  # a second, and what a busy machine adds
    assert not Path(own_stage.home.paths.pid_file).exists()
