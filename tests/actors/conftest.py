"""Fixtures: no test leaves an actor behind, and tests can read what actors log."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest
import structlog

from actors.conversation import Stamp, State, Step, step
from actors.messages.conversation import SessionInput
from tests.fakes.daemon import StagedDaemon

LEFTOVERS_S = 5.0  # for all leftovers of one test together; an actor that waits for nobody needs milliseconds


@pytest.fixture(autouse=True)
def log() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as entries:
        yield entries


@pytest.fixture(autouse=True)
def _no_actor_is_left(request: pytest.FixtureRequest, log: list[Any]) -> Iterator[None]:
    del log  # named so that what is stopped here still logs into it
    yield
    if left := stop_leftovers(LEFTOVERS_S):
        pytest.fail(f"{request.node.nodeid} left actors behind: {', '.join(left)}")


def stop_leftovers(timeout_s: float) -> list[str]:
    """Stop the actors that still run; returns their names."""
    left = pykka.ActorRegistry.get_all()
    for ref in left:
        ref.stop(block=False)
    deadline = time.monotonic() + timeout_s
    return [_blamed(ref, deadline) for ref in left]


def _blamed(ref: Any, deadline: float) -> str:
    name: str = ref.name
    if ref.actor_stopped.wait(max(0.0, deadline - time.monotonic())):
        return name
    pykka.ActorRegistry.unregister(ref)  # or it would be blamed on the next test too
    return f"{name} (would not stop)"


class Poison:
    """Makes the core raise, as a bug would, on the messages that a test chooses."""

    def __init__(self) -> None:
        self.chokes_on: Callable[[SessionInput], bool] = lambda _: False
        self.times = 0

    def step(self, state: State, message: SessionInput, stamp: Stamp) -> Step:
        if self.chokes_on(message):
            self.times += 1
            raise ZeroDivisionError("poison")
        return step(state, message, stamp)


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> Poison:
    poison = Poison()
    monkeypatch.setattr("actors.conversation.session.step", poison.step)
    return poison


@pytest.fixture
def daemon() -> StagedDaemon:
    return StagedDaemon()
