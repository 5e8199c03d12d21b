"""A daemon for each module of tests, in a home of its own, and nothing of it left afterwards."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.supervisor.cli.place import Place, a_place


@pytest.fixture(scope="session", autouse=True)
def signals_are_heard() -> Iterator[None]:
    """Restore signals that programs inherit as ignored: Ctrl-C below `&`, the end of a terminal below nohup."""
    usual: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    ignored = [number for number in usual if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, usual[number])
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A place with a running daemon."""
    with a_place() as made:
        made.run("up")
        yield made


@pytest.fixture
def quiet() -> Iterator[Place]:
    """A place that has no daemon at first."""
    with a_place() as made:
        yield made
