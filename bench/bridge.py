"""The cost of the bridge: its start, the answer to an introduction, its memory, a round trip, long lines.

python bench/bridge.py
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.bridge import Client, FakeDaemon, Talk, answer, encoded, request

ROUNDS = 15
PATIENCE_S = 20.0
INTRODUCTIONS: dict[str, dict[str, object]] = {
    "acp": {"protocolVersion": 1, "clientCapabilities": {}},
    "mcp": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
TRIPS = 2_000
LINES = 50_000
GREENROOM = str(Path(sys.executable).with_name("greenroom"))  # as an editor starts it


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as name:
        home = Path(name)
        with FakeDaemon(home) as daemon:
            bare = median_ms(bare_start, ROUNDS)
            row("bare interpreter, start to end", f"{bare:.1f} ms", "")
            for verb in INTRODUCTIONS:
                hello = median_ms(partial(first_hello, home, daemon, verb), ROUNDS)
                row(f"{verb}: start to hello", f"{hello:.1f} ms, {hello / bare:.2f} times", "1.7 times")
                warm = median_ms(partial(first_answer, home, verb, daemon), ROUNDS)
                row(f"{verb}: start to initialize answered, warm", f"{warm:.1f} ms, {warm / bare:.2f} times", "")
            with Client(home, "mcp", program=GREENROOM) as client:
                measure(client, daemon.greet())

    for verb in INTRODUCTIONS:
        cold = median_ms(partial(cold_answer, verb), ROUNDS)
        row(f"{verb}: start to initialize answered, no daemon", f"{cold:.1f} ms, {cold / bare:.2f} times", "30 ms")


def measure(client: Client, talk: Talk) -> None:
    row("memory, idle", f"{resident_mib(client.process.pid):.1f} MiB", "15 MiB")
    trips = sorted(trip_us(client, talk, number) for number in range(TRIPS))
    row("round trip, median / p99", f"{trips[TRIPS // 2]:.0f} / {trips[TRIPS * 99 // 100]:.0f} µs", "")
    event = encoded({"jsonrpc": "2.0", "method": "codex/event", "params": {"text": "x" * 200}})
    seconds = time_s(lambda: stream(talk, client, event * LINES, LINES))
    row("events of 250 bytes, daemon to client", f"{LINES / seconds:,.0f} a second", "")
    for mib in (1, 4, 16):
        line = encoded(answer(0, text="y" * (mib << 20)))
        seconds = min(time_s(partial(stream, talk, client, line, 1)) for _ in range(3))
        row(f"one line of {mib} MiB, daemon to client", f"{seconds * 1000:.0f} ms, {mib / seconds:.0f} MiB/s", "")
    row("memory, after all that", f"{resident_mib(client.process.pid):.1f} MiB", "")


def bare_start() -> float:
    return time_s(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))


def cold_answer(verb: str) -> float:
    """The time in a fresh home, where the daemon's start takes processor time from the bridge."""
    with tempfile.TemporaryDirectory(prefix="greenroom-bench-") as name:
        took = first_answer(Path(name), verb)
        end_daemon(Path(name))
    return took


def first_answer(home: Path, verb: str, daemon: FakeDaemon | None = None) -> float:
    """The time from the start of a bridge until its client has read the answer to its first request."""
    began = time.perf_counter()
    with Client(home, verb, program=GREENROOM) as client:
        client.say(request(0, "initialize", **INTRODUCTIONS[verb]))
        if daemon is not None and verb == "mcp":
            talk = daemon.greet()
            talk.line()
            talk.say(answer(0))
        client.line()
        took = time.perf_counter() - began
        if daemon is None:
            client.ask(1, "nothing/of/this")  # answered by the daemon, or before there is one
        elif verb != "mcp":
            daemon.accept()
        client.leave()
    return took


def end_daemon(home: Path) -> None:
    """End the daemon that a bridge has started, once it is there."""
    pid = home / "run" / "daemon.pid"
    deadline = time.monotonic() + PATIENCE_S
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.01)
    number = int(pid.read_text())
    os.kill(number, signal.SIGTERM)
    while Path(f"/proc/{number}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def first_hello(home: Path, daemon: FakeDaemon, verb: str) -> float:
    began = time.perf_counter()
    with Client(home, verb, program=GREENROOM) as client:
        daemon.accept().line()
        took = time.perf_counter() - began
        client.leave()
    return took


def trip_us(client: Client, talk: Talk, number: int) -> float:
    began = time.perf_counter()
    client.say(request(number))
    talk.line()
    talk.say(answer(number))
    client.line()
    return (time.perf_counter() - began) * 1e6


def stream(talk: Talk, client: Client, data: bytes, lines: int) -> None:
    speaker = threading.Thread(target=talk.say, args=(data,))
    speaker.start()
    for _ in range(lines):
        client.line()
    speaker.join()


def resident_mib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def median_ms(measured: Callable[[], float], rounds: int) -> float:
    return statistics.median(measured() for _ in range(rounds)) * 1000


def time_s(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def row(what: str, value: str, floor: str) -> None:
    print(f"{what:44}{value:32}{'floor ' + floor if floor else ''}")


if __name__ == "__main__":
    main()
