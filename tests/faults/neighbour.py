"""A client beside an attacker, and the times of its pings."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from tests.faults.attackers import connected, request

ROOT = Path(__file__).resolve().parents[2]
PAUSE_S = 0.002  # between pings: what is measured is not to be its own load


class Neighbour:
    """A connection that only sends pings."""

    def __init__(self, path: str) -> None:
        self._sock = connected(path, "mcp")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def ping(self) -> float:
        """The time of one ping in seconds."""
        began = time.perf_counter()
        self._sock.sendall(request("ping"))
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._sock.recv(1 << 16)
        return time.perf_counter() - began


def pings(neighbour: Neighbour, idle: Neighbour, for_s: float) -> tuple[list[float], list[float]]:
    """Ping two daemons in turn. The machine holds up both as much; for the rest the first daemon is to blame."""
    until, times, meanwhile = time.perf_counter() + for_s, list[float](), list[float]()
    while time.perf_counter() < until:
        times.append(neighbour.ping())
        meanwhile.append(idle.ping())
        time.sleep(PAUSE_S)
    return times, meanwhile


def p99(times: list[float]) -> float:
    """The time that 99 of 100 stay below."""
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.99))]


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
