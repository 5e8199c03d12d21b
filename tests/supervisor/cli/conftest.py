"""A daemon for each module of tests, in a home of its own, and nothing of it left afterwards."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.supervisor.cli.place import Place


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
    with tempfile.TemporaryDirectory(prefix="gr-cli-", dir="/tmp") as base:  # pytest's own are too long for a socket
        made = Place(Path(base))
        made.run("up")
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def quiet() -> Iterator[Place]:
    """A place that has no daemon at first."""
    with tempfile.TemporaryDirectory(prefix="gr-cli-", dir="/tmp") as base:
        made = Place(Path(base))
        try:
            yield made
        finally:
            made.close()
