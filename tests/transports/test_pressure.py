"""Under load: malformed input, readers that stop, clients that come and go. The long versions run as soak."""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from actors.messages.conversation import Ready
from actors.messages.effects import Deliver, Slice
from actors.runtime.shared import call_on_loop
from actors.vocabulary.ids import SubscriptionId
from actors.vocabulary.records import Record
from tests.support.standstill import standing_still
from tests.transports.doors import Door, memory_door, socket_door
from tests.transports.house import PATIENCE_S, LoopThread, descriptors, eventually, resident_bytes
from tests.transports.place import HELLO, Place, dial
from tests.transports.tenants import CONVERSATION, Tenant, Tenants
from transports import jsonrpc
from transports.dialect import Action, Write
from transports.framing import LINE_LIMIT, LineTooLong
from transports.jsonrpc import Malformed, Request
from transports.listener import ListenerLimits


def judge(line: bytes) -> Iterable[Action]:
    """A dialect that knows one method."""
    message = jsonrpc.read(line)
    if isinstance(message, Malformed):
        return (Write(jsonrpc.error(message.id, message.code, message.message)),)
    if isinstance(message, Request):
        return (Write(jsonrpc.result(message.id, "pong")),)
    return ()


def malformed(count: int) -> Iterator[bytes]:
    chance = random.Random(3)
    good = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"\xc3\xa9"}}'
    kinds: list[Callable[[], bytes]] = [
        lambda: good[: chance.randrange(1, len(good))],
        lambda: chance.randbytes(chance.randrange(1, 200)).replace(b"\n", b"\0") + b"\xff",
        lambda: b"[" * chance.randrange(1, 3000),
        lambda: b'{"id":null,"method":"m"}',
        lambda: b'{"id":1.5,"method":"m"}',
        lambda: b"[" + good + b"]",
        lambda: good.replace(b"2.0", b"1.0"),
        lambda: b'{"id":2,"method":"m","params":[1e999]}',
        lambda: b"\0" * 50,
        lambda: good.replace(b"\xa9", b""),
        lambda: b"x" * 70_000,
    ]
    for number in range(count):
        yield kinds[number % len(kinds)]()


def sending(tenant: Tenant, parts: Iterable[bytes]) -> threading.Thread:
    def send() -> None:
        for part in parts:
            tenant.peer.send(part)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def suffer(tenants: Tenants, door: Door, count: int) -> None:
    vandal = tenants.enter(door, judge, limit=65536)
    neighbour = tenants.enter(door, judge)
    sender = sending(vandal, (line + b"\n" for line in malformed(count)))
    answers = 0
    while answers < count:
        line = vandal.reads.line()
        answers += 1
        assert line.startswith(b"skipped: ") or json.loads(line)["error"]["code"] in {-32700, -32600}
        if answers % 100 == 0:
            neighbour.peer.send(b'{"id":%d,"method":"ping"}\n' % answers)
            assert json.loads(neighbour.reads.line()) == {"jsonrpc": "2.0", "id": answers, "result": "pong"}
    sender.join(PATIENCE_S)
    vandal.peer.send(b'{"id":"sorry","method":"ping"}\n')
    assert json.loads(vandal.reads.line())["result"] == "pong"


def test_malformed_frames_are_answered_each_and_neighbours_are_served(tenants: Tenants, door: Door) -> None:
    suffer(tenants, door, 1000)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_ten_thousand_malformed_frames_and_more(tenants: Tenants, door: Door) -> None:
    suffer(tenants, door, 50_000)


def test_the_longest_line_comes_back_over_a_socket_and_one_byte_more_is_refused(tenants: Tenants) -> None:
    tenant = tenants.enter(socket_door)
    line = random.Random(1).randbytes(LINE_LIMIT // 2).hex().encode()
    sender = sending(tenant, (line, b"\n", line, b"x\nok\n"))
    assert tenant.reads.exactly(LINE_LIMIT + 1) == line + b"\n"
    assert tenant.reads.lines(2) == [f"skipped: {LineTooLong(LINE_LIMIT + 1).reason}".encode(), b"ok"]
    sender.join(PATIENCE_S)


class Source:
    """Stands for a session: sends the next slice when the reader is ready, and so keeps one in flight."""

    def __init__(self, tenants: Tenants, tenant: Tenant, slices: int, size: int) -> None:
        self._tenants, self._tenant = tenants, tenant
        self._left, self._size = slices, size
        self.done = threading.Event()
        self.tell(Ready(SubscriptionId("s")))

    def tell(self, _: object) -> None:
        if self._left == 0:
            self.done.set()
            return
        self._left -= 1
        record = Record(1, 0.0, None, "agent_message", b"x" * self._size)
        slice_ = Slice(CONVERSATION, (record,), live=True)
        deliver = Deliver(self._tenant.id, SubscriptionId("s"), slice_)
        call_on_loop(self._tenants.loop.loop, self._tenants.switchboard.deliver, deliver, self)


def pour(tenants: Tenants, total: int) -> int:
    """Feed a reader that has stopped, and one that reads `total` bytes meanwhile. Returns the memory this took."""
    size = 250_000
    stopped, reading = tenants.enter(socket_door), tenants.enter(socket_door)
    warm = Source(tenants, reading, 10, size)
    reading.reads.exactly(10 * (size + 1))
    assert warm.done.wait(PATIENCE_S)
    before = resident_bytes()
    behind = Source(tenants, stopped, total // size, size)
    source = Source(tenants, reading, total // size, size)
    for _ in range(total // size):
        assert len(reading.reads.exactly(size + 1)) == size + 1
    assert source.done.wait(PATIENCE_S)
    assert not behind.done.is_set()
    assert stopped.wire.unsent_bytes <= size + 1
    return resident_bytes() - before


def test_a_hundred_megabytes_pass_a_stopped_reader_at_the_cost_of_one_slice(tenants: Tenants) -> None:
    assert pour(tenants, 100_000_000) < 16 * 1024 * 1024


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_gigabyte_passes_a_stopped_reader_at_the_cost_of_one_slice(tenants: Tenants) -> None:
    assert pour(tenants, 1_000_000_000) < 16 * 1024 * 1024


def test_a_client_that_is_stopped_by_a_signal_delays_nobody_and_can_go_on(loop: LoopThread, tmp_path: Path) -> None:
    place = Place(loop, tmp_path / "g.sock", ListenerLimits(), script=lambda _: (Write(b"z" * 3_000_000 + b"\n"),))
    place.open()
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); f = s.makefile('rwb');"
        "f.write(sys.argv[2].encode() + b'go\\n'); f.flush(); f.readline(); print('in', flush=True); input();"
        "print(len(f.readline()))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(place.path), HELLO.decode()], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"in\n"
        with standing_still(client.pid):
            peer, reads = place.enter()
            for _ in range(3):
                peer.send(b"x\n")
                started = time.monotonic()
                assert len(reads.line()) == 3_000_000
                assert time.monotonic() - started < PATIENCE_S / 2
        assert client.communicate(b"\n", timeout=PATIENCE_S)[0] == b"3000001\n"
    place.close()


def come_and_go(place: Place, clients: int) -> None:
    dialled = [dial(place.path) for _ in range(clients)]
    for number, (peer, _) in enumerate(dialled):
        peer.send(HELLO + b"%d\n" % number)
    for number, (peer, reads) in enumerate(dialled):
        reads.line()
        assert reads.line() == b"%d" % number
        peer.close()
    eventually(lambda: place.listener.clients == 0 and not place.switchboard.clients(), "somebody is still in")


def storm(loop: LoopThread, path: Path, cycles: int) -> None:
    place = Place(loop, path, ListenerLimits())
    place.open()
    come_and_go(place, 100)
    fds, threads = descriptors(), threading.active_count()
    for _ in range(cycles):
        come_and_go(place, 100)
    eventually(lambda: threading.active_count() <= threads, "threads were left")
    assert descriptors() == fds
    place.close()


def test_a_hundred_clients_come_and_go_and_leave_no_descriptor_and_no_thread(
    loop: LoopThread, tmp_path: Path
) -> None:
    storm(loop, tmp_path / "g.sock", 3)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_hundred_clients_come_and_go_a_hundred_times(loop: LoopThread, tmp_path: Path) -> None:
    storm(loop, tmp_path / "g.sock", 100)


def test_a_client_is_cut_off_when_its_unread_bytes_pass_the_limit(tenants: Tenants) -> None:
    """Slices wait for Ready; the limit is for what a dialect writes unasked."""
    tenant = tenants.enter(memory_door, lambda _: tuple(Write(b"x" * 10_000_000) for _ in range(8)))
    tenant.peer.send(b"all\n")
    assert tenant.ref.wait_for_end(PATIENCE_S)
