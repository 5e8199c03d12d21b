"""`greenroom.mcp.*` where people set it: on the bridge's command line, and in the file, read again."""

import subprocess
from pathlib import Path

import pytest

from tests.scenarios.stage import POLICY_A, Stage
from tests.support.line_client import END_S
from tests.support.mcp_client import GREENROOM_MCP, ROOT, McpClient
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

ONLY_CODEX = ("-c", 'greenroom.mcp.tools=["codex"]', "-c", "greenroom.mcp.twin_notifications=false")


def listed(client: McpClient) -> list[str]:
    return [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]


@pytest.mark.parametrize("embedded", [(), ("--embedded",)], ids=["daemon", "embedded"])
def test_settings_of_a_bridge_count_for_its_client_alone(own_stage: Stage, embedded: tuple[str, ...]) -> None:
    with own_stage.bridge(*POLICY_A, *ONLY_CODEX, *embedded) as client:
        assert listed(client) == ["codex"]
        client.result("codex", {"prompt": "say hello"}, 1)
        assert client.told("codex/event")
        assert not client.told("task_complete")
        if not embedded:
            with own_stage.bridge(*POLICY_A) as other:
                assert "codex-reply" in listed(other)
                other.result("codex", {"prompt": "say hello"}, 1)
                assert other.told("task_complete") == other.told("codex/event")[-1:]


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("greenroom.mcp.tools=codex", "greenroom.mcp.tools: expected a list"),
        ('greenroom.mcp.tools=["shell"]', "greenroom.mcp.tools"),
        ("greenroom.mcp.twin_notifications=perhaps", 'expected true, false or "auto"'),
        ("greenroom.mcp.max_sandbox=danger-full-access", "belongs to the daemon, not to one connection"),
        ("greenroom.limits.connections=3", "belongs to the daemon, not to one connection"),
        ("greenroom={mcp={unanswerable_seconds=3}}", "belongs to the daemon, not to one connection"),
        ("greenroom.mcp.tool=1", "belongs to the daemon, not to one connection"),
    ],
)
@pytest.mark.parametrize("embedded", [(), ("--embedded",)], ids=["daemon", "embedded"])
def test_a_setting_that_is_not_for_one_connection_is_refused_before_anything_starts(
    tmp_path: Path, override: str, says: str, embedded: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [*GREENROOM_MCP, "-c", override, *embedded],
        env={"PYTHONPATH": ROOT, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=END_S,
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("greenroom mcp: -c greenroom")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.rglob("journal*")) == []


def test_a_reload_changes_the_tools_of_connections_that_are_there_and_says_so(own_stage: Stage) -> None:
    newest = own_stage.bridge(*POLICY_A, protocol="2025-11-25")
    with newest as client, own_stage.bridge(*POLICY_A, *ONLY_CODEX) as fixed:
        assert len(listed(client)) == len(LISTED_TOOLS)
        client.ask("resources/list")  # which waits for the daemon
        file = own_stage.home.directory / "config.toml"
        file.write_text(file.read_text() + 'tools = ["codex", "codex-reply"]\ntwin_notifications = true\n')
        with own_stage.control() as control:
            told = control.ask("daemon/reload")
        assert {one["key"]: one["live"] for one in told["changes"]} == {
            "greenroom.mcp.tools": True,
            "greenroom.mcp.twin_notifications": True,
        }
        client.notified("notifications/tools/list_changed")
        assert listed(client) == ["codex", "codex-reply"]
        client.result("codex", {"prompt": "say hello"}, 1)
        assert client.told("task_complete")
        assert listed(fixed) == ["codex"]
        assert not fixed.told("notifications/tools/list_changed")
        with own_stage.bridge(*POLICY_A) as new:
            assert listed(new) == ["codex", "codex-reply"]
