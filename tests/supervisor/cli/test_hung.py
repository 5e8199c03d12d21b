"""A daemon that is there and does not answer: everything ends in time and says so, and it can be replaced."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.connection import connect
from supervisor.cli import hung_daemon, starting
from supervisor.cli.kit.client import Control
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, is_alive, life_of, lock_holder, state_of
from supervisor.paths import locate
from supervisor.version import VERSION
from tests.supervisor.cli.place import Place, until

pytestmark = pytest.mark.long(takes_s=35)

BLOCKED = """
import signal, sys, time
from supervisor.daemon import daemon_start
from supervisor.engine.engine import Engine
engines = []
begin = Engine.start
def start(engine):
    engines.append(engine)
    begin(engine)
Engine.start = start
def block():
    print("blocked", flush=True)
    time.sleep(600)
signal.signal(signal.SIGUSR2, lambda *_: engines[0].loop.loop.call_soon_threadsafe(block))
sys.exit(daemon_start.main([]))
"""


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the limits: nothing here waits for a busy machine."""
    for function in (Control.__init__, connect):
        defaults: dict[str, object] = function.__kwdefaults__ or {}
        monkeypatch.setitem(defaults, "timeout_s", 0.5)
    for module in (hung_daemon, starting):
        monkeypatch.setattr(module, "PATIENCE_S", 1.0)
    monkeypatch.setattr(hung_daemon, "SOON_S", 0.3)
    monkeypatch.setattr(hung_daemon, "COMING_UP_S", 1.0)


@pytest.fixture
def programs() -> Iterator[list["subprocess.Popen[bytes]"]]:
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for one in made:
        one.kill()
        one.communicate()


def stopped(place: Place) -> int:
    place.run("up")
    pid = place.pid()
    stop(pid)
    return pid


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state_of(pid) == "T")  # a signal to another processor takes its time


def blocked(place: Place, programs: list["subprocess.Popen[bytes]"]) -> int:
    """A daemon whose loop sleeps and whose main thread is well."""
    daemon = subprocess.Popen([sys.executable, "-P", "-c", BLOCKED], env=place.env, stdout=subprocess.PIPE)
    programs.append(daemon)
    until(lambda: place.run("pid", code=None).returncode == 0)
    daemon.send_signal(signal.SIGUSR2)
    assert daemon.stdout is not None
    assert daemon.stdout.readline() == b"blocked\n"
    return daemon.pid


@pytest.fixture(params=["stopped", "blocked"])
def hung(request: pytest.FixtureRequest, quiet: Place, programs: list["subprocess.Popen[bytes]"]) -> int:
    if request.param == "stopped":
        return stopped(quiet)
    return blocked(quiet, programs)


@pytest.mark.parametrize("words", [("ls",), ("status",), ("up",), ("run", "hello"), ("down",), ("approvals",)])
def test_every_verb_ends_in_time_and_says_what_replaces_the_daemon(quiet: Place, words: tuple[str, ...]) -> None:
    pid = stopped(quiet)
    try:
        began = time.monotonic()
        said = quiet.run(*words, code=124).stderr
        assert time.monotonic() - began < 5.0
        assert len(said.splitlines()) == 1
        assert "did not answer in time" in said
        assert "`greenroom up --force`" in said
    finally:
        os.kill(pid, signal.SIGKILL)


def test_the_version_is_told_though_the_daemon_does_not_tell_its_own(quiet: Place) -> None:
    pid = stopped(quiet)
    try:
        assert quiet.run("version").stdout == f"greenroom {VERSION}\ndaemon    does not answer\n"
        assert quiet.json("version", "--json") == {"version": VERSION, "daemon": None}
    finally:
        os.kill(pid, signal.SIGKILL)


def test_force_says_what_it_ends_and_what_that_costs_and_starts_another(quiet: Place, hung: int) -> None:
    done = quiet.run("up", "--force")
    assert f"pid {hung}, up since" in done.stderr
    assert "running turns are lost, everything that was stored is kept" in done.stderr
    assert done.stdout.startswith("up: pid ")
    assert quiet.pid() != hung
    until(lambda: is_alive(hung) is False)


def test_a_conversation_is_there_after_its_daemon_was_replaced(quiet: Place) -> None:
    quiet.run("up")
    quiet.new("hello", "--name", "kept")
    quiet.run("wait", "kept", code=None)
    quiet.new("count 500", "--name", "cut")
    stop(quiet.pid())
    quiet.run("up", "--force")
    states = {row["name"]: row["state"] for row in quiet.json("ls", "--json=name,state")}
    assert set(states) == {"kept", "cut"}
    assert quiet.run("wait", "cut", code=10).stdout == "cut: lost\n"


def test_the_stacks_of_a_hung_daemon_are_written_down_first(
    quiet: Place, programs: list["subprocess.Popen[bytes]"]
) -> None:
    blocked(quiet, programs)
    told = quiet.run("up", "--force").stderr
    stacks = quiet.home / "state" / "greenroom.stacks"
    assert str(stacks) in told
    assert "loop" in stacks.read_text() or "Thread" in stacks.read_text()


def test_down_now_ends_it_as_well_and_plain_down_does_not(quiet: Place, hung: int) -> None:
    quiet.run("down", code=124)
    assert is_alive(hung)
    done = quiet.run("down", "--now")
    assert done.stdout == "down\n"
    assert f"pid {hung}" in done.stderr
    assert lock_holder(locate(quiet.env).lock_file) is None


def test_the_number_of_a_hung_daemon_is_told(quiet: Place, hung: int) -> None:
    done = quiet.run("pid")
    assert done.stdout == f"{hung}\n"
    assert ("kill -CONT" in done.stderr) is (state_of(hung) == "T")


def test_a_stopped_daemon_is_brought_down_in_a_moment(quiet: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the patience of every day, which one that is stopped would use up."""
    pid = stopped(quiet)
    monkeypatch.setattr(hung_daemon, "PATIENCE_S", 10.0)
    monkeypatch.setattr(hung_daemon, "SOON_S", 1.0)
    monkeypatch.setattr(starting, "PATIENCE_S", 10.0)
    monkeypatch.setitem(Control.__init__.__kwdefaults__ or {}, "timeout_s", 5.0)
    began = time.monotonic()
    assert quiet.said("down", "--now") == "down"
    assert time.monotonic() - began < 4.0
    until(lambda: is_alive(pid) is False)


def test_the_number_of_a_daemon_that_was_killed_is_nobodys(quiet: Place) -> None:
    quiet.run("up")
    os.kill(quiet.pid(), signal.SIGKILL)
    until(lambda: quiet.run("pid", code=None).returncode == 7)
    assert quiet.run("pid", code=7).stdout == ""


def test_a_daemon_that_is_well_is_left_alone(quiet: Place) -> None:
    quiet.run("up")
    pid = quiet.pid()
    assert quiet.said("up", "--force").startswith(f"already up: pid {pid}")


def test_a_daemon_that_was_only_busy_is_waited_for_and_left_alone(quiet: Place) -> None:
    pid = stopped(quiet)
    threading.Timer(0.6, os.kill, (pid, signal.SIGCONT)).start()
    done = quiet.run("up", "--force")
    assert done.stdout.startswith(f"already up: pid {pid}")
    assert f"pid {pid} does not answer; waiting" in done.stderr


def test_a_daemon_that_was_only_busy_is_brought_down_in_order_when_it_was_told_to_go(quiet: Place) -> None:
    pid = stopped(quiet)
    threading.Timer(0.8, os.kill, (pid, signal.SIGCONT)).start()
    done = quiet.run("down", "--now")
    assert done.stdout == "down\n"
    assert "ending it now" not in done.stderr
    assert is_alive(pid) is False


def test_without_a_daemon_force_is_an_ordinary_start(quiet: Place) -> None:
    done = quiet.run("up", "--force")
    assert done.stdout.startswith("up: pid ")
    assert done.stderr == ""


def test_the_doctor_says_what_replaces_it(quiet: Place) -> None:
    pid = stopped(quiet)
    try:
        found = {one["what"]: one for one in json.loads(quiet.run("doctor", "--json", code=1).stdout)}
        assert "does not answer" in found["socket"]["told"]
        assert "`greenroom up --force`" in found["socket"]["advice"]
        assert str(pid) in found["lock"]["told"]
        assert "`greenroom up --force`" in found["lock"]["advice"]
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_daemon_that_somebody_else_has_just_put_there_is_waited_for_again(
    quiet: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    holders = [AlreadyRunning("pid 1", "old"), AlreadyRunning("pid 2", "new"), None]
    asked: list[str] = []
    monkeypatch.setattr(hung_daemon, "lock_holder", lambda _: holders.pop(0))

    def silent(_: object, holder: AlreadyRunning) -> bool:
        asked.append(holder.life)
        return False

    monkeypatch.setattr(hung_daemon, "_answers", silent)
    monkeypatch.setattr(hung_daemon, "_end", lambda *_: pytest.fail("nobody is to be ended"))
    monkeypatch.setenv("GREENROOM_HOME", str(quiet.home))
    assert hung_daemon.end_silent_daemon() is False
    assert asked == ["old", "new"]


def test_a_daemon_whose_socket_was_replaced_is_not_ended_and_the_remedy_is_said(quiet: Place) -> None:
    quiet.run("up")
    pid, socket = quiet.pid(), quiet.home / "run" / "greenroom.sock"
    socket.unlink()
    socket.touch()
    for words in (("up", "--force"), ("down", "--now"), ("up",), ("ls",)):
        assert f"{socket} is in the way of the daemon's socket; remove it" in quiet.run(*words, code=4).stderr
    found = {one["what"]: one for one in json.loads(quiet.run("doctor", "--json", code=1).stdout)}
    assert "remove it" in found["socket"]["told"]
    assert not any("--force" in one["advice"] for one in found.values())
    assert is_alive(pid)
    socket.unlink()
    until(lambda: quiet.run("pid", code=None).stdout.strip() == str(pid))


def test_the_doctor_names_a_run_directory_that_is_none(quiet: Place) -> None:
    (quiet.home / "run").touch()
    found = {one["what"]: one for one in json.loads(quiet.run("doctor", "--json", code=1).stdout)}
    assert f"{quiet.home}/run can't be used: Not a directory" in found["files"]["told"]


# --- nobody else's process ------------------------------------------------------------------------------------------


def locked_by(place: Place, pid: int, life: str) -> DaemonLock:
    """A lock whose text names somebody who does not hold it."""
    file = place.home / "state" / "daemon.lock"
    file.parent.mkdir(mode=0o700)
    lock = DaemonLock(str(file))
    text = f"pid {pid}, socket {place.home}/run/greenroom.sock".encode().ljust(4096) + life.encode().ljust(4096)
    file.write_bytes(text)
    return lock


@pytest.fixture
def bystander() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("life", ["another-boot:1", "", "here"])
def test_a_process_that_only_has_the_pid_is_never_ended(
    quiet: Place, bystander: "subprocess.Popen[bytes]", life: str
) -> None:
    """The life in the lock is not its own, or there is none and it does not listen."""
    told = life_of(bystander.pid).replace(":", ":9") if life == "here" else life
    lock = locked_by(quiet, bystander.pid, told)
    said = quiet.run("up", "--force", code=4).stderr
    lock.release()
    assert f"it can't be shown that pid {bystander.pid} is the daemon" in said
    assert bystander.poll() is None


def test_a_holder_of_another_machine_is_named_and_left_alone(quiet: Place) -> None:
    lock = locked_by(quiet, 2**22 - 3, "elsewhere:1")
    assert "on another machine or in another container" in quiet.run("up", "--force", code=4).stderr
    lock.release()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel names the peer of a socket on Linux")
def test_a_daemon_on_a_system_that_knows_no_lives_is_known_by_its_socket(quiet: Place) -> None:
    pid = stopped(quiet)
    file = Path(locate(quiet.env).lock_file)
    with file.open("r+b") as text:
        text.truncate(4096)  # as it is there
    assert f"pid {pid}" in quiet.run("up", "--force").stderr
    until(lambda: is_alive(pid) is False)
    assert quiet.pid() != pid


def test_a_holder_without_a_word_about_its_life_is_still_read(tmp_path: Path) -> None:
    lock = DaemonLock(str(tmp_path / "lock"))
    Path(tmp_path / "lock").write_text(f"pid {os.getpid()}")
    found = lock_holder(str(tmp_path / "lock"))
    lock.release()
    assert isinstance(found, AlreadyRunning)
    assert (found.pid, found.life) == (os.getpid(), "")
