"""The settings that a bridge reads before a daemon has read the config are those that the daemon has."""

from pathlib import Path

import pytest

from supervisor.config.load import load
from supervisor.config.single_settings import listed_tools
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

FILES = [
    "",
    '[greenroom.mcp]\ntools = ["codex", "answer_approval"]\n',
    "\ufeff[greenroom.mcp]\ntools = []\n",
    '"gr\\u0065enroom" = {mcp = {"t\\u006fols" = ["codex-reply"]}}\n',
    '[greenroom]\nmcp.tools = ["codex"]\n[mcp_servers.tools]\ncommand = "x"\n',
    '[profiles.p]\nmodel = "tools"\n',
]


def environment(home: Path) -> dict[str, str]:
    return {"GREENROOM_HOME": str(home), "HOME": str(home)}


@pytest.mark.parametrize("text", FILES)
def test_the_tools_are_those_of_the_config_as_a_whole(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    environ = environment(tmp_path)
    assert tuple(listed_tools({}, environ, LISTED_TOOLS) or ()) == load(environ=environ).config.greenroom.mcp.tools


def test_without_a_file_they_are_the_usual_ones_and_a_file_of_codex_has_no_say(tmp_path: Path) -> None:
    environ = environment(tmp_path)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('[greenroom.mcp]\ntools = ["codex"]\n')
    assert tuple(listed_tools({}, environ, LISTED_TOOLS) or ()) == load(environ=environ).config.greenroom.mcp.tools


def test_the_settings_of_the_connection_go_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(FILES[1])
    assert listed_tools({"tools": ["codex-reply"]}, environment(tmp_path), LISTED_TOOLS) == ["codex-reply"]


@pytest.mark.parametrize(
    "content", [b"tools = [", b"\xfftools", b"greenroom = 3\ntools = 1\n", b"[greenroom.mcp]\ntools = 'codex'\n"]
)
def test_a_file_that_is_no_config_is_left_to_the_daemon(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    assert listed_tools({}, environment(tmp_path), LISTED_TOOLS) is None


def test_a_file_that_can_not_be_read_is_left_to_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert listed_tools({}, environment(tmp_path), LISTED_TOOLS) is None
