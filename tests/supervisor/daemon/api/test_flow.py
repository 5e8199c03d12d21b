"""Flow over the real socket: readers that stop, clients that come and go, noise; the long versions run as soak."""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.control_peer import ControlPeer, dial, hello
from tests.support.daemon_process import ROOT, DaemonProcess
from tests.support.standstill import standing_still

MIB = 1 << 20
PIECE = 32 * 1024
WARM = 24 * MIB
LATENCY_S = 4.0  # of one measurement
WORDS_PER_S = 50
SMALL_MS, TOLERANT_MS = 100.0, 1000.0  # of one word; the second where the suite's other workers share the machine


@pytest.fixture
def ticking(home: Path) -> Iterator[DaemonProcess]:
    with DaemonProcess(home, program="tests.support.ticking_daemon") as daemon:
        yield daemon
        bugs = [line for line in daemon.log() if line.get("level") == "error"]
    assert not bugs, bugs[0]


@contextlib.contextmanager
def never_reading(daemon: DaemonProcess, conversation: str) -> Iterator[socket.socket]:
    """A client that attaches and never reads a byte."""
    with contextlib.closing(dial(daemon.socket)) as sock:
        attach = {"id": 1, "method": "conversation/attach", "params": {"conversation": conversation, "after": 0}}
        sock.sendall(hello("never") + json.dumps(attach).encode() + b"\n")
        yield sock


def latencies(client: ControlPeer, count: int) -> list[float]:
    """Latencies of so many words, from the agent to this client, in milliseconds."""
    one = client.create()
    watching = client.attach(one, None)
    arrived: dict[int, float] = {}
    sent = client.start(
        "conversation/send", conversation=one, prompt=f"words {count} {1000 / WORDS_PER_S}", wait=True
    )

    def note() -> bool:
        for number in range(len(arrived), len(watching.slices)):
            arrived[number] = time.time()
        return client.answered(sent) or sent in client._answers

    client.wait_for(note, "the words never ended", 60)
    client.answer(sent)
    return [
        (arrived[number] - float(word)) * 1e3
        for number, slice_ in enumerate(watching.slices)
        for envelope in slice_["events"]
        if envelope["event"]["type"] == "agent_message_delta"
        for word in envelope["event"]["delta"].split()
    ]


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


class Drain:
    """A reader of one conversation that keeps only the number of bytes."""

    def __init__(self, daemon: DaemonProcess, conversation: str) -> None:
        self._sock = dial(daemon.socket)
        attach = {"id": 1, "method": "conversation/attach", "params": {"conversation": conversation, "after": None}}
        self._sock.sendall(hello("drain") + json.dumps(attach).encode() + b"\n")
        answered = b""
        while b'"id":1' not in answered:  # what comes before it is attached would pass it by
            piece = self._sock.recv(4096)
            assert piece, f"it hung up after {answered!r}"
            answered += piece
        self._sock.settimeout(None)
        self.read = len(answered)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._sock.recv(1 << 20):
                self.read += len(data)

    def wait(self, size: int) -> None:
        deadline = time.monotonic() + 30
        while self.read < size:
            assert time.monotonic() < deadline, f"{self.read} of {size} bytes were delivered"
            time.sleep(0.01)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._sock.close()


def pass_by(daemon: DaemonProcess, total: int, at_least_ms: float) -> None:
    """Send so many bytes of events past a stopped reader; a second reads them, a third is not delayed."""
    client = daemon.connect()
    one = client.create()
    with never_reading(daemon, one), contextlib.closing(Drain(daemon, one)) as drain:
        client.send(one, f"flood {WARM} {PIECE}")  # every buffer, page and arena has its size
        drain.wait(WARM)
        alone = latencies(client, int(LATENCY_S * WORDS_PER_S / 2))
        before = daemon.resident_bytes()
        sent = client.start("conversation/send", conversation=one, prompt=f"flood {total} {PIECE}", wait=True)
        beside = []
        with daemon.connect("neighbour") as neighbour:
            while not client.answered(sent):
                beside += latencies(neighbour, WORDS_PER_S // 2)
        assert client.answer(sent)["ending"] == "completed"
        drain.wait(WARM + total)
        grown = daemon.resident_bytes() - before
        assert grown < 16 * MIB, f"{grown / MIB:.1f} MiB for a reader that never reads"
        with never_reading(daemon, one):
            after = min((latencies(client, int(LATENCY_S * WORDS_PER_S / 2)) for _ in range(3)), key=p99)
    print(f"{grown / MIB:.1f} MiB; p99 in ms: {p99(alone):.1f}, meanwhile {p99(beside):.1f}, after {p99(after):.1f}")
    assert p99(after) < max(3 * p99(alone), at_least_ms), "two that never read delay nobody"


@pytest.mark.timeout(120)
def test_64_megabytes_pass_a_reader_that_never_reads(ticking: DaemonProcess) -> None:
    pass_by(ticking, 64 * MIB, TOLERANT_MS)


@pytest.mark.soak
@pytest.mark.quiet
@pytest.mark.timeout(1800)
def test_a_gigabyte_passes_a_reader_that_never_reads(ticking: DaemonProcess) -> None:
    pass_by(ticking, 1024 * MIB, SMALL_MS)


# --- coming and going


def come_and_go(daemon: DaemonProcess, one: str, clients: int) -> None:
    """Connect and leave: after the hello, after an attach, before the answer, or without a hello."""
    attach = {"id": 1, "method": "conversation/attach", "params": {"conversation": one}}
    lines = [hello() + json.dumps(attach).encode() + b"\n", hello(), b"", b'{"greenroom"']
    socks = [dial(daemon.socket) for _ in range(clients)]
    for number, sock in enumerate(socks):
        sock.sendall(lines[number % len(lines)])
    for number, sock in enumerate(socks):
        if number % 8 == 0:
            assert sock.recv(1 << 16).startswith(b'{"greenroom"')
        sock.close()


def settled(daemon: DaemonProcess, client: ControlPeer, fds: int, threads: int) -> None:
    deadline = time.monotonic() + 20
    while (daemon.descriptors(), daemon.threads(), client.call("daemon/status")["clients"]) != (fds, threads, 1):
        left = (daemon.descriptors() - fds, daemon.threads() - threads)
        assert time.monotonic() < deadline, f"descriptors and threads left: {left}"
        time.sleep(0.02)


def storm(daemon: DaemonProcess, times: int) -> None:
    client = daemon.connect()
    one = client.create()
    client.send(one, "hello")
    come_and_go(daemon, one, 100)
    time.sleep(0.5)  # worker threads and readers of the journal come up on demand and stay
    settled(daemon, client, daemon.descriptors(), daemon.threads())
    fds, threads = daemon.descriptors(), daemon.threads()
    for _ in range(times):
        come_and_go(daemon, one, 100)
    settled(daemon, client, fds, threads)
    assert client.call("conversation/get", conversation=one)["readers"] == []


@pytest.mark.timeout(120)
def test_a_hundred_clients_come_and_go_and_nothing_is_left(ticking: DaemonProcess) -> None:
    storm(ticking, 5)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_hundred_clients_come_and_go_a_hundred_times(ticking: DaemonProcess) -> None:
    storm(ticking, 100)


# --- noise


def malformed(count: int) -> Iterator[bytes]:
    chance = random.Random(7)
    good = b'{"jsonrpc":"2.0","id":1,"method":"conversation/list","params":{"limit":1}}'
    kinds: list[Callable[[], bytes]] = [
        lambda: good[: chance.randrange(1, len(good))],
        lambda: chance.randbytes(chance.randrange(1, 200)).replace(b"\n", b"\0") + b"\xff",
        lambda: b"[" * chance.randrange(1, 3000),
        lambda: b'{"id":null,"method":"m"}',
        lambda: b"[" + good + b"]",
        lambda: good.replace(b"2.0", b"1.0"),
        lambda: good.replace(b"1}", b'"one"}'),
        lambda: good.replace(b"conversation/list", b"conversation/lisp"),
        lambda: good.replace(b"limit", b"\\ud800"),
        lambda: good.replace(b"1}", b"1e999}"),
    ]
    for number in range(count):
        yield kinds[number % len(kinds)]()


def make_noise(daemon: DaemonProcess, frames: int) -> None:
    neighbour = daemon.connect("neighbour")
    one = neighbour.create()
    with contextlib.closing(dial(daemon.socket)) as vandal:
        vandal.sendall(hello("vandal"))
        stream = vandal.makefile("rb")
        stream.readline()
        sender = threading.Thread(
            target=lambda: vandal.sendall(b"".join(line + b"\n" for line in malformed(frames))), daemon=True
        )
        sender.start()
        for number in range(frames):
            answer = json.loads(stream.readline())
            assert answer["error"]["code"] in {-32700, -32600, -32601, -32602}, answer
            if number % (frames // 20) == 0:
                assert neighbour.send(one, "hello")["ending"] == "completed"
        sender.join(10)
        vandal.sendall(b'{"id":"sorry","method":"clients/list"}\n')
        assert json.loads(stream.readline())["id"] == "sorry"


@pytest.mark.timeout(120)
def test_malformed_frames_are_answered_each_and_a_good_neighbour_is_served(ticking: DaemonProcess) -> None:
    make_noise(ticking, 1000)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_ten_thousand_malformed_frames(ticking: DaemonProcess) -> None:
    make_noise(ticking, 10_000)


# --- a client that is stopped

READER = """
import sys
from pathlib import Path
from tests.support.control_peer import ControlPeer
peer = ControlPeer(Path(sys.argv[1]), "stopped")
watching = peer.attach(sys.argv[2])
print("in", flush=True)
peer.wait_seq(watching, int(sys.stdin.readline()))
print(watching.seqs == list(range(1, watching.seqs[-1] + 1)), any(one["lagged"] for one in watching.slices))
peer.close()
"""


@pytest.mark.timeout(120)
def test_a_client_that_is_stopped_delays_nobody_and_has_everything_when_it_goes_on(ticking: DaemonProcess) -> None:
    client = ticking.connect()
    one = client.create()
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(ticking.socket), one],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "in\n"
        with standing_still(reader.pid):
            end = client.send(one, f"flood {16 * MIB} {PIECE}")["seq"]
        said, _ = reader.communicate(f"{end}\n", timeout=30)
    assert said == "True True\n", "no gap, and it was told once that it lagged"
