"""A whole daemon with an agent of somebody else: what is left of it, and what it loads."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.supervisor.agents.acp.alive import odd_seconds, wait_alive, wait_gone
from tests.supervisor.agents.acp.scripted import PROGRAM, agent_table
from tests.supervisor.work.place import on_linux
from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import DaemonProcess

ROOT = Path(__file__).parents[4]
STUBBORN = (
    "trap '' TERM INT; (trap '' TERM; setsid env -i sleep {0} & setsid setsid sleep {0}) & sleep {0}; sleep {0}"
)
OWN = ("supervisor.agents.acp", "supervisor.agents.acp.third_party_agents", "supervisor.agents.own.own_agent")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    with DaemonProcess(
        tmp_path, "[greenroom]\ninterrupt_grace_ms = 150\ndrain_seconds = 0\n" + agent_table()
    ) as process:
        yield process


def begun(daemon: DaemonProcess, peer: ControlPeer, seconds: str) -> str:
    """A conversation whose agent runs a stubborn command now."""
    settings = {"cwd": str(daemon.home), "agent": "scripted", "sandbox": "danger-full-access"}
    conversation = peer.create(**settings)
    peer.send(conversation, f"run {STUBBORN.format(seconds)}", wait=False)
    wait_alive(seconds)
    return conversation


def agents_of(daemon: DaemonProcess) -> list[str]:
    """The command lines of the daemon's children that are scripted agents."""
    found = []
    for pid in Path(f"/proc/{daemon.pid}/task").glob("*/children"):
        for child in pid.read_text().split():
            line = Path(f"/proc/{child}/cmdline").read_bytes().decode()
            found += [child] if str(PROGRAM) in line else []
    return found


def gone(pids: list[str]) -> None:
    for pid in pids:
        wait_gone_pid(pid)


def wait_gone_pid(pid: str) -> None:
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline, f"the agent {pid} lives on"
        time.sleep(0.01)


def test_nothing_of_an_agent_outlives_a_killed_daemon(daemon: DaemonProcess) -> None:
    seconds, peer = odd_seconds(), daemon.connect()
    begun(daemon, peer, seconds)
    agents = agents_of(daemon)
    assert len(agents) == 1
    daemon.kill()
    wait_gone(seconds)
    gone(agents)


def test_nothing_of_an_agent_outlives_a_daemon_that_is_stopped(daemon: DaemonProcess) -> None:
    seconds, peer = odd_seconds(), daemon.connect()
    begun(daemon, peer, seconds)
    agents = agents_of(daemon)
    daemon.end()
    wait_gone(seconds, 0.5)
    gone(agents)


def test_a_turn_that_a_killed_daemon_lost_is_followed_by_a_new_one(daemon: DaemonProcess) -> None:
    seconds, peer = odd_seconds(), daemon.connect()
    conversation = begun(daemon, peer, seconds)
    daemon.kill()
    daemon.start()
    peer = daemon.connect()
    reading = peer.attach(conversation)
    peer.send(conversation, "say back again")
    assert "turn_aborted" in reading.types
    assert reading.types[-1] == "task_complete"


def test_an_idle_daemon_has_loaded_no_agent() -> None:
    code = (
        "import supervisor.daemon.server, supervisor.engine.engine, sys\n"
        f"print([one for one in sys.modules if one.startswith({OWN!r})])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=60) == "[]\n"


@on_linux
def test_settings_left_in_the_turn_of_a_killed_daemon_are_set_aside_by_the_next(tmp_path: Path) -> None:
    config = f"[greenroom]\ndrain_seconds = 0\n{agent_table()}".replace('confine = "none"\n', "")
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    left = (project / "opencode.json", project / "pkg/.claude/settings.json")
    with DaemonProcess(tmp_path / "home", config) as daemon:
        for _ in range(5):  # it is looked at each second, too
            peer = daemon.connect()
            conversation = peer.create(cwd=str(project), agent="scripted", sandbox="workspace-write")
            peer.send(
                conversation,
                "run mkdir -p pkg/.claude; then run echo x > pkg/.claude/settings.json; "
                "then run echo x > opencode.json; then slow 60",
                wait=False,
            )
            until_there(left[0])
            daemon.kill()
            daemon.hang_up()
            stood = all(path.exists() for path in left)
            daemon.start()
            assert not any(path.exists() for path in left)
            if stood:
                return
    raise AssertionError("the daemon was never killed while they stood")


def until_there(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} was not made"
        time.sleep(0.001)
