"""`greenroom login`: a key is asked for and stored, an agent's own login is run, and nothing is shown or sent."""

import stat
import sys
from pathlib import Path

import pytest

from supervisor.config.load import load
from supervisor.config.providers import choose_provider
from supervisor.config.stored_keys import StoredKeys, read_keys, write_keys
from tests.supervisor.cli.place import Place, Terminal

KEY = "sk-proj-Abc_123.x/y=="


def stored(place: Place) -> StoredKeys:
    return read_keys(place.env)


def logged_in(place: Place, typed: str, *words: str) -> str:
    """Type this when the key is asked for; returns all that the terminal has shown."""
    terminal = place.terminal("login", *words)
    terminal.expect("(not shown): ")
    assert not terminal.local_echo()
    terminal.send(typed)
    assert terminal.end() == 0
    return terminal.written


def test_a_key_is_stored_for_its_owner_alone_and_never_shown(quiet: Place) -> None:
    assert KEY not in logged_in(quiet, f"{KEY}\n", "anthropic")
    assert stored(quiet) == StoredKeys("anthropic", {"ANTHROPIC_API_KEY": KEY})
    file = quiet.home / "state" / "keys.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.glob("keys.json*")] == ["keys.json"]


def test_the_provider_that_was_chosen_is_used_where_the_config_names_none(quiet: Place) -> None:
    (quiet.home / "config.toml").write_text("")
    logged_in(quiet, f"{KEY}\n", "openrouter")
    logged_in(quiet, f"{KEY}2\n", "anthropic")
    config = load(environ=quiet.env).config
    assert choose_provider(config, {"OPENAI_API_KEY": "of the shell"}).provider.id == "anthropic"
    assert choose_provider(config, {}).provider.api_key({}) == f"{KEY}2"
    assert choose_provider(config, {}).provider.api_key({"ANTHROPIC_API_KEY": "of the shell"}) == "of the shell"
    (quiet.home / "config.toml").write_text('model_provider = "openrouter"\n')
    assert choose_provider(load(environ=quiet.env).config, {}).provider.api_key({}) == KEY


def test_a_config_that_names_another_provider_is_said_to_go_first(quiet: Place) -> None:
    assert 'model_provider = "demo"' in logged_in(quiet, f"{KEY}\n", "openai")


def test_a_daemon_that_runs_uses_the_key_at_once(place: Place) -> None:
    (place.home / "config.toml").write_text(
        'model_provider = "mine"\n[model_providers.mine]\nbase_url = "http://127.0.0.1:9"\nenv_key = "MINE"\n'
        "request_max_retries = 0\n"
    )
    try:
        place.run("reload")
        assert "MINE" in place.run("run", "hello", code=None).stderr
        logged_in(place, f"{KEY}\n", "mine")
        assert "MINE" not in place.run("run", "hello", code=None).stderr
        assert KEY not in place.run("config", "get").stdout
    finally:
        (place.home / "config.toml").write_text('model_provider = "demo"\n')
        place.run("reload")


@pytest.mark.parametrize("pasted", [f"  {KEY} \n", f"{KEY}\nrm -rf /\nmore\n", f"{KEY}\r\n"])
def test_a_paste_is_a_key_without_what_surrounds_it(quiet: Place, pasted: str) -> None:
    logged_in(quiet, pasted, "openai")
    assert stored(quiet).keys == {"OPENAI_API_KEY": KEY}


def test_an_impossible_key_is_asked_for_again_and_then_given_up(quiet: Place) -> None:
    terminal = quiet.terminal("login", "openai")
    for wrong in ("", "two words", "schlüssel"):
        terminal.expect("(not shown): ")
        terminal.send(f"{wrong}\n")
    terminal.expect("no key was entered, so nothing was stored")
    assert terminal.end() == 2
    assert stored(quiet) == StoredKeys()


def test_ctrl_c_stores_nothing_and_leaves_the_terminal_as_it_was(quiet: Place) -> None:
    terminal = quiet.terminal("login", "openai")
    terminal.expect("(not shown): ")
    terminal.send("sk-half\x03")
    terminal.process.wait(10)
    assert terminal.local_echo()
    assert terminal.end() == 130
    assert "Traceback" not in terminal.written
    assert stored(quiet) == StoredKeys()


def test_the_end_of_the_input_stores_nothing(quiet: Place) -> None:
    terminal = quiet.terminal("login", "openai")
    terminal.expect("(not shown): ")
    terminal.send("\x04")
    assert terminal.end() == 1
    assert "nothing was stored" in terminal.written


def test_without_a_name_all_are_listed_in_80_columns_and_a_number_or_a_name_chooses(quiet: Place) -> None:
    terminal = quiet.terminal("login")
    terminal.expect("Number or name: ")
    assert all(len(line) <= 80 for line in terminal.written.splitlines())
    terminal.send("0\n")
    terminal.expect("Number or name: ")
    terminal.send("anthropic\n")
    terminal.expect("Key of Anthropic (not shown): ")
    terminal.send(f"{KEY}\n")
    assert terminal.end() == 0


def test_a_name_that_an_agent_has_too_is_asked_about(quiet: Place) -> None:
    terminal = quiet.terminal("login", "gemini")
    terminal.expect("Number or name: ")
    terminal.send("1\n")
    terminal.expect("Key of Gemini (not shown): ")
    terminal.send(f"{KEY}\n")
    assert terminal.end() == 0


def test_a_provider_and_an_agent_of_one_name_are_one_line_and_then_asked_about(quiet: Place) -> None:
    terminal = quiet.terminal("login")
    terminal.expect("Number or name: ")
    assert len([line for line in terminal.written.splitlines() if " gemini " in line]) == 1
    terminal.send("gemini\n")
    terminal.expect("Gemini CLI, by `gemini`")
    terminal.expect("Number or name: ")
    terminal.send("1\n")
    terminal.expect("Key of Gemini (not shown): ")
    terminal.send(f"{KEY}\n")
    terminal.expect("Gemini CLI logs in by `greenroom login gemini`, or by GEMINI_API_KEY")
    assert terminal.end() == 0


def test_a_provider_without_a_key_is_chosen_at_once(quiet: Place) -> None:
    terminal = quiet.terminal("login", "ollama")
    terminal.expect("needs no key")
    assert terminal.end() == 0
    assert stored(quiet).provider == "ollama"


def test_a_forgotten_key_is_gone_and_others_stay(quiet: Place) -> None:
    write_keys(StoredKeys("openai", {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}), quiet.env)
    quiet.run("login", "--forget", "openai")
    assert stored(quiet) == StoredKeys("", {"ANTHROPIC_API_KEY": "b"})
    assert "no key is stored" in quiet.run("login", "--forget", "openai", code=1).stderr
    quiet.run("login", "--forget")
    assert stored(quiet) == StoredKeys()


def test_without_a_terminal_it_says_what_to_do_instead(quiet: Place) -> None:
    said = quiet.run("login", "openai", code=2, text=f"{KEY}\n").stderr
    assert "this is none" in said
    assert "OPENAI_API_KEY" in said


def test_an_unknown_name_is_a_usage_error_that_names_a_near_one(quiet: Place) -> None:
    said = quiet.run("login", "antropic", code=2).stderr
    assert "'antropic'" in said
    assert "anthropic" in said.replace("'antropic'", "")


def test_a_file_that_is_not_ours_is_a_warning_to_all_and_an_error_to_login(quiet: Place) -> None:
    write_keys(StoredKeys(), quiet.env)
    (quiet.home / "state" / "keys.json").write_text("[]")
    assert any("keys.json" in warning for warning in load(environ=quiet.env).warnings)
    assert "keys.json" in quiet.run("login", "--forget", code=1).stderr


def agent(place: Place, name: str, script: str) -> None:
    """Install a program of this name, for this place alone."""
    folder = place.base / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    place.env["PATH"] = f"{folder}:{place.env['PATH']}"


def test_an_agent_logs_in_by_its_own_command_in_this_terminal(quiet: Place) -> None:
    agent(quiet, "codex", 'test -t 0 && test "$1" = login && read code && echo "got $code"')
    terminal = quiet.terminal("login", "codex")
    terminal.expect("starting `codex login`")
    terminal.send("1234\n")
    terminal.expect("got 1234")
    assert terminal.end() == 0


def test_ctrl_c_is_for_the_agents_login_which_says_how_it_ended(quiet: Place) -> None:
    agent(quiet, "codex", "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done")
    terminal = quiet.terminal("login", "codex")
    terminal.expect("ready")
    terminal.send("\x03")
    terminal.expect("exit code 7")
    assert terminal.end() == 1


def test_an_agent_that_is_not_here_is_named_with_the_way_to_install_it(quiet: Place) -> None:
    quiet.env["PATH"] = str(Path(__file__).parent)
    terminal = quiet.terminal("login", "codex")
    terminal.expect("codex is not installed")
    assert terminal.end() == 1


def test_an_editor_starts_it_behind_the_arguments_of_its_own(quiet: Place) -> None:
    agent(quiet, "codex", 'echo "args: $*"')
    entry = "import sys; from supervisor.cli.entry import main; sys.exit(main())"
    command = [sys.executable, "-c", entry, "acp", "--agent", "codex", "login"]
    terminal = Terminal(command, quiet.env, quiet.work, 80, 24)
    terminal.expect("args: login")
    assert terminal.end() == 0


def test_no_key_is_in_what_is_printed_of_it() -> None:
    assert "secret" not in repr(StoredKeys("p", {"X": "secret"})) + str(StoredKeys("p", {"X": "secret"}))
