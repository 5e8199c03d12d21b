"""A home and a model for each fault, and a line of the report."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.faults.daemon_harness import DaemonHarness, served_by
from tests.faults.report import Row, lived
from tests.faults.reporting import ROW
from tests.support.model_server import ModelServer

START: dict[str, int] = {}  # what the shared daemon had before anybody came
FRAMES = "limits.frame_bytes = 1048576"  # small enough to go beyond it quickly
Measure = Callable[[str, str], AbstractContextManager[Row]]


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """A context for the trial of one line of the report; the line is kept if nothing was raised."""
    full = request.node.get_closest_marker("soak") is not None
    module = request.node.path.name

    def begin(letter: str, what: str) -> AbstractContextManager[Row]:
        return lived(
            Row(letter, what, full, module), lambda row: request.node.user_properties.append((ROW, asdict(row)))
        )

    return begin


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_harness(shared_model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonHarness]:
    with DaemonHarness(
        tmp_path_factory.mktemp("shared") / "home", served_by(shared_model.base_url, FRAMES)
    ) as harness:
        START["threads"], START["fds"] = harness.threads(), harness.fds()
        yield harness
        assert not harness.complaints(), harness.complaints()


@pytest.fixture
def harness(shared_harness: DaemonHarness) -> Iterator[DaemonHarness]:
    """The daemon shared by all tests that leave it as they found it: a start costs as much as a small test."""
    before = len(list(shared_harness.complaints()))
    yield shared_harness
    shared_harness.leave()
    assert shared_harness.complaints()[before:] == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
