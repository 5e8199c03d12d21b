"""Actors that share a loop's thread: nobody is forgotten, nobody is starved, and the loop goes on between them."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from actors.runtime.base import Actor, Ref
from actors.runtime.shared import IN_A_ROW, SharedThread, call_on_loop
from supervisor.loop.thread import LoopThread
from tests.actors.conftest import stop_leftovers

BOUND_S = 10.0  # for all of a crowd together, on a machine that does other things as well


@dataclass(frozen=True)
class Do:
    what: Callable[[], object]


class Doer(Actor[Any]):
    def __init__(self, name: str = "doer") -> None:
        super().__init__()
        self.name = name
        self.threads: set[str] = set()

    def on_receive(self, message: Any) -> object:
        self.threads.add(threading.current_thread().name)
        return message.what()


@dataclass(frozen=True)
class Slice(Do):
    """A message that nobody waits for."""


class Reader(Doer):
    patient = frozenset((Slice,))


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    thread.start()
    yield thread
    assert thread.stop(BOUND_S)


@pytest.fixture
def shared(loop: LoopThread) -> Iterator[SharedThread]:
    shared = SharedThread(loop.loop)
    yield shared
    assert shared.wait_for_actors(BOUND_S) == []


def settled(ref: Ref[Any]) -> None:
    ref.ask(Do(lambda: None), BOUND_S)


def test_all_run_on_the_loops_thread_and_it_keeps_its_name(shared: SharedThread) -> None:
    actors = [Doer(f"doer-{number}") for number in range(3)]
    refs = [shared.start(actor) for actor in actors]
    for ref in refs:
        assert ref.stop(BOUND_S)
    assert {name for actor in actors for name in actor.threads} <= {"loop"}
    assert "loop" in {thread.name for thread in threading.enumerate()}


def test_an_actor_is_told_by_another_and_by_itself_without_being_run_inside_of_them(shared: SharedThread) -> None:
    order: list[str] = []
    first, second = shared.start(Doer("first")), shared.start(Doer("second"))

    def tell() -> None:
        second.tell(Do(lambda: order.append("second")))
        first.tell(Do(lambda: order.append("first again")))
        order.append("first")

    first.ask(Do(tell), BOUND_S)
    settled(second)
    settled(first)
    assert order[0] == "first"
    assert sorted(order) == ["first", "first again", "second"]
    assert first.stop(BOUND_S)
    assert second.stop(BOUND_S)


def test_of_many_who_are_told_by_many_threads_none_is_forgotten(shared: SharedThread) -> None:
    """Each thread tells everybody in turn, and each message is handled once."""
    counts = [0] * 50

    def count(number: int) -> Do:
        def what() -> None:
            counts[number] += 1

        return Do(what)

    refs = [shared.start(Doer(f"doer-{number}")) for number in range(50)]
    gate = threading.Barrier(4)

    def teller() -> None:
        gate.wait(BOUND_S)
        for _ in range(100):
            for number, ref in enumerate(refs):
                ref.tell(count(number))

    threads = [threading.Thread(target=teller) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    for ref in refs:
        settled(ref)
    assert counts == [400] * 50
    for ref in refs:
        assert ref.stop(BOUND_S)


def test_an_actor_that_messages_itself_for_ever_starves_neither_neighbours_nor_the_loop(
    shared: SharedThread, loop: LoopThread
) -> None:
    going_on = threading.Event()
    going_on.set()
    restless = shared.start(Doer("restless"))

    def again() -> None:
        if going_on.is_set():
            restless.tell(Do(again))

    for _ in range(3 * IN_A_ROW):
        restless.tell(Do(again))
    neighbour = shared.start(Doer("neighbour"))
    settled(neighbour)
    loop.call(asyncio.sleep(0), BOUND_S)
    going_on.clear()
    assert restless.stop(BOUND_S)
    assert neighbour.stop(BOUND_S)


def test_a_neighbour_has_its_turn_after_a_few_messages_of_the_first(shared: SharedThread) -> None:
    order: list[str] = []
    first, second, gate = shared.start(Doer("first")), shared.start(Doer("second")), shared.start(Doer("gate"))

    def fill() -> None:
        for _ in range(2 * IN_A_ROW):
            first.tell(Do(lambda: order.append("first")))
        second.tell(Do(lambda: order.append("second")))

    gate.ask(Do(fill), BOUND_S)
    settled(first)
    settled(second)
    assert order.index("second") == IN_A_ROW
    for ref in (first, second, gate):
        assert ref.stop(BOUND_S)


def test_an_answer_that_somebody_waits_for_goes_before_the_slices_of_a_thousand_readers(shared: SharedThread) -> None:
    order: list[str] = []
    readers = [shared.start(Reader(f"reader-{number}")) for number in range(1_000)]
    asked, gate = shared.start(Reader("asked")), shared.start(Doer("gate"))
    for ref in (*readers, asked):
        settled(ref)

    def fill() -> None:
        for ref in (*readers, asked):
            ref.tell(Slice(lambda: order.append("slice")))
        asked.tell(Do(lambda: order.append("answer")))

    gate.ask(Do(fill), BOUND_S)
    for ref in (*readers, asked):
        settled(ref)
    assert order.index("answer") < IN_A_ROW, "a reader or two may have had a turn before it was said"
    assert order.count("slice") == 1_001
    for ref in (*readers, asked, gate):
        assert ref.stop(BOUND_S)


def test_however_many_go_first_the_others_have_their_turn(shared: SharedThread) -> None:
    going_on = threading.Event()
    going_on.set()
    restless = [shared.start(Doer(f"restless-{number}")) for number in range(50)]
    reader, served = shared.start(Reader("reader")), threading.Event()
    settled(reader)

    def again(ref: Ref[Any]) -> None:
        if going_on.is_set():
            ref.tell(Do(partial(again, ref)))

    for ref in restless:
        ref.tell(Do(partial(again, ref)))
    reader.tell(Slice(served.set))
    assert served.wait(BOUND_S)
    going_on.clear()
    for ref in (*restless, reader):
        assert ref.stop(BOUND_S)


def spend(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_an_actor_that_ends_leaves_the_others_and_who_has_not_ended_is_named(shared: SharedThread) -> None:
    staying, leaving = shared.start(Doer("staying")), shared.start(Doer("leaving"))
    assert leaving.stop(BOUND_S)
    assert shared.wait_for_actors(0.0) == ["staying"]
    settled(staying)
    assert staying.stop(BOUND_S)


def test_a_message_to_an_actor_that_is_ending_is_refused_or_served_and_the_round_goes_on(
    shared: SharedThread,
) -> None:
    order: list[int] = []
    refs = [shared.start(Doer(f"doer-{number}")) for number in range(20)]
    for number, ref in enumerate(refs):
        if number % 2:
            ref.stop_soon()
        else:
            ref.tell(Do(lambda number=number: order.append(number)))  # type: ignore[misc]  # mypy knows no defaults in lambdas
    for number, ref in enumerate(refs):
        assert ref.stop(BOUND_S), number
    assert sorted(order) == list(range(0, 20, 2))


def test_a_loop_that_is_closed_is_told_nothing_and_nobody_is_hurt() -> None:
    loop = LoopThread()
    loop.start()
    ref = SharedThread(loop.loop).start(Doer())
    settled(ref)
    assert loop.stop(BOUND_S)
    ref.tell(Do(lambda: None))
    call_on_loop(loop.loop, lambda: None)
    assert stop_leftovers(0.0) == ["doer (would not stop)"]
