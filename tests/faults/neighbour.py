"""A client beside the one that does its worst: how long its pings take."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from tests.faults.attackers import connected, line

ROOT = Path(__file__).resolve().parents[2]
PAUSE_S = 0.002  # between pings: what is measured is not to be its own load


class Neighbour:
    """One connection that asks for nothing but a ping."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._sock = connected(path, "mcp")
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def ping(self) -> float:
        """In seconds."""
        self._number += 1
        began = time.perf_counter()
        self._sock.sendall(line({"jsonrpc": "2.0", "id": self._number, "method": "ping"}))
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._sock.recv(1 << 16)
        return time.perf_counter() - began

    def pings(self, for_s: float) -> list[float]:
        """Sorted."""
        until, found = time.perf_counter() + for_s, []
        while time.perf_counter() < until:
            found.append(self.ping())
            time.sleep(PAUSE_S)
        return sorted(found)


def share(times: list[float], part: float) -> float:
    """The time that so large a part of them stays below."""
    return times[min(len(times) - 1, int(len(times) * part))]


@contextmanager
def worst(kind: str, path: str, conversation: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does it, from when it has begun until the end of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.attackers", kind, path, conversation],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n", f"{kind} did not begin"
            yield process
        finally:
            process.kill()


def joined(path: str) -> float:
    """Seconds that a new client waits for its welcome."""
    began = time.perf_counter()
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(5)
        sock.connect(path)
        client = {"name": "new", "version": "0", "cwd": "/", "env": {}}
        sock.sendall(line({"greenroom": {"protocol": 1, "dialect": "control", "client": client}}))
        answer = sock.recv(1 << 16)
        assert b'"instance"' in answer, answer
    return time.perf_counter() - began
