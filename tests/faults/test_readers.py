"""S: readers that are slow, stopped or gone, and their cost for the daemon and other clients."""

import random
import socket
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from greenroom.wire import ControlWire
from tests.faults.caller import WAIT_S, Caller, Message, dial
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, served_by, until
from tests.faults.follower import Follower, judge
from tests.faults.report import Row
from tests.support.model_server import ModelServer
from tests.support.standstill import standing_still

MIB = 1024 * 1024
ROOM = 16 * MIB  # what a reader that never reads may cost
WORD = "x" * 2047  # of a delta
WARMING = 6
STOPPABLE = """
import sys
from pathlib import Path
from tests.faults.caller import Caller
from tests.faults.follower import Follower, judge
caller = Caller(Path(sys.argv[1]), "stopped", Path("/"))
follower = Follower(sys.argv[2])
follower.attach(caller)
print("attached", flush=True)
follower.wait_seq(int(sys.stdin.readline()))
follower.check(caller.history(sys.argv[2]))
print("whole", follower.cursor, flush=True)
"""


class NeverReads:
    """A client that attaches and never reads again: it takes only what its socket's buffer holds."""

    def __init__(self, harness: DaemonHarness) -> None:
        self._harness = harness
        self._sock: socket.socket | None = None

    def attach(self, conversation: str) -> None:
        """Attach by a new connection: the old one's requests are not read, as it takes no answers."""
        sock, _ = dial(self._harness.socket, "deaf", self._harness.home)
        sock.sendall(attach(conversation))
        self.close()
        self._sock = sock

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()


def attach(conversation: str) -> bytes:
    return ControlWire(print).request("conversation/attach", {"conversation": conversation}, print)[1]


def turn_latency(caller: Caller, conversation: str) -> float:
    began = time.monotonic()
    assert caller.send(conversation, "say x", wait=True)["ending"] == "completed"
    return time.monotonic() - began


def pass_by(harness: DaemonHarness, row: Row, mib: int) -> None:
    """Stream so much text in one conversation after the other, with a reader attached that never reads."""
    caller, neighbour = harness.caller(), harness.caller("neighbour")
    quiet = neighbour.create()
    before = statistics.median(turn_latency(neighbour, quiet) for _ in range(20))
    for _ in range(WARMING):
        speak(caller, None)  # buffers, and the allocator's arenas
    rss = harness.rss()
    most = 0
    during: list[float] = []
    deaf = NeverReads(harness)
    for _ in range(mib):
        speak(caller, deaf)
        most = max(most, harness.rss() - rss)
        if len(during) < 100:
            during.append(turn_latency(neighbour, quiet))
        row.times += 1
    assert most < ROOM, f"a reader that never reads costs {most / MIB:.0f} MiB"
    deaf.close()
    row.notes.append(f"{mib:,} MiB of text, daemon grew by {most / MIB:.1f} MiB")
    row.notes.append(
        f"a neighbour's turn: {before * 1e3:.1f} ms before, {statistics.median(during) * 1e3:.1f} ms meanwhile"
    )


def speak(caller: Caller, deaf: NeverReads | None) -> None:
    conversation = caller.create()
    if deaf is not None:
        deaf.attach(conversation)
    assert caller.send(conversation, f"pack 65536; stream 512 {WORD}", wait=True)["ending"] == "completed"
    caller.delete(conversation)


def stop_and_go_on(harness: DaemonHarness, row: Row, rounds: int) -> None:
    """Stop a client by SIGSTOP: it has everything when it goes on, and the turn did not wait for it."""
    caller = harness.caller()
    for _ in range(rounds):
        conversation = caller.create()
        with subprocess.Popen(
            [sys.executable, "-c", STOPPABLE, str(harness.socket), conversation],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
            text=True,
        ) as stopped:
            assert stopped.stdin is not None
            assert stopped.stdout is not None
            try:
                assert stopped.stdout.readline() == "attached\n"
                with standing_still(stopped.pid):
                    for _n in range(2):
                        ended = caller.send(conversation, f"pack 65536; stream 1000 {WORD}", wait=True)
                        assert ended["ending"] == "completed", "a stopped reader held up the turn"
                stopped.stdin.write(f"{ended['seq']}\n")
                stopped.stdin.flush()
                assert stopped.stdout.readline() == f"whole {ended['seq']}\n"
            finally:
                stopped.kill()
        caller.delete(conversation)
        row.times += 1


def storm(harness: DaemonHarness, row: Row, clients: int, rounds: int) -> None:
    """Connect many clients, again and again, that read a little and vanish while turns run."""
    caller = harness.caller()
    conversations = [caller.create() for _ in range(8)]
    until(lambda: counts(harness)[2] == 1, "clients of another test linger")
    before = counts(harness)
    for one in conversations:
        caller.send(one, "slow 20; stream 200 word; stall forever")
    chance = random.Random(clients)

    def come_and_go(number: int) -> None:
        for _ in range(rounds):
            follower = Follower(conversations[number % len(conversations)])
            visitor = Caller(harness.socket, f"visitor-{number}", harness.home)
            try:
                if chance.random() < 0.8:
                    follower.attach(visitor)
                    follower.wait_seq(1)
            finally:
                visitor.close()
            assert not follower.wrong, follower.wrong

    with ThreadPoolExecutor(min(clients, 16)) as pool:
        list(pool.map(come_and_go, range(clients)))
    row.times += clients * rounds
    for one in conversations:
        caller.call("conversation/interrupt", conversation=one)
        judge(caller.history(one))
    until(lambda: _close(counts(harness), before), "threads or descriptors are left")
    after = counts(harness)
    row.notes.append(f"threads {before[0]} before, {after[0]} after; descriptors {before[1]} and {after[1]}")
    for one in conversations:
        caller.delete(one)


def counts(harness: DaemonHarness) -> tuple[int, int, int]:
    """The numbers of threads, descriptors and clients."""
    caller = Caller(harness.socket, "counter", harness.home)
    try:
        status: Message = caller.call("daemon/status")
        return harness.threads(), harness.fds(), int(status["clients"]) - 1
    finally:
        caller.close()


def _close(now: tuple[int, int, int], before: tuple[int, int, int]) -> bool:
    """Whether the counts are as before, but for worker threads and connections to the model, which are kept."""
    return now[0] <= before[0] + 8 and now[1] <= before[1] + 12 and now[2] == before[2]


def vanish(harness: DaemonHarness, row: Row, rounds: int) -> None:
    """Vanish in the middle of a line or an answer, or with all requests open: other clients notice nothing."""
    caller = harness.caller()
    conversation = caller.create()
    chance = random.Random(rounds)
    line = attach(conversation)
    for _ in range(rounds):
        sock, _welcome = dial(harness.socket, "vanishing", harness.home)
        sock.sendall(line * chance.randint(0, 3) + line[: chance.randint(0, len(line))])
        if chance.random() < 0.5:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        sock.close()
        row.times += 1
    assert turn_latency(caller, conversation) < WAIT_S
    until(lambda: counts(harness)[2] == 1, "the daemon still believes in clients that are gone")
    caller.delete(conversation)


def test_a_reader_that_never_reads_costs_nobody_anything(home: Path, model: ModelServer, measure: Measure) -> None:
    with (
        measure("S", "text past a reader that never reads") as row,
        DaemonHarness(home, served_by(model.base_url)) as harness,
    ):
        pass_by(harness, row, 12)


def test_a_stopped_reader_has_everything_when_it_goes_on(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "a client in SIGSTOP while 4 MiB pass") as row:
        stop_and_go_on(harness, row, 1)


def test_clients_that_vanish_leave_nothing(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "clients that vanish in the middle of a line") as row:
        vanish(harness, row, 100)


def test_a_storm_of_clients_leaves_no_thread_and_no_descriptor(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "clients that come and go while 8 turns stream") as row:
        storm(harness, row, clients=20, rounds=5)


@pytest.mark.soak(takes_s=70)
def test_a_gigabyte_past_a_reader_that_never_reads(home: Path, model: ModelServer, measure: Measure) -> None:
    with (
        measure("S", "text past a reader that never reads") as row,
        DaemonHarness(home, served_by(model.base_url)) as harness,
    ):
        pass_by(harness, row, 1024)


@pytest.mark.soak
def test_readers_stopped_again_and_again(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "a client in SIGSTOP while 4 MiB pass") as row:
        stop_and_go_on(harness, row, 20)


@pytest.mark.soak
def test_five_thousand_vanishing_clients(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "clients that vanish in the middle of a line") as row:
        vanish(harness, row, 5000)


@pytest.mark.soak
def test_a_storm_of_a_hundred_clients_a_hundred_times(harness: DaemonHarness, measure: Measure) -> None:
    with measure("S", "clients that come and go while 8 turns stream") as row:
        storm(harness, row, clients=100, rounds=100)
