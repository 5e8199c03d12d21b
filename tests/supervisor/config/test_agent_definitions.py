"""The agents that a config and a PATH come to: which can be started, how, and what is said of one that can't."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.errors import ConfigError
from supervisor.config.agent_definitions import agent_named, definition_of
from supervisor.config.load import layer, load, read_file
from supervisor.work.reach.known_agents import KNOWN_AGENTS


def program(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def environ(tmp_path: Path, **more: str) -> Mapping[str, str]:
    return {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), **more}


def config(**tree: Any) -> Any:
    return layer(read_file(None), tree).config


def refused(**tree: Any) -> str:
    with pytest.raises(ConfigError) as refusal:
        config(**tree)
    return refusal.value.message


def test_a_known_agent_needs_no_table_only_its_program_on_the_path_of_the_client(tmp_path: Path) -> None:
    claude = program(tmp_path / "bin", "claude-agent-acp")
    found = definition_of("claude", config(), environ(tmp_path))
    assert found.argv == (claude,)
    assert (found.title, found.network, found.confine, found.mode) == ("Claude Code", True, "workspace", None)
    assert found.own == (tmp_path / ".claude", tmp_path / ".claude.json")
    assert found.mcp_servers == {}


def test_an_older_adapter_counts_where_the_newer_is_missing_and_no_longer_once_both_are_there(tmp_path: Path) -> None:
    older = program(tmp_path / "bin", "claude-code-acp")
    assert definition_of("claude", config(), environ(tmp_path)).argv == (older,)
    newer = program(tmp_path / "bin", "claude-agent-acp")
    assert definition_of("claude", config(), environ(tmp_path)).argv == (newer,)


def test_its_own_directories_are_where_its_variables_put_them(tmp_path: Path) -> None:
    program(tmp_path / "bin", "codex-acp")
    found = definition_of("codex", config(), environ(tmp_path, CODEX_HOME="/elsewhere/codex"))
    assert found.own == (Path("/elsewhere/codex"),)


@pytest.mark.parametrize("opened", ["/", "{home}", "{home}/.."])
def test_a_variable_that_names_the_whole_home_opens_nothing(tmp_path: Path, opened: str) -> None:
    home = tmp_path / "home"
    program(tmp_path / "bin", "codex-acp")
    around = environ(tmp_path, HOME=str(home), CODEX_HOME=opened.format(home=home))
    assert definition_of("codex", config(), around).own == ()


def test_a_table_of_a_known_agent_changes_only_what_it_sets(tmp_path: Path) -> None:
    gemini = program(tmp_path / "bin", "gemini")
    tables = {"gemini": {"env": {"A": "1"}, "writable": [str(tmp_path / "w")], "network": False}}
    found = definition_of("gemini", config(agents=tables), environ(tmp_path))
    assert found.argv == (gemini, "--acp")
    assert (found.env, found.network) == ({"A": "1"}, False)
    assert found.own == (tmp_path / ".gemini", tmp_path / "w")
    replaced = {"gemini": {"args": ["--acp", "--debug"]}}
    assert definition_of("gemini", config(agents=replaced), environ(tmp_path)).argv[1:] == ("--acp", "--debug")


def test_an_agent_of_ones_own_is_a_command_with_arguments_and_the_servers_it_is_handed(tmp_path: Path) -> None:
    mine = program(tmp_path / "tools", "mine")
    tables = {"mine": {"command": "~/tools/mine", "args": ["-x"], "mcp_servers": ["db"], "confine": "none"}}
    made = config(agents=tables, mcp_servers={"db": {"command": "db"}, "other": {"command": "o"}})
    found = definition_of("mine", made, environ(tmp_path))
    assert (found.name, found.argv, list(found.mcp_servers), found.confine) == ("mine", (mine, "-x"), ["db"], "none")


def test_one_that_is_not_installed_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"claude-agent-acp or claude-code-acp is not on the PATH; install .*`npm"):
        definition_of("claude", config(), environ(tmp_path))
    with pytest.raises(ConfigError, match=r"'/no/such' is no program there; agents\.mine\.command in the config"):
        definition_of("mine", config(agents={"mine": {"command": "/no/such"}}), environ(tmp_path))


def test_a_program_is_never_looked_for_in_the_directory_where_something_happens_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "codex-acp")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", ":"):
        with pytest.raises(ConfigError, match="not installed"):
            definition_of("codex", config(), environ(tmp_path, PATH=path))


def test_a_misspelt_name_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(ConfigError, match=r"there is no agent 'cluade'; did you mean claude\? `greenroom agents`"):
        agent_named("cluade", config())
    assert agent_named("greenroom", config()) == ""
    assert agent_named("opencode", config()) == "opencode"


def test_the_default_agent_is_checked_when_the_file_is_read_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('\nagent = "cluade"\n')
    with pytest.raises(ConfigError, match=r"config.toml:2: `agent`: there is no agent `cluade`; expected one of gre"):
        load(str(file), environ={})
    assert "there is no agent `nobody`" in refused(agent="nobody")
    assert config(agent="mine", agents={"mine": {"command": "m"}}).agent == "mine"


def test_a_table_that_can_be_no_agent_is_refused_by_name() -> None:
    assert "`agents.mine`: expected `command`, because this is none of the known" in refused(agents={"mine": {}})
    assert "choose another name" in refused(agents={"greenroom": {"command": "x"}})
    assert "at most 40 letters" in refused(agents={"a b": {"command": "x"}})
    assert "there is no `[mcp_servers.db]`; none is defined" in refused(agents={"claude": {"mcp_servers": ["db"]}})


def test_the_roles_of_subagents_in_a_file_of_codex_are_no_agents_of_ours(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        'agent = "x"\n[agents]\nmax_threads = 3\n[agents.reviewer]\ndescription = "d"\n'
    )
    loaded = load(environ={"HOME": str(tmp_path / "none"), "CODEX_HOME": str(tmp_path)})
    assert (loaded.config.agents, loaded.config.agent, loaded.warnings) == ({}, None, ())


def test_every_known_agent_says_how_to_install_it_and_how_to_log_in_and_keeps_to_its_own_places() -> None:
    for name, known in KNOWN_AGENTS.items():
        assert known.install, name
        assert known.login, name
        assert known.starts, name
        assert known.places, name
        for way in (way for place in (*known.places, *known.signs) for way in place):
            assert way.startswith(("~/.", "$")), (name, way)
