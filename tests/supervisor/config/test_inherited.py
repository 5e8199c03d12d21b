"""The things that an agent brings by itself, as its files say them, and no secret of them."""

import json
from pathlib import Path

import pytest

from supervisor.config.inherited_things import MOST_NAMES, MOST_THINGS, READ_BYTES, find_inherited
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from transports.supervisor_answers import InheritedThing


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "shop/part"
    folder.mkdir(parents=True)
    return folder


def put(file: Path, content: object) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def test_claude_brings_servers_hooks_rules_instructions_and_skills_by_name_and_no_value(
    home: Path, cwd: Path
) -> None:
    secret = {"command": "x", "env": {"TOKEN": "sekret"}}
    own = put(
        home / ".claude/settings.json",
        {
            "hooks": {"PreToolUse": [{"command": "sekret"}]},
            "permissions": {"allow": ["a", "b"], "defaultMode": "auto"},
        },
    )
    state = put(
        home / ".claude.json",
        {"mcpServers": {"db": secret}, "projects": {str(cwd): {"mcpServers": {"mine": secret}}}},
    )
    project = put(cwd / ".mcp.json", {"mcpServers": {"web": secret}})
    words = put(cwd.parent / "CLAUDE.md", "be kind")
    put(home / ".claude/skills/tidy/SKILL.md", "sekret")
    found = find_inherited("claude", {"HOME": str(home)}, cwd)
    assert found == (
        InheritedThing("hooks: PreToolUse", own),
        InheritedThing("its own mode: auto", own),
        InheritedThing("rules of its own: 2 allow", own),
        InheritedThing("MCP servers: db", state),
        InheritedThing("MCP servers: mine", state),
        InheritedThing("MCP servers: web", project),
        InheritedThing("instructions", words),
        InheritedThing("skills: tidy", str(home / ".claude/skills")),
    )


def test_codex_brings_what_its_toml_says_from_where_its_variable_says(home: Path, cwd: Path) -> None:
    file = put(
        home / "elsewhere/config.toml",
        'sandbox_mode = "danger-full-access"\nnotify = ["sekret"]\n[mcp_servers.db]\nurl = "sekret"\n',
    )
    words = put(cwd / "AGENTS.md", "x")
    found = find_inherited("codex", {"HOME": str(home), "CODEX_HOME": str(home / "elsewhere")}, cwd)
    assert found == (
        InheritedThing("MCP servers: db", file),
        InheritedThing("a program that it notifies (1)", file),
        InheritedThing("its own sandbox mode: danger-full-access", file),
        InheritedThing("instructions", words),
    )


def test_a_file_that_can_not_be_read_is_said_and_stops_nothing(home: Path, cwd: Path) -> None:
    broken = put(home / ".gemini/settings.json", "{")
    large = put(cwd / ".gemini/settings.json", "[" * (READ_BYTES + 1))
    words = put(cwd / "GEMINI.md", "x")
    assert find_inherited("gemini", {"HOME": str(home)}, cwd) == (
        InheritedThing("settings that can't be read here", broken),
        InheritedThing("settings that can't be read here", large),
        InheritedThing("instructions", words),
    )


def test_many_names_are_counted_and_many_things_cut_off(home: Path, cwd: Path) -> None:
    put(home / ".config/opencode/opencode.json", {"mcp": {f"server{n}": {} for n in range(MOST_NAMES + 3)}})
    (one,) = find_inherited("opencode", {"HOME": str(home)}, cwd)
    assert one.what.endswith(f"server{MOST_NAMES - 1} and 3 more")
    assert MOST_THINGS >= 100


def test_a_home_without_anything_brings_nothing_for_any_agent(home: Path, cwd: Path) -> None:
    for name in (*KNOWN_AGENTS, "of my own"):
        assert find_inherited(name, {"HOME": str(home)}, cwd) == ()
        assert find_inherited(name, {}, cwd) == ()
