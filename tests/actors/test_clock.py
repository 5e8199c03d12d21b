"""The real clock on its one thread."""

import threading
import time
from collections.abc import Iterator

import pytest

from actors.clock import ThreadClock
from actors.errors import ActorGone

BOUND_S = 5.0  # a timer of milliseconds, on a machine that does other things as well


class Listener:
    """Writes down what it is told; `enough` is set at the wanted count."""

    def __init__(self, wanted: int = 1) -> None:
        self.heard: list[object] = []
        self.enough = threading.Event()
        self._wanted = wanted

    def tell(self, message: object) -> None:
        self.heard.append(message)
        if len(self.heard) == self._wanted:
            self.enough.set()


class Gone:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def tell(self, _: object) -> None:
        raise self._error


@pytest.fixture
def clock() -> Iterator[ThreadClock]:
    clock = ThreadClock()
    clock.start()
    yield clock
    assert clock.stop(BOUND_S), "the clock did not stop"


def test_timers_fire_in_the_order_they_are_due(clock: ThreadClock) -> None:
    listener = Listener(wanted=3)
    clock.after(0.03, listener, "third")
    clock.after(0.01, listener, "first")
    clock.after(0.02, listener, "second")
    assert listener.enough.wait(BOUND_S)
    assert listener.heard == ["first", "second", "third"]


def test_a_timer_never_fires_before_it_is_due(clock: ThreadClock) -> None:
    listener, asked = Listener(), time.monotonic()
    clock.after(0.02, listener, "due")
    assert listener.enough.wait(BOUND_S)
    assert time.monotonic() - asked >= 0.02


def test_ten_thousand_timers_need_no_thread_of_their_own(clock: ThreadClock) -> None:
    before, listener = threading.active_count(), Listener(wanted=10_000)
    for number in range(10_000):
        clock.after(0.001, listener, number)
    assert threading.active_count() <= before
    assert listener.enough.wait(BOUND_S)


@pytest.mark.parametrize("error", [ActorGone("ended"), RuntimeError("a bug")])
def test_an_address_that_refuses_stops_nobody_elses_time(clock: ThreadClock, error: Exception) -> None:
    listener = Listener()
    clock.after(0.0, Gone(error), "lost")
    clock.after(0.001, listener, "heard")
    assert listener.enough.wait(BOUND_S)


def test_a_stopped_clock_fires_nothing_and_leaves_no_thread() -> None:
    clock, listener = ThreadClock(), Listener()
    clock.start()
    clock.after(3600.0, listener, "never")
    assert clock.stop(BOUND_S)
    assert listener.heard == []
    assert all(thread.name != "clock" for thread in threading.enumerate())


@pytest.mark.parametrize("delay_s", [1e10, 1e300, float("inf")])
def test_a_timer_beyond_all_time_stops_nobody_elses(clock: ThreadClock, delay_s: float) -> None:
    """As an imported question may have it; a config may say ten years at most."""
    listener = Listener()
    clock.after(delay_s, listener, "never")
    time.sleep(0.02)  # it waits for this one now
    clock.after(0.001, listener, "heard")
    assert listener.enough.wait(BOUND_S)
    assert listener.heard == ["heard"]
