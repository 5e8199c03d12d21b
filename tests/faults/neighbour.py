"""A client beside an attacker, and the times of its pings."""

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
    """A connection that only sends pings."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._sock = connected(path, "mcp")
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def ping(self) -> float:
        """The time of one ping in seconds."""
        self._number += 1
        began = time.perf_counter()
        self._sock.sendall(line({"jsonrpc": "2.0", "id": self._number, "method": "ping"}))
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._sock.recv(1 << 16)
        return time.perf_counter() - began

    def pings(self, for_s: float) -> list[float]:
        """Times of pings, sorted."""
        until, found = time.perf_counter() + for_s, []
        while time.perf_counter() < until:
            found.append(self.ping())
            time.sleep(PAUSE_S)
        return sorted(found)


def share(times: list[float], part: float) -> float:
    """The time that this share of the pings stays below."""
    return times[min(len(times) - 1, int(len(times) * part))]


@contextmanager
def worst(kind: str, path: str, conversation: str) -> Iterator[subprocess.Popen[bytes]]:
    """An attacker in a process of its own, running from the start of the block to its end."""
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
