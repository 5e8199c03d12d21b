"""The daemon as a process: one per home, its start, its stop, and what it leaves."""

import ctypes
import json
import os
import resource
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from supervisor.daemon import launch
from supervisor.daemon.server import DESCRIPTORS
from tests.support.bridge import wait_until
from tests.support.control_client import PATIENCE_S, ControlClient, Gone, Refused
from tests.support.home import Home

pytestmark = pytest.mark.long(takes_s=20)

TOGETHER = 20


def create(client: ControlClient, **more: object) -> str:
    made = client.ask("conversation/create", provider="demo", model="demo", cwd="/tmp", **more)
    return str(made["conversation"])


@pytest.fixture(scope="module")
def running_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One daemon for the tests that don't stop it."""
    home = Home(tmp_path_factory.mktemp("running") / "home")
    with home.daemon():
        yield home


# --- one per home ---------------------------------------------------------------------------------------------------


def test_twenty_that_start_at_once_are_one_daemon_and_twenty_successes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", home.env)
    gate = threading.Barrier(TOGETHER)

    def start(_: int) -> dict[str, object]:
        gate.wait()
        launch.launch()
        with home.client() as client:  # success means that it answers, not that somebody is about to
            return dict(client.welcome["greenroom"])

    try:
        with ThreadPoolExecutor(TOGETHER) as pool:
            welcomes = list(pool.map(start, range(TOGETHER)))
        assert len({welcome["instance"] for welcome in welcomes}) == 1
        assert len(home.logged("daemon.started")) == 1
    finally:
        end_launched(home)


def end_launched(home: Home) -> None:
    """End a detached daemon, found by its own pid file."""
    pid = int(Path(home.paths.pid_file).read_text())
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not Path(home.paths.pid_file).exists(), "the daemon did not stop")
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon did not go")


def test_a_second_daemon_says_that_there_is_one_and_succeeds(running_home: Home) -> None:
    home = running_home
    pid = Path(home.paths.pid_file).read_text()
    home.launch()
    assert Path(home.paths.pid_file).read_text() == pid
    with home.client() as client:
        assert client.ask("daemon/status")["pid"] == int(pid)


# --- the start ------------------------------------------------------------------------------------------------------


def test_its_files_are_its_owners_alone(home: Home) -> None:
    Path(home.directory / "run").mkdir(mode=0o700)
    pid_file = Path(home.paths.pid_file)
    pid_file.write_text("12345\n")
    pid_file.chmod(0o644)  # of an earlier life
    with home.daemon() as daemon:
        assert pid_file.read_text() == f"{daemon.pid}\n"
        for path in (pid_file, Path(home.socket), Path(home.paths.lock_file), Path(home.paths.journal_file)):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        for directory in (home.paths.run, home.paths.state):
            assert stat.S_IMODE(Path(directory).stat().st_mode) == 0o700


def test_a_socket_and_a_pid_file_of_a_killed_daemon_are_no_obstacle(home: Home) -> None:
    with home.daemon() as first:
        first.kill()
    assert Path(home.socket).exists()
    assert Path(home.paths.pid_file).exists()
    with home.daemon() as second, home.client() as client:
        assert client.ask("daemon/status")["pid"] == second.pid


def test_a_file_in_the_sockets_place_is_named_and_left_alone(home: Home) -> None:
    Path(home.directory / "run").mkdir(mode=0o700)
    Path(home.socket).write_text("mine")
    daemon = home.start()
    assert home.socket in daemon.said()
    assert daemon.process.wait(10) == 1
    assert Path(home.socket).read_text() == "mine"
    daemon.end()


def test_a_broken_config_is_named_by_a_start_that_fails(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", config="model = [")
    daemon = home.start()
    said = daemon.said()
    assert "config.toml" in said
    assert daemon.process.wait(10) == 1
    assert not Path(home.socket).exists()
    assert not Path(home.paths.pid_file).exists()
    daemon.end()


@pytest.mark.skipif(sys.platform != "linux", reason="only there can a test look at another process's limits")
def test_it_takes_as_many_descriptors_as_it_may_have(home: Home) -> None:
    """The shell's usual soft limit is a quarter of what a busy daemon needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    given = home.start(soft_descriptors=256)
    try:
        assert given.said() == "ready"
        found = resource.prlimit(given.pid, resource.RLIMIT_NOFILE)
        assert found == (min(DESCRIPTORS, hard), hard)
    finally:
        given.end()


def test_a_deleted_socket_is_made_again(running_home: Home) -> None:
    Path(running_home.socket).unlink()
    wait_until(Path(running_home.socket).exists, "the socket stayed away", 5)
    with running_home.client() as client:
        client.ask("daemon/status")


def test_the_stacks_of_a_daemon_in_the_background_are_beside_its_log(home: Home) -> None:
    home.launch()
    try:
        pid = int(Path(home.paths.pid_file).read_text())
        stacks = Path(home.paths.stacks_file)
        assert stacks.parent == Path(home.paths.log_file).parent
        assert stat.S_IMODE(stacks.stat().st_mode) == 0o600

        def seen_waiting() -> bool:
            os.kill(pid, signal.SIGUSR1)
            return "in wait" in stacks.read_text()

        wait_until(seen_waiting, "the main thread never waited for a signal")
        assert stacks.read_text().count("most recent call first") > 3, "there are several threads"
        with home.client() as client:
            assert client.ask("daemon/status")["pid"] == pid, "it goes on"
    finally:
        end_launched(home)


# --- the stop -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["SIGTERM", "down"])
def test_an_orderly_stop_leaves_nothing_behind(home: Home, how: str) -> None:
    with home.daemon() as daemon:
        with home.client() as client:
            conversation = create(client)
            client.ask("conversation/send", conversation=conversation, prompt="run echo hello", wait=True)
            if how == "down":
                client.ask("daemon/down")
            else:
                daemon.process.send_signal(signal.Signals[how])
            client.wait_gone()
        assert daemon.process.wait(10) == 0
        assert not Path(home.socket).exists()
        assert not Path(home.paths.pid_file).exists()
        assert Path(home.paths.lock_file).read_text() == ""
        assert not Path(home.paths.journal_file + "-wal").exists()  # closed, not dropped
        bad = [line for line in home.log if line["level"] in {"warning", "error"}]
        assert bad == []
        assert home.log[-1]["event"] == "daemon.stopped"


def test_a_client_of_a_stopping_daemon_is_not_let_in_and_does_not_delay_it(home: Home) -> None:
    with home.daemon() as daemon, home.client() as slow, socket.socket(socket.AF_UNIX) as late:
        late.settimeout(PATIENCE_S)
        late.connect(home.socket)
        for _ in range(40):
            slow.send("schema")  # it reads none of it, and so keeps the stop waiting for a while
        daemon.process.send_signal(signal.SIGTERM)
        refusal = json.loads(late.recv(4096))["error"]
        assert refusal["data"] == {"code": "overloaded", "retryable": True}
        assert daemon.process.wait(10) == 0
        assert home.logged("engine.actors_left") == []


def test_a_stop_waits_for_turns_as_long_as_it_was_told_and_takes_no_new_ones(home: Home) -> None:
    with home.daemon() as daemon, home.client() as client:
        conversation, other = create(client), create(client)
        client.ask("conversation/attach", conversation=conversation)
        turn = client.send("conversation/send", conversation=conversation, prompt="count 40", wait=True)
        client.until("task_started")
        client.ask("daemon/down", drain_s=20)
        with pytest.raises(Refused):
            client.ask("conversation/send", conversation=other, prompt="say hello", wait=True)
        assert client.answer(turn)["ending"] == "completed"
        assert daemon.process.wait(10) == 0


def test_turns_that_outlast_the_drain_are_interrupted_and_recorded_so(home: Home) -> None:
    with home.daemon() as daemon:
        with home.client() as client:
            conversation = create(client)
            client.ask("conversation/attach", conversation=conversation)
            turn = client.send("conversation/send", conversation=conversation, prompt="count 2000", wait=True)
            client.until("task_started")
            client.ask("daemon/down", drain_s=0)
            assert client.answer(turn)["ending"] == "interrupted"
        assert daemon.process.wait(10) == 0
    with home.daemon(), home.client() as client:
        assert endings(client, conversation) == [("turn_aborted", "interrupted")]


def endings(client: ControlClient, conversation: str) -> list[tuple[str, str | None]]:
    page = client.ask("conversation/history", conversation=conversation, limit=1000)
    events = [envelope["event"] for envelope in page["events"]]
    return [(one["type"], one.get("reason")) for one in events if one["type"] in {"task_complete", "turn_aborted"}]


def test_a_second_signal_ends_the_drain_at_once(home: Home) -> None:
    with home.daemon() as daemon, home.client() as client:
        conversation = create(client)
        client.ask("conversation/attach", conversation=conversation)
        client.send("conversation/send", conversation=conversation, prompt="count 5000", wait=True)
        client.until("task_started")
        daemon.process.send_signal(signal.SIGTERM)
        wait_until(lambda: bool(home.logged("daemon.stopping")), "the first signal did nothing")
        began = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(10) == 0
        assert time.monotonic() - began < 5  # and not the 30 s of the drain


@pytest.mark.skipif(sys.platform != "linux", reason="only there can a test choose the thread")
def test_a_signal_that_the_kernel_gives_to_another_thread_is_heard(home: Home) -> None:
    """The kernel does that when the main thread is just being continued."""
    with home.daemon() as daemon:
        threads = sorted(int(task.name) for task in Path(f"/proc/{daemon.pid}/task").iterdir())
        assert ctypes.CDLL(None).tgkill(daemon.pid, threads[-1], signal.SIGTERM) == 0
        assert daemon.process.wait(10) == 0


def test_processes_of_a_turn_are_gone_when_the_daemon_is(home: Home) -> None:
    with home.daemon() as daemon, home.client() as client:
        conversation = create(client, sandbox="danger-full-access", approval_policy="never")
        client.ask("conversation/attach", conversation=conversation)
        client.send("conversation/send", conversation=conversation, prompt="run sleep 61.5", wait=True)
        client.until("work_began")
        wait_until(lambda: bool(running(home, "sleep 61.5")), "the command did not start")
        assert client.ask("daemon/down", drain_s=0)
        assert daemon.process.wait(10) == 0
        assert running(home, "sleep 61.5") == []


def running(home: Home, command: str) -> list[int]:
    """Processes with this command line and our home in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            said = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            mine = str(home.directory).encode() in (entry / "environ").read_bytes()
        except OSError:
            continue
        if said == command and mine:
            found.append(int(entry.name))
    return found


# --- who may come in ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_is_refused_and_logged(running_home: Home) -> None:
    heard = as_nobody(running_home)
    assert b"you are uid 65534" in heard
    assert running_home.logged("listener.foreign")[0]["uid"] == 65_534


def as_nobody(home: Home) -> bytes:
    """The answer to uid 65534, which connects in a child; the socket was opened to it by mistake."""
    directory = os.open(home.paths.run, os.O_RDONLY)
    Path(home.paths.run).chmod(0o711)
    Path(home.socket).chmod(0o666)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.fchdir(directory)
            os.setuid(65_534)
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(5)
            sock.connect(Path(home.socket).name)
            os.write(writer, sock.recv(4096))
        except OSError as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    heard = os.read(reader, 4096)
    os.close(reader)
    os.close(directory)
    return heard


def test_without_descriptors_newcomers_are_refused_and_who_is_in_is_served(home: Home) -> None:
    with home.daemon(descriptors=64) as daemon, home.client() as early:
        crowd, refusals = [], []
        for _ in range(80):
            try:
                crowd.append(home.client())
            except Gone:
                break
            if "error" in crowd[-1].welcome:
                refusals.append(crowd[-1].welcome["error"])
                break
        assert [error["data"]["retryable"] for error in refusals] == [True]
        assert early.ask("clients/list")["clients"]
        spent = cpu_s(daemon.pid)
        threading.Event().wait(0.5)
        assert cpu_s(daemon.pid) - spent < 0.2  # it does not spin
        for client in crowd:
            client.close()
        wait_until(lambda: "greenroom" in retried(home), "it never recovered")


def retried(home: Home) -> dict[str, object]:
    try:
        with home.client() as client:
            return client.welcome
    except Gone:
        return {}


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
