"""A yes of a client that knows one yes: it means in the sandbox, and what that held back is asked about by itself."""

from pathlib import Path

import pytest

from tests.scenarios.stage import Stage
from tests.scenarios.test_tool_calls import runs
from tests.support.confinement import confinable

pytestmark = confinable


@pytest.mark.parametrize(("sandbox", "again"), [("read-only", "approved"), ("workspace-write", "denied")])
def test_codex_s_yes_runs_it_inside_and_the_question_of_outside_follows(
    stage: Stage, work: Path, sandbox: str, again: str
) -> None:
    """No command makes a repository in the sandbox: its hooks and configuration would be obeyed outside."""
    with stage.bridge("--approval", "untrusted", "--sandbox", sandbox, cwd=work) as client:
        client.tool("codex", {"prompt": f"{runs('git', 'init')}; then; say over"}, 1)
        first = client.asked()
        assert first["params"]["message"] == f"Allow Codex to run `git init` in `{work}`?"
        client.respond(first["id"], {"decision": "approved"})
        second = client.wait(
            lambda line: line.get("method") == first["method"] and line["id"] != first["id"], "again"
        )
        told = second["params"]["message"]
        assert "  it failed: exit code " in told
        assert "  outside the sandbox" in told
        assert not (work / ".git" / "HEAD").exists()
        client.respond(second["id"], {"decision": again})
        client.answer(1)
        assert (work / ".git" / "HEAD").exists() == (again == "approved")
