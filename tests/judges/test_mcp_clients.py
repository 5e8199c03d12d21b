"""Agent frameworks call `greenroom mcp`: a long turn, questions, a cancel, a killed daemon, and a second turn.

Each run writes the client's row of docs/mcp-clients.md, if `make judges` asks for it (JUDGES_WRITE).
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.judges.clients.steps import sleeping
from tests.judges.installed import HERE, ROOT, judge, judged, needs
from tests.scenarios.stage import Stage
from tests.support.bridge import wait_until
from tests.support.model_server import ModelServer
from transports.dialects.mcp.introduction import LISTED

CLIENTS = {
    "fastmcp": (".venv", "FastMCP"),
    "openai_agents": (".venv", "OpenAI Agents"),
    "pydantic_ai": (".venv", "Pydantic AI"),
    "langchain": (".venv-langchain", "LangChain adapters"),
}
DISTRIBUTIONS = {
    "fastmcp": "fastmcp",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
    "langchain": "langchain-mcp-adapters",
}
SAY_NO_CANCEL = {"langchain"}  # Python SDK 1 tells nobody that a task was cancelled
PAGE = ROOT / "docs" / "mcp-clients.md"
SHORT, LONG = 7, 70  # seconds; the shorter is already longer than the shortest patience


def environment(client: str) -> Path:
    return HERE / CLIENTS[client][0] / "bin" / "python"


def version(client: str) -> str:
    program = f"from importlib.metadata import version; print(version({DISTRIBUTIONS[client]!r}))"
    return subprocess.check_output([environment(client), "-c", program], text=True).strip()


def clients() -> list[Any]:
    return [
        pytest.param(client, seconds, marks=[needs(environment(client)), *more])
        for client in CLIENTS
        for seconds, more in ((SHORT, []), (LONG, [pytest.mark.soak(takes_s=100), pytest.mark.timeout(200)]))
    ]


@pytest.mark.parametrize(("client", "seconds"), clients())
def test_a_framework_goes_all_the_way(client: str, seconds: int, tmp_path: Path) -> None:
    with ModelServer() as model:
        stage = Stage(tmp_path, model, 'max_sandbox = "danger-full-access"')
        server = judged(tmp_path, stage.home.directory)
        program = HERE / "clients" / f"{client}_client.py"
        words = [environment(client), program, server, seconds, stage.home.paths.pid_file]
        report = json.loads(judge(words, tmp_path, limit_s=seconds + 50.0).splitlines()[-1])
        assert report["listed"] == list(LISTED)
        assert "rested" in report["long"]
        assert report["seen"], "the model does not see the conversation's id"
        assert (tmp_path / "accepted").exists()
        assert not (tmp_path / "declined").exists()
        assert "never" not in report["cancelled"]
        assert "never" not in report["killed"]
        assert "again" in report["second"]
        assert report["ended"] is (client not in SAY_NO_CANCEL)
        wait_until(lambda: not (sleeping("61") or sleeping("62")), "a command was left behind")
        stage.close()
    _note(client, report, seconds)


def _note(client: str, report: dict[str, Any], seconds: int) -> None:
    """Write the client's row of the table."""
    if not os.environ.get("JUDGES_WRITE"):
        return
    name = CLIENTS[client][1]
    killed = "names the conversation" if re.search("threadId|codex-reply", report["killed"]) else "an error"
    asked = "its own dialog" if client in {"fastmcp", "pydantic_ai"} else "by `answer_approval`"
    ended = "ends its turn" if report["ended"] else "is not told to us; its turn goes on"
    row = f"| {name} | {version(client)} | yes | {seconds} s | {asked} | {ended} | {killed} | yes |"
    lines = PAGE.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(f"| {name} |")]
    last = max(number for number, line in enumerate(kept) if line.startswith("|"))
    PAGE.write_text("\n".join([*kept[: last + 1], row, *kept[last + 1 :]]) + "\n")
