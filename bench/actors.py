"""The cost of live and parked conversations, the time to decide an interrupt under load, and the cost of a turn.

Each figure has a floor beside it: the least that the same work can take in the same process.
"""

import gc
import itertools
import multiprocessing
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import structlog

from actors.conversation.state import Limits
from actors.messages.conversation import Address, Interrupt, Ready
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.messages.orders import AgentOrder, RunAgent, StopAgent, TakeMore
from actors.runtime.base import Actor, Ref, start
from actors.runtime.clock import LoopClock
from actors.runtime.shared import SharedThread
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId, ItemId, TurnId
from bench.whole.rows import Figure, p50, p99, terminal
from supervisor.loop.thread import LoopThread
from tests.fakes.agents import FakeAgents, says
from tests.fakes.daemon import FakeDaemon
from tests.fakes.journal import FakeJournal

PAGE = os.sysconf("SC_PAGE_SIZE")
BOUND_S = 30.0  # for any one wait; only a hang takes that long
BATCH = 200  # conversations started between two looks at the memory
LIVE, PARKED = 1000, 4_000
NEIGHBOURS, EVENTS_PER_S = 20, 10_000
INTERRUPTS, TURNS, ROUNDS = 200, 200, 3


def rss() -> int:
    if gc.isenabled():
        gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE


def per_piece(make: Callable[[int], None], batches: int, size: int) -> float:
    """KiB for each further object: the median of several batches, the first of which warms up."""
    costs = []
    for batch in range(batches + 1):
        before = rss()
        for number in range(size):
            make(batch * size + number)
        costs.append((rss() - before) / size / 1024)
    return p50(costs[1:])


def conversation(number: int) -> ConversationId:
    return ConversationId(f"{number:08x}-0000-4000-8000-000000000000")


class Quiet:
    """The end of every wire: reads at once, counts answers and keeps nothing."""

    def __init__(self) -> None:
        self.registry: object = None
        self.answered = threading.Semaphore(0)

    def expect(self, *_: object) -> None:
        """Do nothing: these readers keep nothing."""

    def post(self, _connection: object, message: ReplyTo | EndSubscription) -> None:
        if isinstance(message, ReplyTo):
            self.answered.release()

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        session.tell(Ready(message.subscription))


class Forgetful(FakeJournal):
    """A journal that keeps nothing, so that only the actors are measured."""

    def commit(self, appends: object) -> list[None]:  # type: ignore[override]  # it refuses nothing
        return [None] * len(appends)  # type: ignore[arg-type]  # a sequence, as the port says


class ActorsHarness(FakeDaemon):
    """The real actors on the threads that they have in a daemon; only disk, agents and wires are missing."""

    def __init__(self, agents: FakeAgents, journal: FakeJournal | None = None, limits: Limits | None = None) -> None:
        self.wire = Quiet()
        self.loop = LoopThread()
        self.loop.start()
        self.shared = SharedThread(self.loop.loop)
        super().__init__(
            start,
            journal=journal or FakeJournal(),
            agents=agents,
            outbox=self.wire,  # type: ignore[arg-type]  # it has the port's methods, and no more
            clock=LoopClock(self.loop.loop),
            limits=limits,
            max_live=LIVE + 2 * BATCH,
            share=self.shared.start,
        )

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.wire.answered.acquire(timeout=BOUND_S), "an answer never came"

    def forget_all(self) -> None:
        """Wait until all sessions have ended, and have the fakes forget them."""
        while self.live:
            assert self.live.pop().address.wait_for_end(BOUND_S), "a session was not parked"
        self.agents.orders.clear()

    def close(self) -> None:
        assert self.registry.stop(BOUND_S)
        assert self.shared.wait_for_actors(BOUND_S) == []
        assert self.journalist.stop(BOUND_S)
        assert self.librarian.stop(BOUND_S)
        assert self.directory.stop(BOUND_S)
        assert self.loop.stop(BOUND_S)


# --- memory ---------------------------------------------------------------------------------------------------


def live_session() -> float:
    harness = ActorsHarness(FakeAgents(lambda _: says("hello")), Forgetful())

    def make(number: int) -> None:
        harness.create(conversation(number), name=f"name-{number}")
        harness.send(conversation(number), "the first words of a person")
        harness.wait(2)
        if number % BATCH == 0:
            harness.live.clear()

    cost = per_piece(make, LIVE // BATCH, BATCH)
    harness.close()
    return cost


def bare_thread() -> float:
    queues: list[queue.Queue[object]] = []

    def make(_: int) -> None:
        inbox: queue.Queue[object] = queue.Queue()
        queues.append(inbox)
        threading.Thread(target=inbox.get, daemon=True).start()

    cost = per_piece(make, 3, BATCH)
    for inbox in queues:
        inbox.put(None)
    return cost


def parked_conversation() -> float:
    """Each has a turn, is parked in the life that opened it, and is freed without a collector."""
    gc.disable()
    harness = ActorsHarness(FakeAgents(lambda _: says("hello")), Forgetful(), Limits(idle_park_s=0.0))

    def make(number: int) -> None:
        harness.create(conversation(number))
        harness.send(conversation(number), "the first words of a person")
        harness.wait(2)
        if number % BATCH == BATCH - 1:
            harness.forget_all()

    cost = per_piece(make, PARKED // BATCH, BATCH)
    harness.close()
    return cost


def plain_entry() -> float:
    plain: dict[str, str] = {}
    return per_piece(lambda number: plain.update({conversation(number): "parked"}), 10, PARKED // 10)


def memory() -> list[Figure]:
    """Measure each in a process of its own, so that none reuses memory that another has freed."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as fresh:
        live, thread, parked, entry = fresh.map(
            _measure_quietly, (live_session, bare_thread, parked_conversation, plain_entry)
        )
    return [
        Figure(f"idle live session, one of {LIVE:,}", live, "KiB", thread, "bare thread and queue", "≤ 60"),
        Figure(f"parked conversation, one of {PARKED:,}", parked, "KiB", entry, "entry of a plain dict", "≤ 2"),
    ]


def _measure_quietly(what: Callable[[], float]) -> float:
    quieten()
    return what()


def quieten() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))


# --- time -----------------------------------------------------------------------------------------------------


class EchoActor(Actor[Any]):
    name = "echo"

    def on_receive(self, message: object) -> object:
        return message


class Emitting(FakeAgents):
    """Turns that emit all the time: output not taken yet makes the next batch longer, as with a real agent."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped_at: dict[TurnId, float] = {}
        self.stops = threading.Semaphore(0)
        self.emitted = 0
        self.quiet: set[ConversationId] = set()
        self._free: set[TurnId] = set()
        self._behind: dict[TurnId, int] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._emit, daemon=True)

    def order(self, order: AgentOrder, session: object) -> None:
        now = time.perf_counter()
        super().order(order, session)  # type: ignore[arg-type]  # an address, as the port says
        self.orders.clear()
        match order:
            case RunAgent() if order.conversation not in self.quiet:
                self._behind[order.turn] = 0
                self._free.add(order.turn)
            case TakeMore():
                self._free.add(order.turn)
            case StopAgent():
                self.stopped_at[order.turn] = now
                self.stops.release()
            case _:
                pass

    def is_quiet(self, turn: TurnId) -> bool:
        return turn not in self._behind

    def begin(self) -> None:
        self._thread.start()

    def end_all(self) -> None:
        self._end.set()
        self._thread.join(BOUND_S)

    def _emit(self) -> None:
        """Emit evenly: every millisecond a few turns have something to say, and one event in twenty is durable."""
        tick, item = 0.001, ItemId("message")
        delta, whole = ev.AgentMessageDelta(delta="word ", item_id=item), ev.AgentMessage(message="x", item_id=item)
        at_once = NEIGHBOURS // 10
        each = int(EVENTS_PER_S * tick / at_once)
        due = time.perf_counter()
        for number in itertools.count():
            due += tick
            if self._end.wait(max(0.0, due - time.perf_counter())):
                return
            turns = tuple(self._behind)
            first = number * at_once % len(turns)
            for turn in turns[first : first + at_once]:
                self._behind[turn] += each
                if turn in self._free:
                    self._free.discard(turn)
                    count, self._behind[turn] = self._behind[turn], 0
                    durable = count // 20 or int(number // 10 % 4 == 0)
                    self.say(turn, *[delta] * (count - durable), *[whole] * durable)
                    self.emitted += count


def interrupts(harness: ActorsHarness, agents: Emitting, echo: Ref[Any]) -> tuple[list[float], list[float]]:
    target = conversation(NEIGHBOURS)
    times, floors = [], []
    for _ in range(INTERRUPTS):
        harness.send(target, "work", await_end=False)
        harness.wait()
        while not (turns := [turn for turn in agents.running if agents.is_quiet(turn)]):
            time.sleep(0.0005)
        asked = time.perf_counter()
        echo.ask(asked, BOUND_S)
        floors.append((time.perf_counter() - asked) * 1e3)
        told = time.perf_counter()
        harness.tell(target, Interrupt(), harness.caller())
        assert agents.stops.acquire(timeout=BOUND_S)
        times.append((agents.stopped_at.pop(turns[0]) - told) * 1e3)
        harness.wait()
    return times, floors


def interrupt_latency() -> list[Figure]:
    agents = Emitting()
    agents.quiet.add(conversation(NEIGHBOURS))
    harness, echo = ActorsHarness(agents), start(EchoActor())
    for number in range(NEIGHBOURS + 1):
        harness.create(conversation(number))
        if number < NEIGHBOURS:
            harness.attach(conversation(number))
            harness.send(conversation(number), "talk", await_end=False)
            harness.wait(3)
        else:
            harness.wait()
    began = time.perf_counter()
    agents.begin()
    rounds = [interrupts(harness, agents, echo) for _ in range(ROUNDS)]
    rate = agents.emitted / (time.perf_counter() - began)
    agents.end_all()
    harness.close()
    assert echo.stop(BOUND_S)
    rows = []
    for name, at, target in (("p50", p50, ""), ("p99", p99, "≤ 10")):
        value = p50([at(times) for times, _ in rounds])
        floor = p50([at(floors) for _, floors in rounds])
        what = f"interrupt decided, neighbours {rate:,.0f} events/s, {name}"
        rows.append(Figure(what, value, "ms", floor, f"ask an idle actor, {name}", target))
    return rows


def turn_time() -> Figure:
    harness, echo = ActorsHarness(FakeAgents(lambda _: says("hello"))), start(EchoActor())
    target, times, floors = conversation(1), [], []
    harness.create(target)
    harness.wait()
    for _ in range(TURNS):
        asked = time.perf_counter()
        echo.ask(asked, BOUND_S)
        told = time.perf_counter()
        harness.send(target)
        harness.wait()
        times.append((time.perf_counter() - told) * 1e3)
        floors.append((told - asked) * 1e3)
    harness.close()
    assert echo.stop(BOUND_S)
    return Figure("turn, from send to result, p50", p50(times), "ms", p50(floors), "ask, p50")


def main() -> int:
    quieten()
    rows = [*memory(), *interrupt_latency(), turn_time()]
    print(terminal(rows))
    return int(any(row.misses_target for row in rows))


if __name__ == "__main__":
    sys.exit(main())
