"""The bridge ends within a second of the client's end of input, whatever the other side does."""

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.bridge import BRIDGE, NO_DAEMON, Client, FakeDaemon, answer, encoded, request, wait_until

LIMIT_S = 1.5  # a second, and what a busy machine adds
HANGS = "import time; time.sleep(30)"


def test_it_leaves_at_once_when_nothing_is_under_way(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1))
    talk.line()
    talk.say(answer(1))
    client.line()
    client.leave()
    assert client.process.returncode == 0
    assert talk.line() == b""
    assert "ended: the client left\n" in client.log  # and not "before …", which is what its patience is for


def test_answers_under_way_are_delivered_after_the_end_of_input(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1), request(2))
    assert client.process.stdin is not None
    client.process.stdin.close()
    talk.line(), talk.line()
    talk.say(answer(1))
    talk.say(answer(2))
    assert [client.message(), client.message()] == [answer(1), answer(2)]
    assert client.line() == b""
    assert client.process.wait(5) == 0


def test_a_request_that_is_not_answered_in_time_is_told_so(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1))
    talk.line()
    assert client.leave() < LIMIT_S
    error = client.message()["error"]
    assert error["data"] == {"code": "client_left", "retryable": True}
    assert "conversations are kept in the daemon" in error["message"]


def test_it_leaves_in_time_when_the_daemon_never_welcomes_it(daemon: FakeDaemon, client: Client) -> None:
    daemon.accept()
    client.say(request(1))
    assert client.leave() < LIMIT_S


def test_it_leaves_in_time_when_the_daemon_never_accepts(daemon: FakeDaemon, client: Client) -> None:
    client.say(request(1))
    daemon.wait_dialled()
    assert client.leave() < LIMIT_S


def test_it_leaves_in_time_when_the_daemon_takes_nothing(daemon: FakeDaemon, client: Client) -> None:
    """The client has filled everything there is before it leaves: the end of its input lies behind all that."""
    daemon.greet()
    assert client.process.stdin is not None
    descriptor = client.process.stdin.fileno()
    os.set_blocking(descriptor, False)
    taken = time.monotonic()
    while time.monotonic() - taken < 0.2:
        try:
            os.write(descriptor, b"x" * 65_535 + b"\n")
            taken = time.monotonic()
        except BlockingIOError:
            threading.Event().wait(0.01)
    assert client.leave() < LIMIT_S


def test_it_leaves_in_time_when_nobody_reads_its_output(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    talk.sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            talk.sock.send(encoded({"jsonrpc": "2.0", "method": "x", "params": "y" * 60_000}))
            threading.Event().wait(0.002)
    assert client.leave() < LIMIT_S


def test_it_leaves_in_time_while_a_daemon_is_coming_up(tmp_path: Path) -> None:
    with Client(tmp_path, "--launch", HANGS) as client:
        client.say(request(1))
        (starting,) = wait_for_children(client.process.pid)
        assert client.leave() < LIMIT_S
        assert client.message()["error"]["data"]["code"] == "client_left"
        assert client.process.returncode == 0
        os.kill(starting, 9)


def wait_for_children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    wait_until(lambda: bool(path.read_text().split()), "no daemon was started")
    return [int(word) for word in path.read_text().split()]


@pytest.mark.usefixtures("daemon")
def test_a_client_that_left_before_we_looked_is_no_trouble(tmp_path: Path) -> None:
    with Client(tmp_path, stdin=subprocess.DEVNULL) as client:
        assert client.process.wait(5) == 0
        assert client.line() == b""


def test_a_file_as_input_is_served_whole(daemon: FakeDaemon, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"".join(encoded(request(number)) for number in range(500)))
    with script.open("rb") as stdin, Client(tmp_path, stdin=stdin.fileno()) as client:
        talk = daemon.greet()
        for number in range(500):
            assert talk.message()["id"] == number
            talk.say(answer(number))
        assert [client.message()["id"] for _ in range(500)] == list(range(500))
        assert client.process.wait(5) == 0


def test_a_file_as_output_gets_every_line(daemon: FakeDaemon, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as stdout, Client(tmp_path, stdout=stdout.fileno()) as client:
        talk = daemon.greet()
        client.say(request(1))
        talk.line()
        talk.say(answer(1))
        wait_until(lambda: (tmp_path / "out").read_bytes() == encoded(answer(1)), "the answer is not in the file")
        client.leave()


def test_a_request_of_which_half_has_left_is_told_so_once(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1, text="x" * 4_000_000))
    assert select.select([talk.sock], [], [], 5)[0]  # and it reads no more of it
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.message()["error"]["data"]["code"] == "client_left"
    assert client.line() == b""


def test_it_goes_on_where_neither_its_log_nor_standard_error_can_be_written(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    daemon.greet()
    wait_until(lambda: client.log.endswith("instance fake\n"), "it did not say that it is connected")
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "state").touch()
    assert client.process.stderr is not None
    client.process.stderr.close()
    with daemon.succeeded(tmp_path) as successor:
        client.say(request(1))
        talk = successor.greet()
        assert talk.message() == request(1)


def test_a_socket_pair_as_both_ends_is_served(daemon: FakeDaemon, tmp_path: Path) -> None:
    """Some programs start their servers so."""
    ours, theirs = socket.socketpair()
    with ours, Client(tmp_path, stdin=theirs.fileno(), stdout=theirs.fileno()) as client:
        theirs.close()
        talk = daemon.greet()
        ours.sendall(encoded(request(1)))
        assert talk.message() == request(1)
        ours.shutdown(socket.SHUT_WR)
        talk.say(answer(1))
        ours.settimeout(5)
        assert ours.recv(1000) == encoded(answer(1))
        assert client.process.wait(5) == 0


def test_a_terminal_as_both_ends_is_served_and_keeps_its_flags(daemon: FakeDaemon, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    flags = os.get_blocking(theirs)
    with Client(tmp_path, stdin=theirs, stdout=theirs):
        talk = daemon.greet()
        os.write(ours, encoded(request(1)))
        assert talk.message() == request(1)
        assert os.get_blocking(theirs) == flags
        os.write(ours, b"\x04")
        assert talk.line() == b""
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("which", ["stdin", "stdout"])
def test_descriptors_that_are_shared_stay_blocking(daemon: FakeDaemon, client: Client, which: str) -> None:
    daemon.greet()
    ours = client.process.stdin if which == "stdin" else client.process.stdout
    assert ours is not None
    theirs = Path(f"/proc/{client.process.pid}")
    pipe = Path(f"/proc/self/fd/{ours.fileno()}").readlink()
    same = [fd.name for fd in (theirs / "fd").iterdir() if leads_to(fd, pipe)]
    assert same
    for name in same:
        flags = (theirs / "fdinfo" / name).read_text().split("flags:")[1].split()[0]
        assert not int(flags, 8) & os.O_NONBLOCK


def leads_to(descriptor: Path, pipe: Path) -> bool:
    """True if the descriptor is this pipe; not if it was closed since it was listed."""
    try:
        return descriptor.readlink() == pipe
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("daemon")
def test_a_closed_input_has_ended(tmp_path: Path) -> None:
    assert run_in_shell("0<&-", tmp_path) == (0, b"")


@pytest.mark.usefixtures("daemon")
def test_a_closed_output_ends_it(tmp_path: Path) -> None:
    code, _ = run_in_shell("1>&-", tmp_path)
    assert code == 1


def run_in_shell(redirection: str, home: Path) -> tuple[int, bytes]:
    command = f'exec {sys.executable} -m {BRIDGE} --launch "{NO_DAEMON}" {redirection}'
    env = {**os.environ, "GREENROOM_HOME": str(home)}
    done = subprocess.run(["/bin/sh", "-c", command], env=env, capture_output=True, timeout=5, check=False)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_an_output_that_nobody_reads_any_more_ends_it(daemon: FakeDaemon, client: Client) -> None:
    daemon.greet()
    assert client.process.stdout is not None
    client.process.stdout.close()
    assert client.process.wait(5) == 0
    assert "nobody reads" in client.log


def test_stray_prints_warnings_and_tracebacks_stay_out_of_the_wire(daemon: FakeDaemon, tmp_path: Path) -> None:
    with Client(tmp_path, program="tests.support.noisy_bridge") as client:
        talk = daemon.greet()
        client.say(request(1))
        talk.line()
        talk.say(answer(1))
        assert client.message() == answer(1)
        client.say(b"raise\n")
        assert client.line() == b""
        assert client.process.wait(5) == 1
        assert client.process.stderr is not None
        assert {b"printed", b"written"} <= set(client.process.stderr.read().split())
        assert "RuntimeError: on purpose" in client.log


def test_the_log_is_bounded(daemon: FakeDaemon, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "bridge.log").write_bytes(b"x" * (1 << 20) + b"\n")
    with Client(tmp_path) as client:
        daemon.greet()
        client.leave()
    assert "connected" in client.log
    assert len(client.log) < 1000
    assert (state / "bridge.log.1").exists()
