"""Messages to systemd, received by a socket of ours in its place."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.daemon.systemd import READY, WELL, Notifier

PATIENCE_S = 20.0


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"{tmp_path}/n")
        listening.settimeout(PATIENCE_S)
        yield listening


def test_one_datagram_says_all_of_it(manager: socket.socket) -> None:
    Notifier({"NOTIFY_SOCKET": manager.getsockname()}).tell(READY, "STATUS=well")
    assert manager.recv(4096) == b"READY=1\nSTATUS=well"


@pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")
def test_an_abstract_socket_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0greenroom-test-{os.getpid()}")
        Notifier({"NOTIFY_SOCKET": f"@greenroom-test-{os.getpid()}"}).tell(WELL)
        listening.settimeout(PATIENCE_S)
        assert listening.recv(64) == b"WATCHDOG=1"


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_nobody_there_is_no_error(address: str) -> None:
    Notifier({"NOTIFY_SOCKET": address}).tell(READY)


def test_the_watchdog_hears_of_us_three_times_in_its_limit() -> None:
    assert Notifier({"WATCHDOG_USEC": "30000000"}).interval_s == 10.0
    assert Notifier({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}).interval_s is None
    assert Notifier({"WATCHDOG_USEC": "nonsense"}).interval_s is None
    assert Notifier({}).interval_s is None


def test_the_daemon_says_ready_well_and_stopping(manager: socket.socket, tmp_path: Path) -> None:
    env = {
        **os.environ,
        "GREENROOM_HOME": str(tmp_path / "home"),
        "NOTIFY_SOCKET": manager.getsockname(),
        "WATCHDOG_USEC": "60000",
    }
    with subprocess.Popen([sys.executable, "-m", "supervisor"], env=env) as daemon:
        try:
            assert manager.recv(4096).startswith(b"READY=1\nSTATUS=listening at ")
            assert manager.recv(4096) == b"WATCHDOG=1"
        finally:
            daemon.terminate()
        while (told := manager.recv(4096)) == b"WATCHDOG=1":
            pass
        assert told == b"STOPPING=1"
    assert daemon.returncode == 0
