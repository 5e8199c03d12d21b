"""The daemon from outside: the waits of its socket's clients, next to a bare socket and bare SQLite.

Latencies from the agent are measured with an agent that ticks and has no model, because a model's HTTP is four fifths
of the daemon's work at that rate. A turn's overhead is measured with a model behind HTTP. python bench/daemon.py
[--quick]
"""

import contextlib
import json
import os
import selectors
import socket
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from actors.conversation import head_of, restore
from actors.vocabulary.events import SessionConfigured
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Record
from actors.vocabulary.settings import Settings
from bench.whole.rows import Figure, p50, p99, terminal
from supervisor.journal import SqliteJournal
from tests.support.clocked_model import clocked_model
from tests.support.control_peer import ControlPeer, dial, hello
from tests.support.daemon_process import DaemonProcess

TICKING = "tests.support.ticking_daemon"
AT_ONCE = 32  # requests of one client under way; the daemon allows twice as many
STORED = 10_000  # conversations for the restart


@dataclass(frozen=True, slots=True)
class Size:
    seconds: float
    opened: int
    turns: int


FULL, QUICK = Size(10.0, 1000, 300), Size(3.0, 100, 50)


@contextlib.contextmanager
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-daemon-", dir=os.environ.get("BENCH_DIR")) as name:
        yield Path(name) / "home"


# --- floors ---------------------------------------------------------------------------------------------------


def socket_round_trip(count: int = 2000) -> list[float]:
    """Milliseconds for a line to a thread and back over a unix socket."""
    ours, theirs = socket.socketpair()

    def echo() -> None:
        while data := theirs.recv(4096):
            theirs.sendall(data)

    thread = threading.Thread(target=echo, daemon=True)
    thread.start()
    times = []
    for _ in range(count):
        began = time.perf_counter()
        ours.sendall(b"x" * 200)
        ours.recv(4096)
        times.append((time.perf_counter() - began) * 1e3)
    ours.close()
    thread.join(5)
    theirs.close()
    return times


def commits_per_s(path: Path, count: int = 500) -> float:
    """Small durable rows one after the other, by bare SQLite."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL").fetchall()
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)")
        began = time.perf_counter()
        for _ in range(count):
            db.execute("INSERT INTO t (v) VALUES (?)", (b"x" * 600,))
        return count / (time.perf_counter() - began)


# --- from the agent to the client -----------------------------------------------------------------------------


class ReaderThread:
    """Many subscribers on one thread, which only notes lines and times; they are parsed afterwards."""

    def __init__(self, daemon: DaemonProcess, conversations: list[str]) -> None:
        self._selector = selectors.DefaultSelector()
        self._socks = [self._attach(daemon, conversation) for conversation in conversations]
        self._came: list[tuple[float, int, bytes]] = []
        self._stop = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _attach(self, daemon: DaemonProcess, conversation: str) -> socket.socket:
        sock = dial(daemon.socket)
        params = {"conversation": conversation, "after": None}
        request = {"id": 1, "method": "conversation/attach", "params": params}
        sock.sendall(hello("reader") + json.dumps(request).encode() + b"\n")
        self._selector.register(sock, selectors.EVENT_READ)
        return sock

    def _read(self) -> None:
        while not self._stop:
            for key, _ in self._selector.select(0.1):
                sock = key.fileobj
                assert isinstance(sock, socket.socket)
                data = sock.recv(1 << 18)
                self._came.append((time.time(), key.fd, data))

    def latencies(self, after: float) -> list[float]:
        """Milliseconds from each word's emission to here, of words that were said after a moment."""
        self._stop = True
        self._thread.join(5)
        rest: dict[int, bytes] = {}
        found: list[float] = []
        for now, fd, data in self._came:
            *lines, rest[fd] = (rest.get(fd, b"") + data).split(b"\n")
            words = (word for line in lines if b"_delta" in line for word in words_of(line))
            found += [(now - word) * 1e3 for word in words if word > after]
        for sock in self._socks:
            sock.close()
        return found


def words_of(line: bytes) -> Iterator[float]:
    for envelope in json.loads(line)["params"]["events"]:
        if envelope["event"]["type"] == "agent_message_delta":
            yield from map(float, envelope["event"]["delta"].split())


def in_flight(client: ControlPeer, requests: Iterator[int]) -> None:
    waiting: deque[int] = deque()
    for request in requests:
        waiting.append(request)
        if len(waiting) >= AT_ONCE:
            client.answer(waiting.popleft(), 60)
    for request in waiting:
        client.answer(request, 60)


def streaming(count: int, rate: float, seconds: float, readers_each: int = 1) -> tuple[list[float], float]:
    """Latencies in the steady state, and the share of one processor that the daemon took."""
    with home() as where, DaemonProcess(where, program=TICKING) as daemon:
        client = daemon.connect()
        conversations = [client.create() for _ in range(count)]
        readers = ReaderThread(daemon, conversations * readers_each)
        prompt = f"words {int(rate * (seconds + 3))} {1000 / rate}"
        in_flight(
            client,
            (
                client.start("conversation/send", conversation=conversation, prompt=prompt)
                for conversation in conversations
            ),
        )
        time.sleep(1)  # past the start of so many turns at once
        began, used = time.time(), daemon.processor_s()
        time.sleep(seconds)
        share = (daemon.processor_s() - used) / (time.time() - began)
        found = readers.latencies(began)
        daemon.hang_up()
        daemon.kill()
    return found, share


def agent_to_client(size: Size, floor: list[float]) -> Iterator[Figure]:
    for count, rate in ((200, 10.0), (1000, 1.0)):
        found, share = streaming(count, rate, size.seconds)
        what = f"{count:,} conversations x {rate:g} events/s, agent to client"
        expected = count * rate * size.seconds
        seen = len(found) / expected
        yield Figure(f"{what}, p50", p50(found), "ms", p50(floor), "socket round trip")
        yield Figure(f"{what}, p99", p99(found), "ms", p99(floor), "socket round trip", "≤ 50")
        yield Figure("  share of them that came by the end", seen * 100, "%")
        yield Figure("  share of one processor that the daemon used", share * 100, "%")


def fan_out(size: Size, floor: list[float]) -> Iterator[Figure]:
    for readers in (1, 10, 100):
        found, _ = streaming(1, 20.0, size.seconds / 2, readers)
        name = f"1 conversation x 20 events/s, {readers} subscribers, p99"
        yield Figure(name, p99(found), "ms", p99(floor), "socket round trip")


# --- opening and turns ----------------------------------------------------------------------------------------


def per_second(count: int, do: Callable[[], object]) -> float:
    began = time.perf_counter()
    for _ in range(count):
        do()
    return count / (time.perf_counter() - began)


def opening(size: Size) -> Iterator[Figure]:
    with home() as where, DaemonProcess(where, program=TICKING) as daemon:
        client = daemon.connect()
        floor = commits_per_s(where / "floor.db")
        opened = per_second(size.opened, client.create)
        yield Figure("conversations opened, one after another", opened, "/s", floor, "durable commits", "≥ 300", True)

        def with_a_turn() -> None:
            client.send(client.create(), "one")

        spoken = per_second(size.opened // 2, with_a_turn)
        yield Figure("the same with a turn of one word", spoken, "/s", floor, "durable commits", "≥ 200", True)
        daemon.hang_up()
        daemon.kill()


def bare_model(url: str, count: int) -> list[float]:
    """Milliseconds of the same request without Greenroom."""
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "now"}]}).encode()
    times = []
    for _ in range(count):
        request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
        began = time.perf_counter()
        with urllib.request.urlopen(request) as response:
            response.read()
        times.append((time.perf_counter() - began) * 1e3)
    return times


def turns(size: Size) -> Iterator[Figure]:
    with home() as where, clocked_model() as url:
        config = f'model_provider = "clocked"\n[model_providers.clocked]\nbase_url = "{url}"\n'
        with DaemonProcess(where, config) as daemon:
            client = daemon.connect()
            conversation = client.create()
            for _ in range(10):
                client.send(conversation, "now")
            times = []
            for number in range(size.turns):
                if number % 50 == 0:
                    conversation = client.create()  # requests to a model grow with the history
                    client.send(conversation, "now")
                began = time.perf_counter()
                client.send(conversation, "now")
                times.append((time.perf_counter() - began) * 1e3)
            floor = bare_model(url, size.turns)
    for name, at, target in (("p50", p50, "≤ 3"), ("p99", p99, "≤ 10")):
        yield Figure(
            f"turn over the bare model, {name}", at(times) - at(floor), "ms", at(floor), "the bare model", target
        )


# --- restart --------------------------------------------------------------------------------------------------


def fill(path: Path, count: int) -> None:
    """Write so many conversations, by the journal itself."""
    path.parent.mkdir(parents=True, mode=0o700)
    path.parent.parent.chmod(0o700)
    settings = Settings(model="m", cwd=Path("/"), provider="demo")
    with contextlib.closing(SqliteJournal(path)) as journal:
        for start in range(0, count, 500):
            assert not any(journal.commit([first_append(number, settings) for number in range(start, start + 500)]))


def first_append(number: int, settings: Settings) -> Append:
    conversation = ConversationId(f"{number:08x}-0000-4000-8000-000000000000")
    event = SessionConfigured(session_id=conversation, model="m", settings=settings, name=f"name-{number}")
    records = (Record(1, time.time(), None, event.type, event.model_dump_json().encode()),)
    return Append(conversation, records, head_of(restore(conversation, None, records)))


def restart() -> Iterator[Figure]:
    with home() as where:
        times = {}
        for count in (0, STORED):
            daemon = DaemonProcess(where / str(count))
            if count:
                fill(Path(daemon.paths.journal_file), count)
            taken = []
            for _ in range(3):
                began = time.perf_counter()
                daemon.start()
                with daemon.connect() as client:
                    assert client.call("conversation/list", limit=1)["total"] == count
                taken.append(time.perf_counter() - began)
                daemon.kill()
            times[count] = statistics.median(taken)
    name = f"started after kill -9 and listed, {STORED:,} conversations"
    yield Figure(name, times[STORED], "s", times[0], "the same with none", "≤ 1")


def main() -> int:
    size = QUICK if "--quick" in sys.argv else FULL
    floor = socket_round_trip()
    load = os.getloadavg()[0]
    print(f"load average {load:.1f} on {os.cpu_count()} processors" + (": not quiet" if load > 0.5 else ""))
    rows = [*opening(size), *turns(size), *restart(), *fan_out(size, floor), *agent_to_client(size, floor)]
    print(terminal(rows))
    return int(any(row.misses_target for row in rows))


if __name__ == "__main__":
    sys.exit(main())
