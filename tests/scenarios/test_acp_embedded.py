"""`greenroom acp --embedded`: the same for an editor, in one process and without a daemon."""

import subprocess
import sys
from pathlib import Path

from tests.scenarios.stage import Stage
from tests.scenarios.test_acp_restarts import ASK, editor


def test_an_editor_has_its_sessions_without_a_daemon_and_finds_them_again(own_stage: Stage, work: Path) -> None:
    with editor(own_stage, "--embedded", *ASK) as client:
        session = client.new(work)
        request = client.prompt(session, 'call shell ["touch","made"]; then; say done')
        client.choose(client.asked()["id"], "approved")
        assert client.answer(request)["result"] == {"stopReason": "end_turn"}
        assert (work / "made").exists()
    with editor(own_stage, "--embedded") as later:
        later.result("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        assert later.text() == "done"
    assert not Path(own_stage.home.paths.pid_file).exists()


def test_beside_a_daemon_it_ends_and_says_why(own_stage: Stage) -> None:
    own_stage.home.launch()
    command = [sys.executable, "-m", "supervisor.cli.acp", "--embedded"]
    ended = subprocess.run(command, env=own_stage.home.env, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 1
    assert ended.stderr.startswith("greenroom acp --embedded: ")


def test_it_introduces_itself_as_the_bridge_does(own_stage: Stage) -> None:
    with editor(own_stage, "--embedded") as embedded:
        own = embedded.introduced
    with editor(own_stage) as bridged:
        assert bridged.introduced == own
