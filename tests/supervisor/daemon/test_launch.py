"""Starting a daemon from outside. Most tests start a small program in its place."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from supervisor.cli import mcp
from supervisor.cli.bridge_verb import hello
from supervisor.daemon import launch
from supervisor.daemon.daemon_lock import STRANGE_S, DaemonLock
from supervisor.daemon.launch import READY, Launch, StartFailed
from tests.support.bridge import wait_until
from tests.support.home import Home

DETACH = "import sys; sys.path.insert(0, '.'); from supervisor.daemon.launch import detach; detach(); "


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    before = children()
    yield monkeypatch
    assert set(children()) <= set(before), "a zombie or a child was left"


def instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(launch, "PROGRAM", ("-c", code))


def children() -> list[str]:
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()


def test_it_returns_when_the_daemon_says_that_it_is_ready(program: pytest.MonkeyPatch) -> None:
    instead(program, f"import os; os.write(3, {READY!r})")
    launch.launch()


def test_a_start_that_fails_raises_the_daemons_own_words(program: pytest.MonkeyPatch) -> None:
    instead(program, "import os; os.write(3, b'the disk is '); os.write(3, b'full\\n')")
    with pytest.raises(StartFailed, match=r"^the disk is full$"):
        launch.launch()


@pytest.mark.parametrize(
    "code", ["import os; os._exit(1)", "import os; os.kill(os.getpid(), 9)", "this is no program"]
)
def test_a_daemon_that_dies_at_once_is_a_failed_start_within_a_second(program: pytest.MonkeyPatch, code: str) -> None:
    """The best of three tries counts, as other programs on the machine may take time away."""
    instead(program, code)
    took = []
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(StartFailed, match="ended without a message"):
            launch.launch()
        took.append(time.monotonic() - began)
    assert min(took) < 1.0, took


def test_a_daemon_that_never_gets_ready_is_not_waited_for_any_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "import time; time.sleep(30)")
    before = children()
    with pytest.raises(StartFailed, match="not ready in time"):
        launch.launch(timeout_s=0.2)
    (child,) = set(children()) - set(before)
    os.kill(int(child), signal.SIGKILL)
    os.waitpid(int(child), 0)


def test_an_interpreter_that_is_not_there_is_a_failed_start(program: pytest.MonkeyPatch) -> None:
    program.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(StartFailed, match="can't be started"):
        launch.launch()


def broken_config(home: Home) -> str:
    (home.directory / "config.toml").write_text("model = [")
    return "config.toml:1"


def unknown_value(home: Home) -> str:
    (home.directory / "config.toml").write_text('approval_policy = "shrug"')
    return "approval_policy"


def directory_of_others(home: Home) -> str:
    (home.directory / "run").mkdir()
    (home.directory / "run").chmod(0o777)
    return "may be written by others"


def file_for_a_directory(home: Home) -> str:
    (home.directory / "state").write_text("")
    return "state can't be used"


def strange_lock(home: Home) -> str:
    (home.directory / "state").mkdir(mode=0o700)
    handle = os.open(home.paths.lock_file, os.O_RDWR | os.O_CREAT)  # closed with the test's process
    fcntl.flock(handle, fcntl.LOCK_EX)
    return "locked by a process that is not a daemon"


def embedded(home: Home) -> str:
    (home.directory / "state").mkdir(mode=0o700)
    DaemonLock(home.paths.lock_file).tell_embedded()  # held as long as the test's process, as an editor's would be
    return "without --embedded"


@pytest.mark.parametrize(
    "wrong", [embedded, broken_config, unknown_value, directory_of_others, file_for_a_directory, strange_lock]
)
def test_a_start_that_cannot_succeed_says_why_within_a_second(home: Home, wrong: Callable[[Home], str]) -> None:
    """A second of its own time: what neighbours on the machine take away is not counted, what it sleeps is."""
    why = wrong(home)
    began, before = time.monotonic(), os.times()
    daemon = home.start()
    said = daemon.said()
    assert said.startswith("greenroom: the daemon could not start: ")
    assert why in said
    assert daemon.process.wait(10) == 1
    took, after = time.monotonic() - began, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    daemon.end()
    assert spent + SLEEPS.get(wrong, 0.0) < 1.0, f"it took {took:.2f} s"


SLEEPS: dict[Callable[[Home], str], float] = {strange_lock: STRANGE_S}


def test_large_modules_are_loaded_after_the_cheap_checks_have_passed(home: Home) -> None:
    broken_config(home)
    code = (
        "import sys; from supervisor.daemon import daemon_start\n"
        "daemon_start.main([]); print('supervisor.engine' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=home.env, capture_output=True, check=True, timeout=30)
    assert ended.stdout == b"False\n"
    assert b"config.toml:1" in ended.stderr


def test_a_home_with_a_name_too_long_for_a_socket_is_served_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 40))
    with home.daemon(), home.client() as client:
        assert home.socket.startswith(str(home.directory))
        assert client.ask("daemon/status")["journal"].startswith(str(home.directory))


def test_no_descriptor_is_left_open_here(program: pytest.MonkeyPatch) -> None:
    instead(program, f"import os; os.write(3, {READY!r})")
    before = len(list(Path("/proc/self/fd").iterdir()))
    launch.launch()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_daemon_has_left_whoever_started_it(program: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Session, directory, umask, signals, descriptors: none of them is the starter's."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    told = "os.write(3, f'{os.getpid()}\\n'.encode()); os.close(3); "
    instead(program, f"{DETACH}import os; {told}open({str(gate)!r}).read()")
    inherited = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    start = Launch()
    os.close(inherited)
    try:
        said = start.outcome()
        while said is None:
            said = start.outcome()
    finally:
        start.close()
    pid = int(said)
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        parent, session, terminal = int(stat[1]), int(stat[3]), int(stat[4])
        assert parent != os.getpid()
        assert session not in {pid, os.getsid(0)}  # and no leader, so that no terminal can become its own
        assert terminal == 0
        assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
        assert int(status.split("Umask:")[1].split()[0], 8) == 0o077
        fds = {int(fd.name): str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
        assert [fds[fd] for fd in (0, 1, 2)] == [os.devnull] * 3
        assert inherited not in fds or fds[inherited] == str(gate)
    finally:
        gate.write_text("go")
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "it did not end")


def test_two_at_the_same_time_find_one_daemon(home: Home) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: home.launch(), range(2)))
    pid = int(Path(home.paths.pid_file).read_text())
    try:
        assert len(home.logged("daemon.started")) == 1
    finally:
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the daemon did not go")


def test_after_the_start_loaded_modules_are_frozen_and_the_collector_runs(home: Home) -> None:
    code = (
        "import gc; from supervisor.daemon import daemon_start, server\n"
        "def serve(*given, **_):\n"
        "    before = gc.isenabled(); given[-1](); print(before, gc.isenabled(), gc.get_freeze_count() > 0)\n"
        "server.serve = serve; daemon_start.main([])"
    )
    ended = subprocess.run([sys.executable, "-c", code], env=home.env, capture_output=True, check=True, timeout=30)
    assert ended.stdout == b"False True True\n"


def test_the_bridge_says_its_umask_and_leaves_it_as_it_was() -> None:
    before = os.umask(0o027)
    try:
        said = json.loads(hello(mcp.verb(), {}))
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert said["greenroom"]["client"]["umask"] == 0o027
