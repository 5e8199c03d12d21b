"""The entries for editors that speak MCP, tried as far as possible without the editors.

An editor passes few variables to a server, and those that its entry names. The command of each entry is started that
way, with a daemon of its own, and must create a conversation with the provider whose key the entry passes.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docs.newcomer import expanded
from tests.docs.pages import DOCS, blocks
from tests.support.mcp_client import McpClient

KEY = "sk-of-this-test"
PAGE = DOCS / "how-to" / "editors.md"
PROJECT = "/home/you/project"  # as the page writes it
STRIPPED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")  # all that the SDKs of MCP pass on


class Editor(NamedTuple):
    """The place of an editor's entry, and its way to fill variables in; None: the entry holds the key itself."""

    table: tuple[str, ...]
    fills: Callable[[str], str] | None = None
    members: frozenset[str] = frozenset({"command", "args", "env"})


def _filled(pattern: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, KEY, text)


EDITORS = {
    "Claude Desktop": Editor(("mcpServers",)),
    "Claude Code": Editor(
        ("mcpServers",),
        lambda text: expanded(text, {"OPENAI_API_KEY": KEY}),
        frozenset({"type", "command", "args", "env"}),
    ),
    "VS Code": Editor(
        ("servers",), _filled(r"\$\{input:openai-key\}"), frozenset({"type", "command", "args", "env"})
    ),
    "Cursor": Editor(("mcpServers",), _filled(r"\$\{env:OPENAI_API_KEY\}")),
    "Zed": Editor(("context_servers",)),
    "Gemini CLI": Editor(
        ("mcpServers",), _filled(r"\$OPENAI_API_KEY"), frozenset({"command", "args", "env", "timeout"})
    ),
    "opencode": Editor(("mcp",), _filled(r"\{env:OPENAI_API_KEY\}"), frozenset({"type", "command", "environment"})),
    "Codex": Editor(("mcp_servers",), None, frozenset({"command", "args", "env_vars", "tool_timeout_sec"})),
}


def entry(name: str) -> dict[str, Any]:
    """The page's entry for this editor, which has only members that the editor knows."""
    _, found, section = PAGE.read_text(encoding="utf-8").partition(f"**{name}**: ")
    assert found, f"the page doesn't say how to add it to {name}"
    (block, *_) = (one for one in blocks(section) if one.language in {"json", "toml"})
    assert block.language == ("toml" if name == "Codex" else "json")
    tree = tomllib.loads(block.text) if name == "Codex" else json.loads(block.text)
    assert set(tree) - {"inputs"} == {EDITORS[name].table[0]}
    server: dict[str, Any] = tree[EDITORS[name].table[0]]["greenroom"]
    assert set(server) == EDITORS[name].members
    return server


def command(server: dict[str, Any], project: Path) -> list[str]:
    words = server["command"] if isinstance(server["command"], list) else [server["command"], *server["args"]]
    return [word.replace("${workspaceFolder}", str(project)).replace(PROJECT, str(project)) for word in words]


def passed(name: str, server: dict[str, Any]) -> dict[str, str]:
    """The variables that the entry passes to the server, with their values."""
    if "env_vars" in server:
        return dict.fromkeys(server["env_vars"], KEY)
    named = server.get("environment") or server["env"]
    fills = EDITORS[name].fills
    return {variable: fills(value) if fills else value for variable, value in named.items()}


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gr-ed-", dir="/tmp") as base:
        yield Path(base)


@pytest.mark.parametrize("name", EDITORS)
def test_an_entry_reaches_the_provider_with_its_key_in_the_right_directory(name: str, home: Path) -> None:
    server, project = entry(name), home / "project"
    project.mkdir()
    program, *words = command(server, project)
    assert (program, words[0]) == ("greenroom", "mcp")
    environment = {
        "HOME": str(home), "LOGNAME": "you", "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "SHELL": "/bin/sh", "TERM": "xterm", "USER": "you",
    }  # fmt: skip
    assert tuple(environment) == STRIPPED
    found = shutil.which(program, path=environment["PATH"])
    assert found is not None
    begun_in = home if "-C" in words else project  # an editor with a window begins anywhere
    key = passed(name, server)
    assert set(key) == {"OPENAI_API_KEY"}
    assert "$" not in key["OPENAI_API_KEY"], "a variable that nobody fills in"
    assert "{" not in key["OPENAI_API_KEY"]
    try:
        with McpClient({**environment, **key}, command=[found, *words], cwd=begun_in, elicits=False) as client:
            made = client.answer(client.begin("newConversation", {}))["result"]
        row = json.loads(
            subprocess.run(
                [found, "inspect", made["conversationId"]],
                env=environment, capture_output=True, check=True, text=True,
            ).stdout
        )  # fmt: skip
        assert row["settings"]["provider"] == "openai"
        assert row["settings"]["cwd"] == str(project)
    finally:
        subprocess.run([found, "down", "--now"], env=environment, capture_output=True, check=False)
