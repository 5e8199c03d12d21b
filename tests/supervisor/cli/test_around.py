"""Doctor, service, completion and the tour."""

import os
import plistlib
import re
import shutil
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from supervisor.cli import bridge_verb, checks, demo, mcp, service
from supervisor.cli.app import main
from supervisor.cli.entry import verb_first
from supervisor.daemon.daemon_lock import AlreadyRunning
from tests.faults.daemon_harness import everything
from tests.supervisor.cli.place import PROGRAM, Place, until
from tests.support.confinement import CONFINED

pytestmark = pytest.mark.long(takes_s=20)


def findings(place: Place, code: int) -> dict[str, dict[str, object]]:
    import json

    return {one["what"]: one for one in json.loads(place.run("doctor", "--json", code=code).stdout)}


# --- doctor ---------------------------------------------------------------------------------------------------------


def test_a_healthy_home_has_nothing_broken(place: Place) -> None:
    found = findings(place, 0)
    assert set(found) == {
        "files", "socket", "lock", "version", "processes", "sandbox", "config", "model", "disk", "journal",
        "search",
    }  # fmt: skip
    assert not any(one["broken"] for one in found.values())
    assert place.said("doctor").splitlines()[0].startswith("ok   files ")


def test_a_config_that_makes_no_sense_is_found_with_its_line(quiet: Place) -> None:
    (quiet.home / "config.toml").write_text("\nmodel = 7\n", encoding="utf-8")
    assert "config.toml:2" in str(findings(quiet, 1)["config"]["told"])


def test_a_missing_key_and_an_unreachable_endpoint_are_found(quiet: Place) -> None:
    text = (
        'model_provider = "mine"\n[model_providers.mine]\nname = "mine"\n'
        'base_url = "http://127.0.0.1:1/v1"\nenv_key = "MY_KEY"\n'
    )
    (quiet.home / "config.toml").write_text(text, encoding="utf-8")
    told = quiet.run("doctor", code=1).stdout
    assert "MY_KEY" in told
    assert "127.0.0.1:1 can't be reached" in told


def guard_of(daemon: int) -> int:
    """The guard of this daemon; its command line names the mark of the commands that it is to end."""
    (guard,) = (pid for pid, line in everything([f"={daemon}-".encode()]) if "guard_program.py" in line)
    return guard


def test_processes_of_a_killed_daemon_are_found_and_the_next_one_ends_them(quiet: Place) -> None:
    quiet.run("up")
    quiet.new("run touch started; exec sleep 60", "--sandbox", "danger-full-access", "--approval", "never")
    until((quiet.work / "started").exists)  # its beginning is stored before it is spawned, so that event is too early
    os.kill(guard_of(quiet.pid()), signal.SIGKILL)  # or it would end them before anybody could find them
    quiet.kill()
    found = findings(quiet, 1)
    assert "left running" in str(found["processes"]["told"])
    assert "no daemon answers" in str(found["socket"]["told"])
    quiet.run("up")
    assert not findings(quiet, 0)["processes"]["broken"]


def test_a_full_disk_a_missing_sandbox_and_a_repaired_journal_are_found(
    quiet: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "room_at", lambda _: (str(quiet.home), 5 << 20))
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    found = findings(quiet, 1)
    assert "only 5.0 MiB are free" in str(found["disk"]["told"])
    assert found["disk"]["broken"]
    assert "commands can't be sandboxed" in str(found["sandbox"]["told"])
    assert found["sandbox"]["advice"]
    assert not found["sandbox"]["broken"]  # a person is asked then; see the table of policies
    status = SimpleNamespace(journal_repaired="kept 7 events", log="/log", trouble=None)
    installation = SimpleNamespace(control=SimpleNamespace(status=lambda: status))
    (repaired,) = checks.journal(cast("Any", installation))
    assert repaired == ("the journal was repaired: kept 7 events", "see the log: /log", False)


def test_the_doctor_tells_of_a_journal_that_was_taken_away_and_what_to_do() -> None:
    trouble = "/j was deleted while the daemon had it open; nothing is stored any more; all of it is kept in /k"
    status = SimpleNamespace(journal_repaired=None, log="/log", trouble=trouble)
    (found,) = checks.journal(cast("Any", SimpleNamespace(control=SimpleNamespace(status=lambda: status))))
    assert found == ("/j was deleted while the daemon had it open", "all of it is kept in /k", True)


# --- service --------------------------------------------------------------------------------------------------------


@pytest.fixture
def at_home(quiet: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(sys, "platform", "linux")
    quiet.env["PATH"] = str(quiet.base)  # where there is no systemctl
    return quiet


def test_the_unit_is_a_notify_service_that_ends_in_order(at_home: Place) -> None:
    text = at_home.run("service", "install", "--print").stdout
    for line in ("Type=notify", "KillMode=mixed", "WatchdogSec=30", "Restart=on-failure", "WantedBy=default.target"):
        assert f"{line}\n" in text
    assert f"ExecStart={sys.executable} -m supervisor\n" in text
    assert f'Environment="GREENROOM_HOME={at_home.home}"\n' in text
    if shutil.which("systemd-analyze"):
        env = {**os.environ, "XDG_RUNTIME_DIR": str(at_home.base)}
        file = at_home.work / "greenroom.service"
        file.write_text(text, encoding="utf-8")
        words = ["systemd-analyze", "--user", "verify", str(file)]
        judged = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=20)
        assert (judged.returncode, judged.stderr) == (0, "")


def test_the_unit_names_a_home_with_whatever_systemd_would_take_for_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", '/a b"c%d\\e$f')
    assert 'Environment="GREENROOM_HOME=/a b\\"c%%d\\\\e$f"\n' in service.unit()


def test_install_and_uninstall_write_and_remove_it(at_home: Place) -> None:
    file = at_home.base / ".config" / "systemd" / "user" / "greenroom.service"
    assert at_home.run("service", "status", code=3).stdout == "not installed\n"
    at_home.run("service", "install", "--no-start")
    assert file.read_text(encoding="utf-8") == at_home.run("service", "install", "--print").stdout
    assert "systemctl was not found" in at_home.run("service", "status", code=3).stdout
    assert "systemctl was not found" in at_home.run("service", "install", code=1).stderr
    systemctl = at_home.base / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {at_home.base}/told\n', encoding="utf-8")
    systemctl.chmod(0o755)
    at_home.run("service", "install")
    at_home.run("service", "uninstall")
    told = (at_home.base / "told").read_text(encoding="utf-8").splitlines()
    assert told == [
        "--user daemon-reload",
        "--user enable --now greenroom.service",
        "--user disable --now greenroom.service",
        "--user daemon-reload",
    ]
    assert not file.exists()


def test_the_agent_for_launchd_is_a_property_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENROOM_HOME", "/some/where")
    found = plistlib.loads(service.agent().encode())
    assert found["Label"] == service.LABEL
    assert found["ProgramArguments"] == [sys.executable, "-m", "supervisor"]
    assert (found["RunAtLoad"], found["WorkingDirectory"]) == (True, "/")
    assert found["ExitTimeOut"] == service.STOP_S  # launchd would kill it after 20 s
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["EnvironmentVariables"]["GREENROOM_HOME"] == "/some/where"


# --- mcp and the tour -----------------------------------------------------------------------------------------------


def test_mcp_hands_its_options_to_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, object]] = []

    def run(chosen: Namespace) -> int:
        given.append({**bridge_verb.defaults(chosen), "embedded": chosen.embedded})
        return 0

    monkeypatch.setattr(mcp, "run", run)
    words = ["-C", "/src", "-m", "m", "--sandbox", "read-only", "--approval", "never", "-c", "a.b=1", "--embedded"]
    assert main(["mcp", *words]) == 0
    assert given == [
        {
            "cwd": "/src", "model": "m", "sandbox": "read-only", "approval_policy": "never",
            "config": {"a.b": 1}, "embedded": True,
        }
    ]  # fmt: skip


def test_wrong_words_for_mcp_are_one_line_like_elsewhere(place: Place) -> None:
    program = "import sys; from supervisor.cli.entry import main; sys.exit(main())"
    client = subprocess.run(
        [sys.executable, "-c", program, "mcp", "--nonsense"],
        env=place.env, cwd=place.work, capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip
    assert client.returncode == 2
    expected = "greenroom: unrecognized arguments: --nonsense; `greenroom mcp --help` lists its arguments\n"
    assert client.stderr == expected


@pytest.mark.parametrize("words", ["serve -m m", "-m m serve", "-m m"])
def test_serve_is_the_bridge_as_in_configs_that_were_written_for_codex(words: str) -> None:
    assert bridge_verb.defaults(bridge_verb.parse_options(mcp.verb(), words.split())[0]) == {"model": "m"}


def test_the_tour_shows_everything_and_leaves_nothing(quiet: Place) -> None:
    quiet.env["TMPDIR"] = str(quiet.base)
    began = set(quiet.base.iterdir())
    done = subprocess.run(
        [*PROGRAM, "demo"],
        env=quiet.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
        stdin=subprocess.DEVNULL,
    )
    told = done.stdout
    approval = (": may it run this command?", "second terminal", "approved by greenroom approve")
    approval_unconfined = (
        "waits for an approval",
        "date > /dev/null",
        "second terminal",
        ": approved",
        "careful: completed",
    )
    shown_in_order = (
        "up: pid", "[>] write", "+buy milk", "  buy milk",
        *(approval if CONFINED.ok else approval_unconfined), "interrupted by greenroom interrupt", "kill -9",
        "the daemon is not running", " conversation", "lost: ", "Here we are again", "down",
    )  # fmt: skip
    at = 0
    for text in shown_in_order:
        at = told.find(text, at)
        assert at >= 0, (text, told)
    assert set(quiet.base.iterdir()) == began


@pytest.mark.parametrize("on_path", [True, False])
def test_the_last_commands_of_the_tour_work_in_the_shell_that_started_it(
    quiet: Place, monkeypatch: pytest.MonkeyPatch, on_path: bool
) -> None:
    """Also behind `make demo`, which calls the program by its place."""
    programs = str(Path(sys.executable).parent)
    outside = [one for one in quiet.env["PATH"].split(":") if not (Path(one) / "greenroom").exists()]
    quiet.env["PATH"] = ":".join([programs, *outside] if on_path else outside)
    monkeypatch.setenv("PATH", quiet.env["PATH"])
    commands = demo.next_commands().splitlines()
    assert commands[0] == f"  {'greenroom' if on_path else Path(programs) / 'greenroom'} up"
    for command in commands:
        done = subprocess.run(command, shell=True, env=quiet.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)
    quiet.run("down", "--now")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["-m", "m", "mcp-server"], ["mcp-server", "-m", "m"]),
        (["-c", "a=1", "--profile=p", "--oss", "mcp", "-x"], ["mcp", "-c", "a=1", "--profile=p", "--oss", "-x"]),
        (["--json", "ls"], ["ls", "--json"]),
        (["run", "-m", "x"], ["run", "-m", "x"]),
        (["-V"], ["-V"]),
        (["--help"], ["--help"]),
        (["-m"], ["-m"]),
        ([], []),
    ],
)
def test_options_may_stand_before_the_verb(words: list[str], meant: list[str]) -> None:
    assert verb_first(words) == meant


def test_the_bridge_knows_the_options_by_the_names_that_codex_has_for_them() -> None:
    words = ["--cd", "/w", "--model", "m", "-p", "p", "-s", "read-only", "-a", "never", "--config", "a=1"]
    assert bridge_verb.defaults(bridge_verb.parse_options(mcp.verb(), words)[0]) == {
        "cwd": "/w", "model": "m", "profile": "p", "sandbox": "read-only", "approval_policy": "never",
        "config": {"a": 1},
    }  # fmt: skip


@pytest.mark.parametrize("columns", [80, 60])
def test_the_tour_stays_within_its_window(quiet: Place, columns: int) -> None:
    """Only an error may be wider: any other wide line would be broken inside a word."""
    quiet.env["TMPDIR"] = str(quiet.base)
    tour = quiet.terminal("demo", columns=columns, rows=24)
    assert tour.end() == 0
    written = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", tour.written)
    lines = [line.rpartition("\r")[2] for line in written.replace("\r\n", "\n").split("\n")]
    wide = [line for line in lines if len(line) > columns and not line.startswith("greenroom: ")]
    assert not wide, wide
    titles = [line for line in lines if line.startswith("# ")]
    assert len(titles) == 6
    commands = [line for line in lines if line.startswith(("$ ", "second terminal $ "))]
    assert len(commands) > len(titles), "a command begins a line of its own, also where one interrupts another"
    assert any(line.startswith("second terminal $ greenroom interrupt") for line in commands)


def test_a_lock_that_outlives_its_daemon_for_a_moment_is_no_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = AlreadyRunning(f"pid {2**22 - 3}, socket /s")
    found = [dead, dead, None]
    monkeypatch.setattr(checks, "lock_holder", lambda _: found.pop(0))
    assert checks._holder() is None
    assert found == []
