"""`greenroom agents`: what is there, what it says when it is started, and how to get what is missing."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.supervisor.cli.place import Place

AGENT = """
import json, os, sys, time
how = sys.argv[1]
print("Welcome to the agent!", flush=True)
if how == "writes":
    try:
        open(sys.argv[2], "w").close()
    except OSError as error:
        print("closed", file=sys.stderr)
if how == "dies":
    print("no licence", file=sys.stderr)
    sys.exit(3)
if how == "deaf":
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(600)
for line in sys.stdin:
    asked = json.loads(line)
    said = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        said["result"] = {
            "protocolVersion": 1,
            "agentInfo": {"name": "toy", "version": "7"},
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}, "list": None}},
            "authMethods": [{"id": "k", "name": "API key"}],
        }
    elif how == "locked":
        said["error"] = {"code": -32000, "message": "Authentication required"}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {}}), flush=True)
        said["result"] = {
            "sessionId": "s",
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "yolo"}]},
            "configOptions": [{"id": "m", "category": "model", "options": [{"value": "big"}, {"value": "small"}]}],
        }
    print(json.dumps(said), flush=True)
"""


def configure(place: Place, *ways: str, more: str = "") -> None:
    script = place.base / "agent.py"  # Greenroom's own directory is hidden from agents
    script.write_text(AGENT)
    tables = [
        f'[agents.{way}]\ncommand = "{sys.executable}"\nargs = {json.dumps([str(script), way])}\n' for way in ways
    ]
    (place.home / "config.toml").write_text(more + "".join(tables))


def test_all_that_could_be_chosen_is_listed_with_what_is_missing_and_no_daemon_is_started(quiet: Place) -> None:
    configure(quiet, "well", more='agent = "well"\n')
    rows = {row["name"]: row for row in quiet.json("agents", "--json")}
    assert {"greenroom", "well", "claude", "codex", "gemini", "opencode", "goose", "copilot", "cursor"} <= set(rows)
    assert [name for name, row in rows.items() if row["default"]] == ["well"]
    assert (rows["well"]["state"], rows["well"]["login"], rows["well"]["check"]) == ("installed", "unknown", None)
    assert rows["claude"]["state"] == "missing"
    assert rows["claude"]["next"] == "npm install -g @agentclientprotocol/claude-agent-acp"
    assert rows["greenroom"]["state"] == "ready"


def test_a_login_shows_by_a_key_or_a_file_and_where_neither_is_known_it_is_unknown(
    quiet: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(quiet)
    for name in ("codex-acp", "gemini", "goose", "vibe-acp"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setitem(quiet.env, "PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(quiet.env, "CODEX_HOME", str(tmp_path))
    states = {row["name"]: (row["state"], row["sign"]) for row in quiet.json("agents", "--json")}
    assert states["codex"] == ("no login", "")
    assert states["goose"] == ("installed", "")
    assert states["vibe"] == ("installed", "")  # its key may be in a keyring
    (tmp_path / "auth.json").write_text("{}")
    monkeypatch.setitem(quiet.env, "GEMINI_API_KEY", "k")
    states = {row["name"]: (row["state"], row["sign"]) for row in quiet.json("agents", "--json")}
    assert states["codex"] == ("ready", str(tmp_path / "auth.json"))
    assert states["gemini"] == ("ready", "GEMINI_API_KEY")


def test_a_check_starts_it_and_tells_what_it_can(quiet: Place) -> None:
    configure(quiet, "well")
    (row,) = quiet.json("agents", "well", "--check", "--json")
    assert row["state"] == "ready"
    told = row["check"]
    assert (told["program"], told["can"], told["logins"]) == (
        "toy 7",
        ["load sessions", "resume sessions"],
        ["API key"],
    )
    assert (told["modes"], told["models"], told["wrong"]) == (["ask", "yolo"], ["big", "small"], "")
    lines = quiet.said("agents", "well", "--check").splitlines()
    assert lines[0] == "well: well, ready"
    assert "  models    big, small" in lines
    assert "  runs      in the conversation's sandbox, network open" in lines


@pytest.mark.parametrize(
    ("way", "state", "told"),
    [
        ("dies", "failed", "dies has ended: it exited with status 3, and said last: no licence"),
        ("locked", "no login", "Authentication required"),
        ("deaf", "failed", "it did not answer within 1 s"),
    ],
)
def test_a_check_that_fails_says_why_and_leaves_nothing(quiet: Place, way: str, state: str, told: str) -> None:
    configure(quiet, way)
    done = quiet.run("agents", way, "--check", "-t", "1s", "--json", code=1)
    (row,) = json.loads(done.stdout)
    assert (row["state"], row["check"]["wrong"]) == (state, told)
    mine = str(quiet.base / "agent.py").encode()
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if mine in _read(one)]


def test_a_check_is_no_proof_of_a_login_that_nothing_shows(quiet: Place) -> None:
    """Claude Code begins a session without one, and wants it at the first prompt."""
    script = quiet.base / "agent.py"
    script.write_text(AGENT)
    args = json.dumps([str(script), "well"])
    (quiet.home / "config.toml").write_text(f'[agents.claude]\ncommand = "{sys.executable}"\nargs = {args}\n')
    (row,) = quiet.json("agents", "claude", "--check", "--json")
    assert (row["state"], row["login"], row["next"]) == (
        "installed",
        "no",
        "log in: claude /login or greenroom login claude or a key in ANTHROPIC_API_KEY",
    )


@pytest.mark.parametrize(("confine", "written"), [("workspace", False), ("none", True)])
def test_a_check_runs_in_the_sandbox_that_a_conversation_would_have(
    quiet: Place, confine: str, written: bool
) -> None:
    script, escaped = quiet.base / "agent.py", quiet.home / "escaped"
    script.write_text(AGENT)
    args = json.dumps([str(script), "writes", str(escaped)])
    (quiet.home / "config.toml").write_text(
        f'[agents.one]\ncommand = "{sys.executable}"\nargs = {args}\nconfine = "{confine}"\n'
    )
    assert quiet.json("agents", "one", "--check", "--json")[0]["state"] == "ready"
    assert escaped.exists() is written


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_name_that_nobody_has_is_refused_with_the_nearest(quiet: Place) -> None:
    configure(quiet)
    refused = quiet.run("agents", "cluade", code=None)
    assert refused.returncode != 0
    assert "there is no agent 'cluade'; did you mean claude?" in refused.stderr
    assert quiet.run("agents", "claude", code=1).stdout.startswith("claude: Claude Code, missing\n")


def test_a_terminal_of_eighty_columns_shows_whole_commands_that_install_agents(quiet: Place) -> None:
    configure(quiet, "well")
    terminal = quiet.terminal("agents", columns=80)
    assert terminal.end() == 0
    rows = {line.split()[0]: line for line in terminal.screen.splitlines()}
    assert rows["claude"].endswith("  npm install -g @agentclientprotocol/claude-agent-acp")
    assert rows["greenroom"].split("  ")[1] == "ready, default"


def test_an_agent_whose_adapter_is_missing_is_here_all_the_same(
    quiet: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(quiet)
    for name in ("claude", "codex"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setitem(quiet.env, "PATH", f"{tmp_path}:{os.environ['PATH']}")
    rows = {row["name"]: row for row in quiet.json("agents", "--json")}
    adapter = "npm install -g @agentclientprotocol/claude-agent-acp"
    assert rows["claude"]["next"] == f"Claude Code is here, its adapter is not: {adapter}"
    assert rows["claude"]["itself"] == str(tmp_path / "claude")
    assert rows["codex"]["next"].startswith("Codex is here, its adapter is not: npm install")
    said = quiet.run("run", "--agent", "claude", "hello", code=None).stderr
    assert f"Claude Code is here ({tmp_path}/claude), but not its adapter" in said
    assert adapter in said


def test_a_codex_that_works_by_the_key_of_another_provider_is_not_without_a_login(
    quiet: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(quiet)
    (tmp_path / "codex-acp").touch(mode=0o755)
    monkeypatch.setitem(quiet.env, "PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(quiet.env, "CODEX_HOME", str(tmp_path))

    def now() -> tuple[str, str, str]:
        (row,) = [row for row in quiet.json("agents", "--json") if row["name"] == "codex"]
        return row["state"], row["sign"], row["next"]

    assert now() == ("no login", "", "log in: codex login or greenroom login codex or a key in OPENAI_API_KEY")
    (tmp_path / "config.toml").write_text('[model_providers.work]\nname = "w"\nenv_key = "WORK_LLM"\n')
    assert now() == ("installed", "", "")
    for key in ("WORK_LLM", "CODEX_API_KEY", "OPENAI_API_KEY"):
        with monkeypatch.context() as patched:
            patched.setitem(quiet.env, key, "k")
            assert now() == ("ready", key, "")
    (tmp_path / "auth.json").write_text('{"OPENAI_API_KEY": "k"}')
    assert now() == ("ready", str(tmp_path / "auth.json"), "")


def test_a_program_in_a_project_is_no_agent_that_is_here(
    quiet: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(quiet)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gemini").touch(mode=0o755)
    monkeypatch.setitem(quiet.env, "PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    rows = {row["name"]: row for row in json.loads(quiet.run("agents", "--json", cwd=tmp_path).stdout)}
    assert rows["gemini"]["state"] == "missing"
    assert f"only at {tmp_path}/bin/gemini, where turns may write" in rows["gemini"]["next"]
