"""The least cost of each step on this machine, in this run, to compare the figures with."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.whole.rows import p50
from tests.faults.daemon_harness import ROOT

ROUNDS = 15


def timed_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


def interpreter_ms(program: str = "pass") -> float:
    return p50([timed_ms(lambda: subprocess.run([sys.executable, "-c", program], check=True)) for _ in range(ROUNDS)])


def interpreter_mib() -> float:
    """Memory of an interpreter that only waits for a line."""
    waiting = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as interpreter:
        assert interpreter.stdout is not None
        interpreter.stdout.readline()
        pages = int(Path(f"/proc/{interpreter.pid}/statm").read_text(encoding="ascii").split()[1])
        interpreter.communicate(b"\n")
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def echo_ms(rounds: int = 2000) -> list[float]:
    """The times of a line there and back between two threads over a socket pair."""
    here, there = socket.socketpair()

    def serve() -> None:
        while data := there.recv(65536):
            there.sendall(data)

    thread = threading.Thread(target=serve)
    thread.start()

    def round_trip() -> None:
        here.sendall(b"x" * 100)
        here.recv(65536)

    times = [timed_ms(round_trip) for _ in range(rounds)]
    here.close()
    thread.join()
    there.close()
    return times


def hand_over_ms(rounds: int = 200) -> float:
    """The time from one thread to another that sleeps, as in a turn: now and then, so that nothing is warm."""
    ball, back = threading.Semaphore(0), threading.Semaphore(0)
    times: list[float] = []

    def other() -> None:
        for _ in range(rounds):
            ball.acquire()
            times.append((time.perf_counter() - thrown) * 1e3)
            back.release()

    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(rounds):
        time.sleep(0.003)
        thrown = time.perf_counter()
        ball.release()
        back.acquire()
    thread.join()
    return p50(times)


def http_ms(base_url: str, script: str, rounds: int) -> list[float]:
    """The times of the same request and answer by the standard library alone, over one kept connection."""
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": script}]})
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        connection.getresponse().read()
        times.append((time.perf_counter() - began) * 1e3)
    connection.close()
    return times


def streams_s(base_url: str, streams: int, script: str) -> tuple[float, float]:
    """Many answers at once, read by sockets and a loop alone: seconds, and seconds of CPU."""
    command = [sys.executable, "-m", "bench.whole.bare_streams", base_url, str(streams), script]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    took, used = told.split()
    return float(took), float(used)


@dataclass(frozen=True, slots=True)
class Bare:
    """The model and a command, asked directly."""

    turn_ms: list[float]
    delta_us: float  # of CPU, in one stream
    deltas_per_s: float
    kill_ms: list[float]


def bare(base_url: str, turns: int, deltas: int) -> Bare:
    took, used = streams_s(base_url, 1, f"pack 4096; stream {deltas} word")
    return Bare(http_ms(base_url, "say x", turns), used / deltas * 1e6, deltas / took, kill_ms())


def commits_per_s(directory: Path, commits: int = 500) -> float:
    """The rate of transactions of one row, synced, by SQLite alone."""
    db = sqlite3.connect(directory / "floor.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
    began = time.perf_counter()
    for number in range(commits):
        db.execute("INSERT INTO t VALUES (?, ?)", (number, b"x" * 1000))
    took = time.perf_counter() - began
    db.close()
    return commits / took


def kill_ms(rounds: int = 50) -> list[float]:
    """The times from TERM to a sleeping process until it can be waited for."""
    return [kill_all_ms(1) for _ in range(rounds)]


def kill_all_ms(count: int) -> float:
    """The time of the same with several at once, until the last of them was waited for."""
    sleepers = [subprocess.Popen(["sleep", "300"]) for _ in range(count)]
    began = time.perf_counter()
    for sleeper in sleepers:
        os.kill(sleeper.pid, signal.SIGTERM)
    for sleeper in sleepers:
        sleeper.wait()
    return (time.perf_counter() - began) * 1e3
