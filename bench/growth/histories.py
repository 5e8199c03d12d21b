"""The cost of a long history: CPU and memory of a turn after it, its neighbours' delay, reading and exporting it.

    python -m bench.growth.histories                    this checkout
    python -m bench.growth.histories --against DIR      another one beside it, such as an older version
    python -m bench.growth.histories --json             for a program

A history is imported, the daemon is started anew, and its first turn wakes the conversation. CPU is that of the whole
daemon, kernel included. The floor is the same turn after a history of 10 KiB; of the bytes that a request has, a
bare socket's `sendall` of as many.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.faults import daemon_harness  # noqa: E402  # behind the line that finds them
from tests.faults.caller import Caller, Refused  # noqa: E402
from tests.faults.daemon_harness import DaemonHarness, served_by  # noqa: E402
from tests.support.history_files import exported, file_of  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
SIZES = (10 * KIB, MIB, 8 * MIB, 16 * MIB)
EVENTS = 100_000
LONG = 16 * MIB
TURNS, MANY = 20, 100
PAGE = 256  # events
PING_S = 0.002
PARKED_S = 3
HELD_UP_MS = 3.0
IDLE = f"[greenroom]\nidle_park_seconds = {PARKED_S}\n"

Json = dict[str, Any]


@contextmanager
def quick_model() -> Iterator[str]:
    program = [sys.executable, "-m", "bench.growth.quick_model"]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGTERM)


# --- histories ------------------------------------------------------------------------------------------------------


def turn_events(number: int, output: str) -> Iterator[tuple[str, Json]]:
    """Yield the events of a turn with one command, about 5 KiB with an output of 4."""
    call, item, said = f"call-{number}", f"item-{number}", f"What does file {number} say? " + "Tell me more. " * 10
    yield "task_started", {}
    yield "user_message", {"message": said, "items": [{"type": "text", "text": said}], "input_id": f"in-{number}"}
    arguments = json.dumps({"command": ["cat", f"file-{number}"]})
    yield "tool_call", {"call_id": call, "item_id": item, "name": "shell", "arguments": arguments}
    yield "tool_output", {"call_id": call, "item_id": item, "output": json.dumps({"output": output})}
    yield "agent_message", {"message": f"File {number} says a lot. " + "It goes on like that. " * 20}
    yield "task_complete", {}


def lines_of(header: Json, first: list[Json], bodies: Iterator[tuple[str, Json, str]]) -> Iterator[str]:
    rows = list(first)
    for kind, body, turn in bodies:
        seq = len(rows) + 1
        rows.append({"seq": seq, "ts": 1.7e9 + seq / 100, "turn": turn, "type": kind, "body": {"type": kind, **body}})
    header["head"]["last_seq"] = len(rows)
    yield json.dumps(header)
    yield from (json.dumps(row) for row in rows)


def long_talk(size: int, most_lines: int = 400) -> Iterator[tuple[str, Json, str]]:
    """Yield turns until the model would read so many bytes."""
    made, number = 0, 0
    while made < size:
        output = f"line {number}\n" * min(most_lines, max(1, size // 40))
        for kind, body in turn_events(number, output):
            made += len(json.dumps(body))
            yield kind, body, f"t{number}"
        number += 1


def many_events(count: int) -> Iterator[tuple[str, Json, str]]:
    for number in range(count // 6):
        for kind, body in turn_events(number, "short"):
            yield kind, body, f"t{number}"


def import_history(caller: Caller, bodies: Iterator[tuple[str, Json, str]]) -> str:
    """Import a history under a new id."""
    seed = caller.create()
    exported_lines = exported(caller, seed)
    header, first = json.loads(exported_lines[0]), [json.loads(line) for line in exported_lines[1:]]
    header["head"]["conversation"] = f"{seed[:-4]}feed"
    with file_of(lines_of(header, first, bodies)) as file:
        return str(caller.start("conversation/import", file=file, new_id=True).result(300)["conversation"])


# --- probes ---------------------------------------------------------------------------------------------------------


def cpu_s(pid: int) -> float:
    """Return the CPU time of another process, to the nanosecond."""
    return time.clock_gettime((~pid << 3) | 2)


def kernel_s(pid: int) -> float:
    """Return the part of that time that the kernel has used, in steps of ten milliseconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[12]) / os.sysconf("SC_CLK_TCK")


class LoopNotes:
    """Notes of the callbacks that have held up the loop of a daemon that was started with `wrapper`."""

    def __init__(self, directory: str) -> None:
        self._file = Path(directory) / "notes"
        self.wrapper = (sys.executable, str(ROOT / "bench" / "growth" / "watched.py"), str(self._file))

    def longest(self) -> tuple[float, float, str]:
        """Return the CPU time and the time of the longest callback since the last call, in milliseconds."""
        notes = [line.split(" ", 2) for line in self._file.read_text(encoding="utf-8").splitlines()]
        os.truncate(self._file, 0)
        return max(((float(cpu), float(took), what) for cpu, took, what in notes), default=(0.0, 0.0, ""))


class Pings:
    """A neighbour that asks something small every two milliseconds, and notes the time of each answer."""

    def __init__(self, harness: DaemonHarness) -> None:
        self._caller = harness.caller("neighbour")
        self._conversation = self._caller.create()
        self.took_ms: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ping)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ping(self) -> None:
        while not self._over.is_set():
            began = time.perf_counter()
            self._caller.call("conversation/get", conversation=self._conversation)
            self.took_ms.append((time.perf_counter() - began) * 1e3)
            time.sleep(PING_S)

    def p99(self) -> float:
        return sorted(self.took_ms)[len(self.took_ms) * 99 // 100]

    @property
    def worst(self) -> float:
        return max(self.took_ms)


def sent_bare_ms(size: int) -> float:
    """Return the CPU of this process to send so many bytes over loopback to a reader that is another process."""
    listener = socket.create_server(("127.0.0.1", 0))
    reading = (
        "import socket,sys\n"
        f"s = socket.create_connection(('127.0.0.1', {listener.getsockname()[1]}))\n"
        "room = bytearray(1 << 20)\n"
        "while s.recv_into(room): pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", reading]):
        connection, _ = listener.accept()
        data = b"x" * size
        times = []
        for _ in range(10):
            began = time.process_time()
            connection.sendall(data)
            times.append((time.process_time() - began) * 1e3)
            time.sleep(0.01)
        connection.close()
    listener.close()
    return statistics.median(times)


# --- figures --------------------------------------------------------------------------------------------------------


def turns(harness: DaemonHarness, caller: Caller, conversation: str, count: int = TURNS) -> tuple[float, float]:
    """Return the CPU and the time of one turn, in milliseconds."""
    used, took = [], []
    for _ in range(count):
        cpu, began = cpu_s(harness.pid), time.perf_counter()
        caller.send(conversation, "say ok", wait=True)
        took.append((time.perf_counter() - began) * 1e3)
        used.append((cpu_s(harness.pid) - cpu) * 1e3)
    return statistics.median(used), statistics.median(took)


def figures_after(size: int, base_url: str) -> Json:
    """Return the figures of turns after a history of this size."""
    found: Json = {}
    with tempfile.TemporaryDirectory() as home:
        harness = DaemonHarness(Path(home) / "home", served_by(base_url).replace("[greenroom]\n", IDLE))
        with harness:
            conversation = import_history(harness.caller(), long_talk(size))
            restart(harness)
            caller = harness.caller()
            short = caller.create()
            turns(harness, caller, short, 5)
            before = harness.rss()
            cpu, began = cpu_s(harness.pid), time.perf_counter()
            caller.send(conversation, "say ok", wait=True)
            found["first turn, ms"] = (time.perf_counter() - began) * 1e3
            found["first turn, CPU ms"] = (cpu_s(harness.pid) - cpu) * 1e3
            found["turn, CPU ms"], found["turn, ms"] = turns(harness, caller, conversation)
            found["memory, MiB"] = (harness.rss() - before) / MIB
            kernel = kernel_s(harness.pid)
            turns(harness, caller, conversation, MANY)
            found["turn, the kernel's part, ms"] = (kernel_s(harness.pid) - kernel) * 1e3 / MANY
            with Pings(harness) as pings:
                time.sleep(1)
            found["neighbour alone, p99 ms"] = pings.p99()
            with Pings(harness) as pings:
                turns(harness, caller, conversation, MANY)
            found["neighbour, p99 ms"], found["neighbour, worst ms"] = pings.p99(), pings.worst
            found["memory after all that, MiB"] = (harness.rss() - before) / MIB
            caller.close()
            time.sleep(PARKED_S + 3)
            found["memory parked, MiB"] = (harness.rss() - before) / MIB
            restart(harness, watched := LoopNotes(home))
            caller = harness.caller()
            caller.send(conversation, "say ok", wait=True)
            found["first turn, loop held up, ms"] = held_up(watched)
            turns(harness, caller, conversation, 10)
            found["turn, loop held up, ms"] = held_up(watched)
    found["bare sendall, CPU ms"] = sent_bare_ms(size)
    return found


def restart(harness: DaemonHarness, watched: LoopNotes | None = None) -> None:
    harness.leave()
    harness.signal(signal.SIGTERM)
    harness.ended()
    harness.start(watched.wrapper if watched else ())
    if watched:
        watched.longest()  # of the start


def held_up(watched: LoopNotes) -> float:
    cpu_ms, _, what = watched.longest()
    if cpu_ms > HELD_UP_MS:
        print(f"held up for {cpu_ms} ms: {what}", file=sys.stderr)
    return cpu_ms


def reading(base_url: str, events: Iterator[tuple[str, Json, str]]) -> Json:
    """Return the cost of reading a long history in every way, and the delay of a neighbour meanwhile."""
    found: Json = {}
    with tempfile.TemporaryDirectory() as home, DaemonHarness(Path(home) / "home", served_by(base_url)) as harness:
        conversation = import_history(harness.caller(), events)
        restart(harness, watched := LoopNotes(home))
        caller = harness.caller()
        for name, way in (("attach", _attach), ("page back", _page_back), ("export", _export)):
            before = harness.rss()
            with Pings(harness) as pings:
                cpu, began = cpu_s(harness.pid), time.perf_counter()
                seen = way(caller, conversation)
                found[f"{name}, s"] = time.perf_counter() - began
                found[f"{name}, CPU s"] = cpu_s(harness.pid) - cpu
            found[f"{name}, events"] = seen
            found[f"{name}, memory MiB"] = (harness.rss() - before) / MIB
            found[f"{name}, neighbour p99 ms"] = pings.p99()
            found[f"{name}, neighbour worst ms"] = pings.worst
            found[f"{name}, loop held up, ms"] = held_up(watched)
    return found


def _attach(caller: Caller, conversation: str) -> int:
    done, seen = threading.Event(), [0]
    answer = caller.call("conversation/attach", conversation=conversation, after=0, read_only=True)

    def take(message: Json) -> None:
        seen[0] += len(message["params"].get("events", ()))
        if message["params"].get("live"):
            done.set()

    caller.listen(answer["subscription"], take)
    assert done.wait(300)
    caller.call("conversation/detach", subscription=answer["subscription"])
    return seen[0]


def _page_back(caller: Caller, conversation: str) -> int:
    """Page back from the end. A version that has no `before` is asked for pages of a computed beginning."""
    before = int(caller.call("conversation/get", conversation=conversation)["seq"]) + 1
    seen = 0
    while before > 1:
        try:
            page = caller.call("conversation/history", conversation=conversation, before=before, limit=PAGE)
        except Refused:
            after = max(0, before - 1 - PAGE)
            page = caller.call("conversation/history", conversation=conversation, after=after, limit=PAGE)
        seen += len(page["events"])
        before = page["events"][0]["seq"]
    return seen


def _export(caller: Caller, conversation: str) -> int:
    return len(exported(caller, conversation))


def measure(sizes: Sequence[int]) -> Json:
    with quick_model() as base_url:
        found: Json = {size_name(size): figures_after(size, base_url) for size in sizes}
        found[f"{EVENTS:,} events"] = reading(base_url, many_events(EVENTS))
        found[f"{size_name(LONG)} of large events"] = reading(base_url, long_talk(LONG, 2_000))
    return found


def size_name(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--size", type=int, action="append", help="of a history in KiB, in place of the usual ones")
    chosen = parser.parse_args()
    sizes = [size * KIB for size in chosen.size] if chosen.size else SIZES
    new = measure(sizes)
    old: Json = {}
    if chosen.against:
        daemon_harness.ROOT = chosen.against.resolve()
        old = measure(sizes)
    if chosen.json:
        print(json.dumps({"new": new, "old": old}, indent=1))
        return
    for part, figures in new.items():
        print(f"\n{part}, load {os.getloadavg()[0]:.1f}")
        for name, value in figures.items():
            before = f"{old[part][name]:12,.2f}" if old else ""
            print(f"  {name:32}{value:12,.2f}{before}")


if __name__ == "__main__":
    main()
