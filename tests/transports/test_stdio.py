"""Standard streams as a wire: in a real process, with every kind of descriptor it may be given."""

import contextlib
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.transports.house import PATIENCE_S
from transports.stdio import LINGER_S, StandardStreams

ROOT = Path(__file__).resolve().parents[2]
SERVER = [sys.executable, "-m", "tests.transports.stdio_server"]


def run(
    stdin: "int | IO[bytes]", stdout: "int | IO[bytes]" = subprocess.PIPE
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        SERVER, cwd=ROOT, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False
    )


def test_stray_output_goes_to_standard_error_and_children_eat_no_lines(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"before\nnoise\nafter\n")
    with (tmp_path / "in").open("rb") as lines:
        done = run(lines)
    assert done.stdout == b"before\nnoise\nafter\n"
    for stray in (b"printed", b"written", b"child"):
        assert stray in done.stderr
    assert done.returncode == 0


def test_files_may_be_both_ends(tmp_path: Path) -> None:
    lines = b"".join(b"%d " % number * 100 + b"\n" for number in range(3000))
    (tmp_path / "in").write_bytes(lines)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        assert run(source, sink).returncode == 0
    assert (tmp_path / "out").read_bytes() == lines


def test_without_any_input_it_ends_at_once() -> None:
    done = run(subprocess.DEVNULL)  # which does not wait for long
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_end_of_input_ends_it_within_a_second_though_an_answer_is_owed() -> None:
    with subprocess.Popen(
        SERVER, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"owe\nlast\n")
        server.stdin.flush()
        assert server.stdout.readline() == b"last\n"
        closed = time.monotonic()
        server.stdin.close()
        assert server.stdout.read() == b""
        took = time.monotonic() - closed
        assert server.wait(PATIENCE_S) == 0
    assert LINGER_S * 0.8 < took < LINGER_S + 1.0  # a busy machine adds its own


def test_a_reader_that_goes_away_ends_it() -> None:
    with subprocess.Popen(
        SERVER, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"first\n")
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        server.stdin.write(b"second\n")
        server.stdin.flush()
        assert server.wait(PATIENCE_S) == 0


def test_a_terminal_is_served_and_its_flags_are_left_alone() -> None:
    """Other programs on the terminal, the shell first of all, must not find it non-blocking."""
    outer, inner = pty.openpty()
    try:
        with subprocess.Popen(SERVER, cwd=ROOT, stdin=inner, stdout=inner, stderr=subprocess.DEVNULL) as server:
            os.write(outer, b"hello\n")
            seen = b""
            while seen.count(b"hello") < 2:  # once by the terminal's own echo, once by the server
                seen += os.read(outer, 1000)
            assert os.get_blocking(inner)
            os.write(outer, b"\x04")  # end of input, as a person types it
            assert server.wait(PATIENCE_S) == 0
        assert os.get_blocking(inner)
    finally:
        os.close(outer)
        os.close(inner)


@pytest.mark.parametrize("blocking", [True, False])
def test_the_descriptors_are_given_back_as_they_were(blocking: bool) -> None:
    ours, theirs = os.pipe()
    sink = os.open(os.devnull, os.O_WRONLY)
    for fd in (ours, theirs):
        os.set_blocking(fd, blocking)
    before = [os.fstat(fd).st_ino for fd in (ours, theirs)]
    streams = StandardStreams(ours, theirs, sink)
    assert [os.fstat(fd).st_ino for fd in (ours, theirs)] != before
    with pytest.raises(BlockingIOError):
        streams.read(10)
    streams.close()
    assert [os.fstat(fd).st_ino for fd in (ours, theirs)] == before
    assert [os.get_blocking(fd) for fd in (ours, theirs)] == [blocking, blocking]
    for fd in (ours, theirs, sink):
        os.close(fd)


def test_a_full_pipe_is_said_to_be_full_and_never_waited_for() -> None:
    ours, theirs = os.pipe()
    empty, sink = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
    streams = StandardStreams(empty, theirs, sink)
    data = memoryview(b"x" * 100_000)
    with contextlib.suppress(BlockingIOError):
        for _ in range(1000):
            streams.write(data)
    with pytest.raises(BlockingIOError):
        streams.write(data)
    streams.close()
    for fd in (ours, theirs, empty, sink):
        os.close(fd)
