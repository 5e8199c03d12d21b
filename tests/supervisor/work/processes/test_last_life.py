"""A daemon is killed; its commands are ended at the start of the next, and nothing else is."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.work.processes.command import INSTANCE as INSTANCE_MARK
from supervisor.work.processes.command import TURN as TURN_MARK
from supervisor.work.processes.last_life import sweep_last_life
from supervisor.work.processes.platform import table_of_this_system
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.tags import WIDTH, ProcessLedger
from tests.faults.daemon_harness import until
from tests.supervisor.work.commands import INSTANCE, ON_LINUX, TURN, Watched, alive, command, limited, new_token
from tests.supervisor.work.processes import host

ROOT = Path(__file__).resolve().parents[4]
GUARD_S = 10.0  # its grace, and the kills, on a busy machine
TABLE = table_of_this_system()
pytestmark = ON_LINUX


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"], env={"PATH": "/usr/bin:/bin"})
    yield process
    process.kill()
    process.wait()


def sweep(ledger: Path) -> int:
    return limited(sweep_last_life(ledger, INSTANCE, grace_s=0.1))


def kill_a_daemon(ledger: Path, token: str, *more: str) -> None:
    """Kill a daemon in the middle of many commands."""
    daemon = subprocess.Popen(
        [sys.executable, "-m", host.__name__, str(ledger), token, INSTANCE, *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    with daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"ready\n"
        daemon.kill()


def test_commands_of_a_killed_daemon_end_though_no_other_daemon_starts(tmp_path: Path) -> None:
    token = new_token()
    kill_a_daemon(tmp_path / "ledger", token, "guarded")
    until(lambda: not alive(token), "its commands run on", GUARD_S)


def test_a_daemon_that_ends_in_order_takes_its_guard_along(tmp_path: Path) -> None:
    async def one_life() -> subprocess.Popen[bytes]:
        async with Processes(tmp_path / "ledger", INSTANCE, 0.2, guarded=True) as processes:
            await processes.run(command("true"), Watched().output)
            await processes.end_turn(TURN)
            await processes.run(command("true"), Watched().output)
            assert processes._guard is not None
            guard = processes._guard._process
            assert guard is not None
            assert guard.poll() is None
            return guard

    assert limited(one_life()).returncode == 0


def test_nothing_of_a_killed_daemon_survives_the_start_of_the_next(tmp_path: Path) -> None:
    token = new_token()
    kill_a_daemon(tmp_path / "ledger", token)
    left = len(alive(token))
    assert left > 10
    assert sweep(tmp_path / "ledger") >= left
    assert not alive(token)
    assert sweep(tmp_path / "ledger") == 0


def test_a_process_without_our_marks_is_not_touched(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    assert sweep(tmp_path) == 0
    assert bystander.poll() is None


def test_a_process_with_our_marks_is_ended(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", INSTANCE_MARK: INSTANCE, TURN_MARK: "turn-9"}
    with subprocess.Popen(["sleep", "300"], env=env) as ours:
        assert sweep(tmp_path) == 1
        assert ours.wait() == -15


def test_the_processes_of_another_instance_are_left(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "300"], env={"PATH": "/usr/bin:/bin", INSTANCE_MARK: "another"}) as theirs:
        assert sweep(tmp_path) == 0
        assert theirs.poll() is None
        theirs.kill()


def test_a_daemon_started_from_within_a_command_does_not_end_itself(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; "
        "from supervisor.work.processes.last_life import sweep_last_life; "
        "print(asyncio.run(sweep_last_life(Path(sys.argv[1]), sys.argv[2], 0.1)))"
    )
    env = {"PATH": "/usr/bin:/bin", INSTANCE_MARK: INSTANCE}
    argv = [sys.executable, "-c", script, str(tmp_path), INSTANCE]
    started = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, check=True)
    assert started.stdout == b"0\n"


def test_a_number_of_the_last_lifes_commands_ends_a_process_and_one_in_between_does_not(tmp_path: Path) -> None:
    """The number in between is the daemon's own, and that of its other children, like the program of `notify`."""
    top = 1 << 40
    become = "import os, resource, sys; n = int(sys.argv[1]); resource.setrlimit(10, (n, n)); "
    become += "os.execve('/bin/sleep', ['sleep', '300'], {})"
    numbers = (top - 1, top - 2, top - 3 - WIDTH, top + 1)
    started = [subprocess.Popen([sys.executable, "-c", become, str(number)]) for number in numbers]
    until(lambda: [TABLE.tag(process.pid) for process in started] == list(numbers), "they have no numbers")
    ProcessLedger(tmp_path).claim("another boot", top)
    assert sweep(tmp_path) == 0
    ProcessLedger(tmp_path).claim(TABLE.boot, top)
    assert sweep(tmp_path) == 1
    assert started[0].wait() == -15
    assert [process.poll() for process in started[1:]] == [None] * 3
    assert ProcessLedger(tmp_path).claims() == []
    for process in started[1:]:
        process.kill()
        process.wait()


def test_a_life_that_ends_in_order_leaves_no_claim(tmp_path: Path) -> None:
    async def one_life() -> list[tuple[str, int]]:
        async with Processes(tmp_path, INSTANCE, 0.2):
            return ProcessLedger(tmp_path).claims()

    assert len(limited(one_life())) == 1
    assert ProcessLedger(tmp_path).claims() == []


def test_a_file_that_is_no_claim_stays_in_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "README").touch()
    sweep(tmp_path)
    assert (tmp_path / "README").exists()
