import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from supervisor.daemon import daemon_lock
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, is_answering, remove_pid, take_lock, write_pid
from supervisor.paths import SOCKET


@pytest.fixture
def lock_file(tmp_path: Path) -> str:
    return str(tmp_path / "daemon.lock")


def listen(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen()
    return sock


def test_whoever_finds_it_taken_is_told_by_whom_and_where(lock_file: str) -> None:
    lock = DaemonLock(lock_file)
    lock.tell("/run/somewhere.sock")
    with pytest.raises(AlreadyRunning, match=rf"pid {os.getpid()}, socket /run/somewhere\.sock") as taken:
        DaemonLock(lock_file)
    assert taken.value.socket == "/run/somewhere.sock"
    lock.release()


def test_it_is_free_when_its_holder_was_killed(lock_file: str) -> None:
    code = (
        "import sys, time; from supervisor.daemon.daemon_lock import DaemonLock; "
        f"lock = DaemonLock({lock_file!r}); lock.tell('/gone'); print('held', flush=True); time.sleep(30)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunning):
            DaemonLock(lock_file)
        holder.kill()
        holder.wait()
        DaemonLock(lock_file).release()


def test_a_released_lock_says_nothing(lock_file: str) -> None:
    lock = DaemonLock(lock_file)
    lock.tell("/run/s")
    lock.release()
    assert Path(lock_file).read_text() == ""
    assert stat.S_IMODE(Path(lock_file).stat().st_mode) == 0o600


def test_a_daemon_that_answers_here_is_as_good_as_the_lock(lock_file: str, tmp_path: Path) -> None:
    lock, address = DaemonLock(lock_file), str(tmp_path / "s")
    with listen(address):
        lock.tell(address)
        with pytest.raises(AlreadyRunning):
            take_lock(lock_file, 5)
    lock.release()


def test_a_text_that_a_killed_daemon_left_is_not_believed(lock_file: str) -> None:
    """Between the flock of the next one and its first word the old text is still there."""
    lock = DaemonLock(lock_file)
    Path(lock_file).write_text(f"pid 1{SOCKET}/nowhere")
    threading.Timer(0.1, lock.release).start()
    take_lock(lock_file, 5).release()


KILLED_WHILE_IT_STARTS_A_COMMAND = """
import os, signal, socket, sys
from supervisor.daemon.daemon_lock import DaemonLock
lock, address = DaemonLock(sys.argv[1]), sys.argv[2]
listener = socket.socket(socket.AF_UNIX)
listener.bind(address)
listener.listen()
lock.tell(address)
if os.fork() == 0:
    sys.stdin.read()  # not at its exec yet, which would close what it has inherited
else:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_daemon_does_not_answer_though_a_child_of_it_still_holds_everything(
    lock_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "s")
    command = [sys.executable, "-c", KILLED_WHILE_IT_STARTS_A_COMMAND, lock_file, address]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as daemon:
        assert daemon.stdin is not None
        assert daemon.wait(20) == -signal.SIGKILL
        with pytest.raises(AlreadyRunning):
            DaemonLock(lock_file)
        looks: list[bool] = []

        def looked(of: str) -> bool:
            looks.append(is_answering(of))
            daemon.stdin.close()  # type: ignore[union-attr]  # it is no None, see above
            return looks[-1]

        monkeypatch.setattr(daemon_lock, "is_answering", looked)
        take_lock(lock_file, 5).release()
        assert looks[0] is False


def test_a_daemon_that_starts_while_another_stops_gets_the_lock_afterwards(lock_file: str) -> None:
    lock = DaemonLock(lock_file)
    threading.Timer(0.1, lock.release).start()
    taken = take_lock(lock_file, 5)
    taken.release()


def test_a_socket_without_a_listener_does_not_answer(tmp_path: Path) -> None:
    address = str(tmp_path / "s")
    listen(address).close()
    assert not is_answering(address)
    assert not is_answering(str(tmp_path / "none"))


def test_the_pid_file_is_private_and_whole_whatever_was_there(tmp_path: Path) -> None:
    path = tmp_path / "daemon.pid"
    path.write_text("a longer text than a pid\n")
    path.chmod(0o666)
    write_pid(str(path))
    assert path.read_text() == f"{os.getpid()}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    remove_pid(str(path))
    remove_pid(str(path))
    assert list(tmp_path.iterdir()) == []
