"""Clients of other projects talk to `greenroom mcp` over stdio."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.judges.installed import HERE, MODULES, NODE, PYTHON, judge, judged, needs, package
from tests.judges.reports import approve_of
from tests.scenarios.stage import Stage
from tests.support.model_server import ModelServer

CODEX = MODULES / ".bin" / "codex"
INSPECTOR = MODULES / ".bin" / "mcp-inspector"
SDKS = {"sdk": package("@modelcontextprotocol/sdk"), "client": package("@modelcontextprotocol/client")}


def last(said: str) -> Any:
    """The report in the last line; the SDKs may print before it."""
    return json.loads(said.splitlines()[-1])


@needs(PYTHON)
@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_python_sdk_is_content(mode: str, revision: str, server: Path, tmp_path: Path) -> None:
    report = last(judge([PYTHON, HERE / "python_sdk.py", mode, server], tmp_path))
    assert report["revision"] == revision
    approve_of(report)


@needs(NODE, *SDKS.values())
@pytest.mark.parametrize("generation", SDKS)
def test_the_typescript_sdk_is_content(generation: str, server: Path, tmp_path: Path) -> None:
    report = last(judge([NODE, HERE / "typescript.mjs", generation, server], tmp_path))
    approve_of(report)
    kinds = report["events"]
    assert kinds[0] == "session_configured"
    assert kinds.count("task_complete") == 3
    assert kinds.count("turn_aborted") <= 1  # it stops listening when it cancels


@needs(NODE, SDKS["client"])
def test_the_typescript_sdk_is_content_without_a_handshake(server: Path, tmp_path: Path) -> None:
    report = last(judge([NODE, HERE / "typescript.mjs", "stateless", server], tmp_path))
    assert report["revision"] == "2026-07-28"
    assert report["events"] == []
    approve_of(report)


@needs(NODE, SDKS["sdk"])
def test_it_is_content_without_a_daemon_too(stage: Stage, tmp_path: Path) -> None:
    alone = Stage(tmp_path, stage.model, "progress_seconds = 0.2", 'max_sandbox = "danger-full-access"')
    embedded = judged(tmp_path, alone.home.directory, "supervisor.cli.app mcp", "--embedded")
    approve_of(last(judge([NODE, HERE / "typescript.mjs", "sdk", embedded], tmp_path)))
    alone.close()


@needs(NODE, INSPECTOR)
def test_the_inspector_lists_calls_and_reads(server: Path, tmp_path: Path) -> None:
    def inspect(*words: str) -> Any:
        return json.loads(judge([NODE, INSPECTOR, "--cli", server, *words], tmp_path))

    assert inspect("--method", "tools/list")["tools"][0]["name"] == "codex"
    called = inspect("--method", "tools/call", "--tool-name", "codex", "--tool-arg", "prompt=say inspected")
    thread = called["structuredContent"]["threadId"]
    assert called["content"][0] == {"type": "text", "text": "inspected"}
    uris = [one["uri"] for one in inspect("--method", "resources/list")["resources"]]
    assert f"greenroom://conversation/{thread}" in uris


CODEX_CONFIG = """
model = "judge"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "{base_url}"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.greenroom]
command = "{server}"
default_tools_approval_mode = "approve"
"""


@needs(NODE, CODEX)
def test_codex_calls_us_as_one_of_its_tools(stage: Stage, server: Path, tmp_path: Path) -> None:
    arguments = json.dumps({"prompt": "say from inside"})
    call = {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "namespace": "mcp__greenroom",
        "name": "codex",
        "arguments": arguments,
    }
    item = json.dumps({"type": "response.output_item.done", "output_index": 0, "item": call})
    with ModelServer(script=f"raw {item}; then; say all done") as outer:
        home = tmp_path / "codex"
        home.mkdir()
        (home / "config.toml").write_text(CODEX_CONFIG.format(base_url=outer.base_url, server=server))
        command = [NODE, CODEX, "exec", "--skip-git-repo-check", "--json", "call it"]
        lines = [json.loads(line) for line in judge(command, tmp_path, {"CODEX_HOME": str(home)}).splitlines()]
    done = [line["item"] for line in lines if line["type"] == "item.completed"]
    (called,) = [item for item in done if item["type"] == "mcp_tool_call"]
    assert (called["server"], called["tool"], called["status"]) == ("greenroom", "codex", "completed")
    assert called["result"]["content"][0] == {"type": "text", "text": "from inside"}
    assert [item["text"] for item in done if item["type"] == "agent_message"] == ["all done"]
    assert stage.asked("say from inside")
