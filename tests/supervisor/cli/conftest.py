"""A daemon for each module of tests, in a home of its own, and nothing of it left afterwards."""

import signal
from collections.abc import Iterator

import pytest

from tests.supervisor.cli.place import Place, a_place


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    """Restore Ctrl-C: a shell makes background programs ignore it, and ours would inherit that."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
