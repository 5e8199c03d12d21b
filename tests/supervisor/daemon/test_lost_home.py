"""A daemon whose home is removed, moved or replaced tells its clients, and ends with all that it has started."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from supervisor.daemon.daemon_lock import DaemonLock, lock_holder
from supervisor.daemon.home_watch import LOOKS, HomeWatch
from supervisor.engine.health import EVERY_S
from tests.support.bridge import wait_until
from tests.support.control_client import ControlClient
from tests.support.home import Home

IMPATIENT = """
import sys
from supervisor.daemon import daemon_start
from supervisor.engine.health import Health
from transports import listener
Health.__init__.__defaults__ = (0.1,)
sys.exit(daemon_start.main(sys.argv[1:]))
"""
CONFIG = 'model_provider = "demo"\n'
END_S = 25.0  # a busy machine; alone it takes two seconds


def remove(home: Path) -> None:
    shutil.rmtree(home)


def remove_what_is_in_it(home: Path) -> None:
    for one in home.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()


def remove_the_state(home: Path) -> None:
    shutil.rmtree(home / "state")


def move(home: Path) -> None:
    home.rename(home.with_name("moved"))


def replace_by_an_empty_one(home: Path) -> None:
    shutil.rmtree(home)
    home.mkdir(mode=0o700)


def replace_by_its_copy(home: Path) -> None:
    shutil.copytree(home, home.with_name("copy"), ignore=shutil.ignore_patterns("*.sock", "*.fifo"))
    home.rename(home.with_name("moved"))
    home.with_name("copy").rename(home)


LOSSES = (remove, remove_what_is_in_it, remove_the_state, move, replace_by_an_empty_one, replace_by_its_copy)


class Running:
    """A daemon as its own program, with a client and a command that never ends."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", IMPATIENT], env=home.env, cwd="/", stdin=subprocess.DEVNULL
        )
        wait_until(lambda: Path(home.socket).exists(), "it did not start")
        self.client = ControlClient(home.socket)
        made = self.client.ask(
            "conversation/create", cwd="/tmp", sandbox="danger-full-access", approval_policy="never"
        )
        self.conversation = str(made["conversation"])
        beat = home.directory.parent / "beat"
        prompt = f"run echo $$ > {beat}; exec sleep 600"
        self.client.ask("conversation/send", conversation=self.conversation, prompt=prompt)
        wait_until(lambda: beat.exists() and beat.read_text().strip() != "", "the command did not start")
        self.command = int(beat.read_text())

    def close(self) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def running(home: Home) -> Iterator[Running]:
    (home.directory / "config.toml").write_text(CONFIG, encoding="utf-8")
    made = Running(home)
    yield made
    made.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2][0] != "Z"


@pytest.mark.parametrize("lose", LOSSES)
def test_it_says_so_and_ends_with_its_commands_and_leaves_nothing_in_anothers_place(
    running: Running, lose: Callable[[Path], None]
) -> None:
    home = running.home.directory
    lose(home)
    there = tree(home)
    assert running.process.wait(END_S) == 0
    wait_until(lambda: not alive(running.command), "its command goes on")
    running.client.wait_gone()
    said = [event["params"].get("message", "") for event in running.client.events]
    assert any(f"its home {home}/state was removed, moved or replaced" in text for text in said)
    assert tree(home) <= there | {home / "run"}  # of its own it has taken away some; it has made nothing


def tree(home: Path) -> set[Path]:
    return set(home.rglob("*")) if home.exists() else set()


def test_a_second_daemon_in_the_same_place_serves_its_own_home_alone(running: Running) -> None:
    """It may start before the first has ended; the first takes neither its lock nor its socket nor its pid file."""
    replace_by_an_empty_one(running.home.directory)
    (running.home.directory / "config.toml").write_text(CONFIG, encoding="utf-8")
    with running.home.daemon() as second:
        with running.home.client() as client:
            assert client.ask("daemon/status")["pid"] == second.pid
            assert running.process.wait(END_S) == 0
            holder = lock_holder(running.home.paths.lock_file)
            assert holder is not None
            assert holder.pid == second.pid
            assert Path(running.home.paths.pid_file).read_text(encoding="ascii") == f"{second.pid}\n"
        with running.home.client() as another:  # its socket is there for clients that come later
            assert another.ask("daemon/status")["pid"] == second.pid
        assert second.stop() == 0


def test_a_home_that_was_moved_has_no_other_daemon_before_the_first_has_ended(running: Running) -> None:
    move(running.home.directory)
    moved = Home(running.home.directory.with_name("moved"))
    with moved.daemon() as second:  # which waits for the lock
        assert running.process.poll() == 0
        assert second.pid != running.process.pid


def test_a_lock_stays_in_the_home_in_which_it_was_taken(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    for one in (home, other):
        one.mkdir()
    lock = DaemonLock(str(home / "lock"))
    assert lock.home_is_here()
    home.rename(tmp_path / "moved")
    other.rename(home)
    assert not lock.home_is_here()
    assert lock.look() is None
    assert lock_holder(str(home / "lock")) is None  # that one is free for its own daemon
    (tmp_path / "moved" / "lock").unlink()
    assert lock.look() is None
    assert lock_holder(str(tmp_path / "moved" / "lock")) is not None
    lock.release()


def test_a_home_that_comes_back_in_time_is_not_left() -> None:
    here, left = [True], list[str]()
    watch = HomeWatch("/home", lambda: here[0], lambda: left.append("left"))
    assert watch.look() is None
    here[0] = False
    complaints = [watch.look() for _ in range(LOOKS - 1)]
    assert all(text is not None and "unless it is put back" in text for text in complaints)
    here[0] = True
    assert watch.look() is None
    here[0] = False
    said = [watch.look() for _ in range(2 * LOOKS)]
    assert left == ["left"]
    assert said[LOOKS - 1] == "its home /home was removed, moved or replaced, so it ends now"


def test_a_daemon_leaves_within_half_a_minute() -> None:
    assert LOOKS * EVERY_S <= 10.0  # and the rest of the half minute is for an orderly end


EMBEDDED = """
import sys
from supervisor.daemon.embedded import serve
from supervisor.engine.health import Health
Health.__init__.__defaults__ = (0.1,)
sys.exit(serve({}))
"""


def test_a_program_that_serves_a_home_by_itself_ends_without_it_too(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", EMBEDDED], env=home.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        wait_until(lambda: Path(home.paths.journal_file).exists(), "it did not start")
        shutil.rmtree(home.directory)
        process.wait(END_S)
        assert not home.directory.exists()
    finally:
        process.kill()
        process.communicate()
