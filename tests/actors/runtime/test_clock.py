"""The real clock: timers of a real loop."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from weakref import ref

import pytest

from actors.messages.conversation import Address
from actors.runtime.clock import LoopClock
from actors.runtime.shared import call_on_loop
from actors.vocabulary.errors import ActorGone
from supervisor.loop.thread import LoopThread

BOUND_S = 5.0  # a timer of milliseconds, on a machine that does other things as well

After = Callable[[float, Address[str], str], None]


class Listener:
    """Writes down what it is told; `enough` is set at the wanted count."""

    def __init__(self, wanted: int = 1) -> None:
        self.heard: list[str] = []
        self.enough = threading.Event()
        self._wanted = wanted

    def tell(self, message: str) -> None:
        self.heard.append(message)
        if len(self.heard) == self._wanted:
            self.enough.set()


class Gone:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def tell(self, _: object) -> None:
        raise self._error


@pytest.fixture
def after() -> Iterator[After]:
    """Call the clock's `after` on its loop."""
    thread = LoopThread()
    thread.start()
    clock = LoopClock(thread.loop)
    yield lambda delay_s, address, message: call_on_loop(thread.loop, clock.tell_later, delay_s, address, message)
    assert thread.stop(BOUND_S)


def test_timers_fire_in_the_order_they_are_due(after: After) -> None:
    listener = Listener(wanted=3)
    after(0.03, listener, "third")
    after(0.01, listener, "first")
    after(0.02, listener, "second")
    assert listener.enough.wait(BOUND_S)
    assert listener.heard == ["first", "second", "third"]


def test_a_timer_never_fires_before_it_is_due(after: After) -> None:
    listener, asked = Listener(), time.monotonic()
    after(0.02, listener, "due")
    assert listener.enough.wait(BOUND_S)
    assert time.monotonic() - asked >= 0.02


def test_ten_thousand_timers_need_no_thread_of_their_own(after: After) -> None:
    before, listener = threading.active_count(), Listener(wanted=10_000)
    for number in range(10_000):
        after(0.001, listener, str(number))
    assert threading.active_count() <= before
    assert listener.enough.wait(BOUND_S)


@pytest.mark.parametrize("error", [ActorGone("ended"), RuntimeError("a bug")])
def test_an_address_that_refuses_stops_nobody_elses_time(after: After, error: Exception) -> None:
    listener = Listener()
    after(0.0, Gone(error), "lost")
    after(0.001, listener, "heard")
    assert listener.enough.wait(BOUND_S)


def test_a_timer_that_is_not_due_when_the_loop_ends_never_fires() -> None:
    thread, listener = LoopThread(), Listener()
    thread.start()
    call_on_loop(thread.loop, LoopClock(thread.loop).tell_later, 3600.0, listener, "never")
    assert thread.stop(BOUND_S)
    assert listener.heard == []


@pytest.mark.parametrize("delay_s", [1e10, 1e300, float("inf")])
def test_a_timer_beyond_all_time_stops_nobody_elses(after: After, delay_s: float) -> None:
    """An imported question may have such a deadline; a config may say ten years at most."""
    listener = Listener()
    after(delay_s, listener, "never")
    after(0.001, listener, "soon")
    assert listener.enough.wait(BOUND_S)
    assert listener.heard == ["soon"]


def test_a_long_timer_keeps_nothing_of_the_context_that_it_was_set_in() -> None:
    """An actor's is its own: what is bound to its log lines would stay for as long as its longest timer."""

    class Bound:
        pass

    def set_timer(bound: Bound) -> None:
        of_an_actor.set(bound)
        LoopClock(loop).tell_later(3600, Listener(), "late")

    of_an_actor: ContextVar[Bound] = ContextVar("of_an_actor")
    loop = asyncio.new_event_loop()
    bound = Bound()
    known = ref(bound)
    copy_context().run(set_timer, bound)
    del bound
    assert known() is None
    loop.close()
