"""The real actors on the threads that they have in a daemon: many at once, and a flood beside an interrupt."""

import itertools
import threading
from collections.abc import Iterator

import pytest

from actors.messages.orders import AgentOrder, TakeMore
from actors.runtime.base import start
from actors.runtime.clock import LoopClock
from actors.runtime.shared import SharedThread
from actors.vocabulary import events as ev
from actors.vocabulary.answers import InterruptedTurn, TurnResult
from actors.vocabulary.ids import Caller, ConversationId, ItemId
from supervisor.loop.thread import LoopThread
from tests.fakes.agents import FakeAgents, says
from tests.fakes.daemon import FakeDaemon

BOUND_S = 60.0  # for all of a crowd together, on a machine that does other things as well


class ThreadedDaemon(FakeDaemon):
    """A daemon on threads: actors that wait for disks have their own, the others share one. Stop mirrors start."""

    def __init__(self, agents: FakeAgents) -> None:
        self.loop = LoopThread()
        self.loop.start()
        self.shared = SharedThread(self.loop.loop)
        super().__init__(start, agents=agents, clock=LoopClock(self.loop.loop), share=self.shared.start)

    def wait(self, *callers: Caller) -> None:
        answered = self.outbox.wait_for(lambda: all(one in self.outbox.replies for one in callers), BOUND_S)
        assert answered, f"unanswered: {[one for one in callers if one not in self.outbox.replies]}"

    def stop(self) -> None:
        assert self.registry.stop(BOUND_S)
        assert self.shared.wait_for_actors(BOUND_S) == []
        assert self.journalist.stop(BOUND_S)
        assert self.librarian.stop(BOUND_S)
        assert self.directory.stop(BOUND_S)
        assert self.loop.stop(BOUND_S)


@pytest.fixture
def agents() -> FakeAgents:
    return FakeAgents(lambda _: says("hello"))


@pytest.fixture
def daemon(agents: FakeAgents) -> Iterator[ThreadedDaemon]:
    before = set(threading.enumerate())
    daemon = ThreadedDaemon(agents)
    yield daemon
    daemon.stop()
    for thread in set(threading.enumerate()) - before:
        thread.join(BOUND_S)
        assert not thread.is_alive(), f"{thread.name} was left"


def conversations(count: int) -> list[ConversationId]:
    return [ConversationId(f"{number:04x}-0001") for number in range(count)]


def test_two_hundred_sessions_chat_at_once_and_each_has_its_own_history(daemon: ThreadedDaemon) -> None:
    crowd = conversations(200)
    readers, callers = [], []
    for conversation in crowd:
        callers.append(daemon.create(conversation))
        readers.append(daemon.attach(conversation)[1])
    for _ in range(3):
        callers += [daemon.send(conversation) for conversation in crowd]
        daemon.wait(*callers)  # a mailbox has room for all of one round, and need not have for more
    assert sum(isinstance(daemon.answer(caller), TurnResult) for caller in callers) == 600
    stored = [list(daemon.journal.history(conversation)) for conversation in crowd]
    assert daemon.outbox.wait_for(lambda: [reader.records for reader in readers] == stored, BOUND_S)
    assert daemon.journal.conflicts == []
    assert daemon.routing.statistics()["live"] == 200


def test_clients_on_many_threads_are_all_answered_once(daemon: ThreadedDaemon) -> None:
    (conversation,) = conversations(1)
    daemon.wait(daemon.create(conversation))
    gate, callers = threading.Barrier(8), [daemon.caller(f"client-{number}") for number in range(160)]

    def client(number: int) -> None:
        gate.wait(BOUND_S)
        for caller in callers[number::8]:
            daemon.send(conversation, caller=caller, await_end=False)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    daemon.wait(*callers)
    assert all(len(daemon.outbox.replies[caller]) == 1 for caller in callers)
    history = daemon.journal.history(conversation)
    assert [record.seq for record in history] == list(range(1, len(history) + 1))


class Flooding(FakeAgents):
    """Every turn talks for ever: the next batch is there the moment the last one was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.words = itertools.count()
        self.taken = 0

    def order(self, order: AgentOrder, session: object) -> None:
        super().order(order, session)  # type: ignore[arg-type]  # an address, as the port says
        if isinstance(order, TakeMore) and order.turn in self.running:
            self.taken += 1
            self.flood(order.turn)

    def flood(self, turn: object) -> None:
        delta = ev.AgentMessageDelta(delta="word ", item_id=ItemId("message"))
        self.say(turn, *[delta] * 50)  # type: ignore[arg-type]  # a TurnId


class TestAFlood:
    @pytest.fixture
    def agents(self) -> Flooding:
        return Flooding()

    def test_an_interrupt_is_handled_while_the_neighbours_are_flooded(
        self, daemon: ThreadedDaemon, agents: Flooding
    ) -> None:
        *neighbours, target = conversations(6)
        for conversation in (*neighbours, target):
            daemon.create(conversation)
        started = [daemon.send(one, await_end=False) for one in (*neighbours, target)]
        daemon.wait(*started)
        for turn in agents.running:
            agents.flood(turn)
        for _ in range(3):
            interrupted = daemon.interrupt(target)
            daemon.wait(interrupted)
            assert isinstance(daemon.answer(interrupted), InterruptedTurn)
            daemon.wait(daemon.send(target, await_end=False))
        assert agents.taken > 0
        daemon.wait(*[daemon.interrupt(one) for one in (*neighbours, target)])
        assert agents.running == ()
