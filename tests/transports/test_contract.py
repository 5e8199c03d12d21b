"""The contract of every wire with a connection and its client: the same tests over sockets, pipes and memory."""

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from actors.messages.conversation import ConnectionClosed, Inspect, Ready, ToConversation
from actors.messages.effects import ReplyTo
from actors.vocabulary.answers import Done
from actors.vocabulary.ids import Caller, ConnectionId, SubscriptionId
from tests.transports.doors import Door
from tests.transports.house import PATIENCE_S, LoopThread, Probe, eventually
from tests.transports.tenants import CONVERSATION, SUBSCRIPTION, Tenant, Tenants
from transports import descriptors
from transports.dialect import Tell, Write
from transports.framing import LINE_LIMIT
from transports.wire import HIGH_WATER, LOW_WATER, LinesArrived, WireClosed


@contextlib.contextmanager
def sending(send: Callable[[], None]) -> Iterator[None]:
    """A client that writes while it reads."""
    thread = threading.Thread(target=send)
    thread.start()
    yield
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_every_line_comes_back_exactly_and_in_order_whatever_the_pieces(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    chance = random.Random(7)
    lines = [bytes(chance.choices(range(32, 256), k=chance.randrange(1, 3000))) + b"." for _ in range(200)]
    stream = b"".join(line + chance.choice([b"\n", b"\r\n", b"\n\n"]) for line in lines)
    edges = [0, *sorted(chance.sample(range(len(stream)), 100)), len(stream)]

    def send() -> None:
        for start, stop in pairwise(edges):
            tenant.peer.send(stream[start:stop])

    with sending(send):
        assert tenant.reads.lines(len(lines)) == lines


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 2**20 + 1])
def test_a_long_line_comes_back_exactly(tenants: Tenants, door: Door, size: int) -> None:
    tenant = tenants.enter(door)
    line = random.Random(size).randbytes(size).replace(b"\n", b"n").replace(b"\r", b"r")
    with sending(lambda: tenant.peer.send(line + b"\n")):
        assert tenant.reads.line() == line


def test_a_line_over_the_limit_is_answered_once_and_the_next_is_served(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door, limit=1000)
    tenant.peer.send(b"before\n" + b"x" * 200_000 + b"\nafter\n")
    assert tenant.reads.lines(3) == [
        b"before",
        b"skipped: a message of 200000 bytes is too long (greenroom.limits.frame_bytes)",
        b"after",
    ]


def test_one_batch_waits_for_its_owner_and_the_next_comes_when_that_is_done_with(
    loop: LoopThread, door: Door
) -> None:
    (wire, peer), owner = door(loop, LINE_LIMIT), Probe()
    loop.call(lambda: wire.open(owner))
    peer.send(b"first\n")
    assert owner.expect(LinesArrived).lines == (b"first",)
    for _ in range(20):
        peer.send(b"more\n" * 100)
    loop.call(lambda: None)  # it has had its turn
    assert owner.empty
    lines = 0
    while lines < 2000:
        loop.call(lambda: wire.write([], take_more=True))
        lines += len(owner.expect(LinesArrived).lines)
    loop.call(lambda: wire.cut_off("the test is over"))
    owner.expect(WireClosed)
    peer.close()


def test_ready_is_said_to_the_sender_when_the_last_byte_has_left_and_not_before(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    tenants.post(tenant, tenant.slice(b"x" * 2_000_000))
    tenant.peer.send(b"echo\n")
    eventually(lambda: tenant.wire.unsent_bytes > 1_000_000, "the slice never came to the wire")
    tenants.loop.call(lambda: None)
    assert tenants.session.empty, "nobody has read it, so it has not left"
    assert len(tenant.reads.line()) == 2_000_000
    assert tenants.session.expect(Ready) == Ready(SUBSCRIPTION)
    assert tenant.reads.line() == b"echo"
    assert tenants.session.empty


def test_a_client_that_reads_no_answers_is_not_listened_to_and_loses_nothing(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    count, line = 4000, b"y" * 1000
    with sending(lambda: tenant.peer.send((line + b"\n") * count)):
        eventually(lambda: tenant.wire.unsent_bytes > LOW_WATER, "the answers never piled up")
        tenants.loop.call(lambda: None)
        assert tenant.wire.unsent_bytes < HIGH_WATER + 4 * 65536
        assert tenant.reads.lines(count) == [line] * count


def test_a_client_that_has_closed_its_writing_side_gets_the_answer_it_is_owed(tenants: Tenants, door: Door) -> None:
    question = ToConversation(CONVERSATION, Inspect(), Caller(ConnectionId("client-0"), 5))
    tenant = tenants.enter(door, lambda line: (Tell(question),) if line == b"ask" else None)
    tenant.peer.send(b"ask\nunfinished")
    tenant.peer.shut_down()
    assert tenant.reads.line() == b"unfinished"
    tenants.registry.expect(ToConversation)
    tenants.post(tenant, ReplyTo(tenant.caller(5), Done()))
    assert tenant.reads.end() == b"answer 5: Done\n"
    tenants.registry.expect(ConnectionClosed)
    assert tenant.ref.wait_for_end(PATIENCE_S)


def test_a_client_that_only_listens_and_then_vanishes_is_noticed(
    tenants: Tenants, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No event of the kernel tells of it, and nothing is written that could fail."""
    monkeypatch.setattr(descriptors, "STILL_THERE_S", 0.01)
    question = ToConversation(CONVERSATION, Inspect(), Caller(ConnectionId("client-0"), 5))
    tenant = tenants.enter(door, lambda _: (Tell(question),))
    tenant.peer.send(b"ask\n")
    tenant.peer.shut_down()
    tenants.registry.expect(ToConversation)
    assert not tenant.ref.wait_for_end(0.05), "it is owed an answer"
    tenant.peer.close()
    tenants.registry.expect(ConnectionClosed)
    assert tenant.ref.wait_for_end(PATIENCE_S)


def test_a_client_that_is_owed_nothing_is_hung_up_on_when_it_has_said_all(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    tenant.peer.send(b"last words\n")
    tenant.peer.shut_down()
    assert tenant.reads.end() == b"last words\n"
    tenants.registry.expect(ConnectionClosed)
    assert tenant.ref.wait_for_end(PATIENCE_S)


def test_a_client_that_vanishes_is_forgotten_and_what_is_posted_to_it_is_swallowed(
    tenants: Tenants, door: Door
) -> None:
    tenant = tenants.enter(door)
    tenant.peer.send(b"hello\n")
    assert tenant.reads.line() == b"hello"
    tenant.peer.close()
    assert tenants.registry.expect(ConnectionClosed).connection == tenant.id
    assert tenant.ref.wait_for_end(PATIENCE_S)
    assert not tenants.switchboard.clients()
    tenants.post(tenant, tenant.slice(b"nobody reads this"))
    assert tenants.session.empty


def test_a_client_that_vanishes_in_the_middle_of_a_slice_is_forgotten(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    tenants.post(tenant, tenant.slice(b"x" * 2_000_000))
    eventually(lambda: tenant.wire.unsent_bytes > 1_000_000, "the slice never came to the wire")
    tenant.peer.close()
    tenants.registry.expect(ConnectionClosed)
    assert tenant.ref.wait_for_end(PATIENCE_S)
    assert tenant.wire.unsent_bytes == 0


def test_hanging_up_lets_leave_what_was_written_and_does_nothing_more(tenants: Tenants, door: Door) -> None:
    text = b"z" * 500_000 + b"\n"

    tenant = tenants.enter(door, lambda line: (Write(text if line == b"bye" else b"never written\n"),))
    tenant.peer.send(b"bye\n")
    eventually(lambda: tenant.wire.unsent_bytes > 0, "the text never came to the wire")
    assert tenants.switchboard.dismiss(tenant.id, "enough")
    tenant.peer.send(b"again\n")
    assert tenant.reads.end() == text
    tenants.registry.expect(ConnectionClosed)
    assert tenant.ref.wait_for_end(PATIENCE_S)


def test_a_dismissed_client_gets_what_was_written_before(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    tenants.post(tenant, tenant.slice(b"x" * 300_000))
    assert tenants.switchboard.dismiss(tenant.id, "the daemon stops")
    assert len(tenant.reads.end()) == 300_001
    assert tenant.ref.wait_for_end(PATIENCE_S)
    assert not tenants.switchboard.dismiss(tenant.id, "again")


def test_a_stopped_reader_delays_nobody(tenants: Tenants, door: Door) -> None:
    stopped, neighbour = tenants.enter(door), tenants.enter(door)
    tenants.post(stopped, stopped.slice(b"x" * 4_000_000))
    eventually(lambda: stopped.wire.unsent_bytes > 1_000_000, "the slice never came to the wire")
    for number in range(50):
        neighbour.peer.send(b"%d\n" % number)
        assert neighbour.reads.line() == b"%d" % number
    assert stopped.wire.unsent_bytes > 1_000_000


def test_two_slices_of_two_subscriptions_are_ready_each_in_its_turn(tenants: Tenants, door: Door) -> None:
    tenant = tenants.enter(door)
    first = tenant.slice(b"a" * 1000)
    second = type(first)(tenant.id, SubscriptionId("other"), tenant.slice(b"b" * 1000).slice)
    tenants.post(tenant, first)
    tenants.post(tenant, second)
    assert tenant.reads.lines(2) == [b"a" * 1000, b"b" * 1000]
    assert [tenants.session.expect(Ready).subscription for _ in range(2)] == [SUBSCRIPTION, "other"]


def answered(tenant: Tenant) -> bytes:
    tenant.peer.send(b"ping\n")
    return tenant.reads.line()


def test_a_bug_in_a_dialect_costs_its_own_client_and_nobody_else(tenants: Tenants, door: Door) -> None:
    def script(line: bytes) -> None:
        if line == b"poison":
            raise ZeroDivisionError

    unlucky, neighbour = tenants.enter(door, script), tenants.enter(door, script)
    unlucky.peer.send(b"poison\n")
    assert unlucky.reads.end() == b""
    assert tenants.registry.expect(ConnectionClosed).connection == unlucky.id
    assert unlucky.ref.wait_for_end(PATIENCE_S)
    assert answered(neighbour) == b"ping"
