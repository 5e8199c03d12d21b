"""The listener in a process of its own: without descriptors, and dialled by another user."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.transports.doors import Reading, SocketPeer
from tests.transports.house import PATIENCE_S, LoopThread
from tests.transports.place import HELLO, WELCOME, Guests, Place, error_of
from transports.listener import ListenerLimits

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 40


class Server(Guests):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.transports.scarce_server", str(path), str(LIMIT)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def stop(self) -> str:
        """Stop the server, which must end well; returns its log."""
        self.leave()
        _, log = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, log.decode()
        return log.decode()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "run" / "g.sock")
    yield server
    if server.process.poll() is None:
        server.process.kill()
        server.process.communicate()


def cpu(client: tuple[SocketPeer, Reading], word: bytes = b"cpu") -> float:
    client[0].send(word + b"\n")
    return float(client[1].line())


def test_without_descriptors_clients_are_refused_as_retryable_until_some_are_free(server: Server) -> None:
    first = server.enter()
    cpu(first, b"hog")
    for _ in range(10):
        error = error_of(server.dial()[1])
        assert (error["data"]["code"], error["data"]["retryable"]) == ("overloaded", True)
    cpu(first, b"free")
    server.enter()
    log = server.stop()
    assert log.count("listener.exhausted") == 1
    assert log.count("listener.recovered") == 1
    assert "Traceback" not in log


def test_with_more_clients_than_descriptors_some_are_served_and_all_are_told(server: Server) -> None:
    welcomed = refused = 0
    for _ in range(2 * LIMIT):
        peer, reads = server.dial()
        with contextlib.suppress(BrokenPipeError):  # refused before it could say anything
            peer.send(HELLO)
        answer = json.loads(reads.line())
        welcomed += answer == WELCOME
        refused += answer.get("error", {}).get("data", {}).get("code") == "overloaded"
    assert welcomed > LIMIT // 2
    assert welcomed + refused == 2 * LIMIT
    server.stop()


def test_when_not_even_the_reserve_helps_clients_wait_and_nothing_spins(server: Server) -> None:
    first = server.enter()
    before = cpu(first, b"none")
    peer, reads = server.dial()
    peer.send(HELLO)
    time.sleep(0.6)  # the client waits at the door: what is measured is what a while of that costs
    spent = cpu(first) - before
    assert spent < 0.2, "it spins"
    cpu(first, b"some")
    assert json.loads(reads.line()) == WELCOME
    assert "Traceback" not in server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_is_refused_with_a_clear_line_and_it_is_logged(loop: LoopThread) -> None:
    """The directory keeps others out already; here it is opened to them, so that the check of the user is tested."""
    directory = Path(tempfile.mkdtemp(dir="/tmp"))  # the other user must be able to get there
    place = Place(loop, directory / "g.sock", ListenerLimits())
    place.open()
    directory.chmod(0o755)
    place.path.chmod(0o666)
    code = (
        "import os, socket, sys; os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3);"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); sys.stdout.buffer.write(s.makefile('rb').read())"
    )
    with capture_logs() as logs:
        done = subprocess.run(
            [sys.executable, "-c", code, str(place.path)], capture_output=True, timeout=PATIENCE_S, check=True
        )
    error = json.loads(done.stdout)["error"]
    assert error["data"]["code"] == "not_allowed"
    assert "you are uid 65534" in error["message"]
    assert [(one["event"], one["uid"]) for one in logs] == [("listener.foreign", 65534)]
    assert place.listener.clients == 0
    place.enter()
    place.close()
    shutil.rmtree(directory)
