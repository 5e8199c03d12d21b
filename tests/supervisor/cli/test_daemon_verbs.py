"""`up`, `down` and the other verbs about the daemon: idempotent, honest, and in time."""

import fcntl
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from supervisor.daemon.daemon_lock import is_alive, lock_holder
from supervisor.version import VERSION
from tests.supervisor.cli.place import PATIENCE_S, Place, until
from tests.support.control_judge import document
from transports.dialects.control.schema import events_schema

AT_ONCE = 20


def test_twenty_at_once_give_one_daemon_and_twenty_successes(quiet: Place) -> None:
    """Each returns only when the daemon answers: it prints the pid that the daemon told."""
    starters = [quiet.begin("up", "--json") for _ in range(AT_ONCE)]
    told = [json.loads(starter.communicate(timeout=50)[0]) for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * AT_ONCE
    assert len({one["pid"] for one in told}) == 1
    assert quiet.pid() == told[0]["pid"]


def test_a_failed_start_says_why_within_a_second_or_so(quiet: Place) -> None:
    (quiet.home / "config.toml").write_text("model = 7\n", encoding="utf-8")
    began = time.monotonic()
    done = quiet.run("up", code=1)
    assert time.monotonic() - began < 5.0  # a second on an idle machine
    assert "config.toml:1" in done.stderr
    assert "`model`" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_up_twice_and_down_twice_are_successes(quiet: Place) -> None:
    assert quiet.said("up").startswith("up: pid ")
    assert quiet.said("up").startswith("already up: pid ")
    pid = quiet.pid()
    assert quiet.said("down") == "down"
    assert not is_alive(pid)
    assert not (quiet.home / "run" / "greenroom.sock").exists()
    assert quiet.said("shutdown") == "already down"


def test_down_stops_a_daemon_that_is_still_coming_up(quiet: Place) -> None:
    """The daemon reads its settings from a pipe, so the test decides how far it starts."""
    config = quiet.work / "slow.toml"
    os.mkfifo(config)
    starting = quiet.begin("up", "--foreground", "--config", str(config))
    until(lambda: lock_holder(str(quiet.home / "state" / "daemon.lock")) is not None)
    stopping = quiet.begin("down")
    with pytest.raises(subprocess.TimeoutExpired):
        stopping.wait(1.0)  # several times what it needs to find no socket
    config.write_text('model_provider = "demo"\n', encoding="utf-8")
    assert stopping.communicate(timeout=PATIENCE_S) == ("down\n", "")
    starting.communicate(timeout=PATIENCE_S)
    assert starting.returncode == 0


def test_a_lock_that_a_dead_daemon_left_is_no_daemon_on_its_way(quiet: Place) -> None:
    quiet.run("up")
    quiet.kill()
    with (quiet.home / "state" / "daemon.lock").open("rb") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)  # as a child that it was just starting would
        assert quiet.said("down") == "already down"


def test_up_with_settings_says_that_a_daemon_which_runs_keeps_its_own(quiet: Place) -> None:
    quiet.run("up")
    told = quiet.run("up", "-c", "model=other")
    assert told.stdout.startswith("already up: ")
    assert (
        told.stderr
        == "greenroom: the daemon already runs and keeps its settings; run `greenroom down` first to change them\n"
    )


def test_down_lets_a_turn_end_and_now_does_not(quiet: Place) -> None:
    quiet.run("up")
    quiet.new("count 20", "--name", "ends")
    quiet.run("down", "--drain", "20s")
    quiet.run("up")
    assert quiet.run("wait", "ends", code=0).stdout == "ends: completed\n"
    quiet.new("count 500", "--name", "cut")
    quiet.run("down", "--now")
    quiet.run("up")
    quiet.run("wait", "cut", code=11)


def test_in_front_it_runs_until_ctrl_c(quiet: Place) -> None:
    terminal = quiet.terminal("up", "--foreground")
    terminal.expect("daemon.started")
    assert quiet.pid() == terminal.process.pid
    terminal.send("\x03")
    assert terminal.end() == 0


def test_after_a_kill_everything_is_back_and_the_cut_turn_says_so(quiet: Place) -> None:
    quiet.run("up")
    quiet.new("count 500", "--name", "counting")
    quiet.kill()
    assert (quiet.home / "run" / "greenroom.sock").exists()
    assert "the daemon is not running" in quiet.run("ls", code=7).stderr  # a socket that is left behind is no daemon
    assert quiet.said("up").endswith(", 1 conversation")
    assert quiet.run("wait", "counting", code=10).stdout == "counting: lost\n"
    quiet.run("send", "counting", "say on we go", "--wait")


def test_ctrl_c_ends_whatever_only_looks_and_nothing_else(quiet: Place) -> None:
    quiet.run("up")
    quiet.new("count 500", "--name", "watched")
    for words in (("wait", "watched"), ("logs", "watched", "-f"), ("events",), ("ls", "--watch")):
        terminal = quiet.terminal(*words)
        until(lambda verb=words[0]: f"greenroom {verb}" in quiet.said("clients"))  # type: ignore[misc]
        terminal.send("\x03")
        assert terminal.end() == 130, words
        assert "Traceback" not in terminal.written
    assert quiet.said("inspect", "watched", "--format", "{state}") == "running"


def test_run_starts_a_daemon_and_says_so(quiet: Place) -> None:
    done = quiet.run("run", "say hi")
    assert done.stdout == "hi\n"
    assert done.stderr.startswith("greenroom: the daemon was not running; it was started\n")


def test_verbs_about_the_daemon_print_its_socket_schemas_version_and_disk_use(place: Place) -> None:
    assert Path(place.said("socket")) == place.home / "run" / "greenroom.sock"
    assert place.json("schema", "control") == document()
    assert place.json("schema", "events") == events_schema()
    assert place.json("version", "--json") == {"version": VERSION, "daemon": VERSION}
    assert place.said("--version") == f"greenroom {VERSION}"
    rows = {row["what"]: row for row in place.json("df", "--json")}
    assert rows["journal"]["bytes"] > 0
    assert rows["free"]["bytes"] > 0
    assert rows["journal"]["path"].endswith("journal.sqlite3")
    assert rows["search"]["path"].endswith("search.sqlite3")


def test_config_is_read_judged_and_reread(place: Place) -> None:
    assert place.said("config", "path") == str(place.home / "config.toml")
    assert place.said("config", "get", "model_provider") == "demo"
    assert "drain_seconds = 30" in place.said("config", "get", "greenroom")
    assert "no config key 'nonsense'" in place.run("config", "get", "nonsense", code=2).stderr
    assert place.said("reload") == "nothing changed"
    file = place.home / "config.toml"
    before = file.read_text(encoding="utf-8")
    file.write_text(f"{before}[greenroom]\ndrain_seconds = 7\n", encoding="utf-8")
    assert place.said("reload") == "greenroom.drain_seconds: 30 → 7"
    file.write_text(f"{before}[greenroom]\ndrain_seconds = 7\nlog_backups = 2\n", encoding="utf-8")
    assert place.said("reload") == "greenroom.log_backups: 3 → 2 (takes effect at the next start of the daemon)"
    file.write_text("[greenroom]\ndrain_seconds = 'soon'\n", encoding="utf-8")
    assert f"{file}:2" in place.run("config", "check", code=2).stderr
    assert f"{file}:2" in place.run("reload", code=2).stderr
    assert place.said("config", "get", "greenroom.drain_seconds") == "7.0"  # the old one goes on
    file.write_text(before, encoding="utf-8")
    assert place.said("config", "check") == f"{file}: ok"


def test_clients_are_listed_with_what_they_read_and_can_be_sent_away(place: Place) -> None:
    conversation = place.new("say x")
    place.at_rest(conversation)
    terminal = place.terminal("attach", conversation, "--ro")
    terminal.expect("Ctrl-D leaves")
    (one,) = [row for row in place.json("clients", "--json") if row["attached"]]
    assert one["pid"] == terminal.process.pid
    assert one["name"] == "greenroom attach"
    (reads,) = one["attached"]
    assert (reads["conversation"], reads["behind"], reads["read_only"]) == (conversation, 0, True)
    assert f"\t{conversation[:8]} read-only" in place.said("clients")
    place.run("clients", "--kill", one["id"][:6])
    assert terminal.end() == 7
    assert place.run("clients", "--kill", "zz", code=5).stderr.startswith("greenroom: no client has the id 'zz'")


def test_watch_shows_a_listing_again_when_it_changes(place: Place) -> None:
    terminal = place.terminal("ls", "--watch", "--filter", "name=appears")
    terminal.expect("")
    place.new("say x", "--name", "appears")
    terminal.expect("appears")
    terminal.send("\x03")
    assert terminal.end() == 130
    assert "\x1b[2J" not in terminal.written, "a screen that is cleared first flickers"
    assert "\x1b[H" in terminal.written
    assert "appears" in terminal.screen


def test_up_says_which_of_its_settings_are_ignored(quiet: Place) -> None:
    told = quiet.run("up", "-c", "modle=gpt-5").stderr
    assert "modle" in told
    assert not quiet.run("up").stderr
