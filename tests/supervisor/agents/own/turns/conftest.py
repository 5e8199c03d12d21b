"""A model server and a harness for each test, on each wire."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def harness(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, server.base_url) as harness:
        yield harness


@pytest.fixture(params=["chat", "responses", "messages"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def either(tmp_path: Path, server: ModelServer, wire: str) -> Iterator[EngineHarness]:
    """A harness whose model speaks one wire, then the other."""
    with harness_at(tmp_path, server.base_url, wire) as harness:
        yield harness
