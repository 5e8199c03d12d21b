"""A model server and a house for each test, on either wire."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.house import House, house_at
from tests.support.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def house(tmp_path: Path, server: ModelServer) -> Iterator[House]:
    with house_at(tmp_path, server.base_url) as house:
        yield house


@pytest.fixture(params=["chat", "responses"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def either(tmp_path: Path, server: ModelServer, wire: str) -> Iterator[House]:
    """A house whose model speaks one wire, then the other."""
    with house_at(tmp_path, server.base_url, wire) as house:
        yield house
