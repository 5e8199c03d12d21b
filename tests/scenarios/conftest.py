"""A daemon and a model shared by all scenarios that leave them as they were; the others have their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.stage import Stage
from tests.support.model_server import ModelServer


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ModelServer() as model:
        stage = Stage(tmp_path_factory.mktemp("scenarios"), model)
        yield stage
        stage.close()


@pytest.fixture
def own_stage(tmp_path: Path) -> Iterator[Stage]:
    with ModelServer() as model:
        stage = Stage(tmp_path, model)
        yield stage
        stage.close()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The agent's working directory."""
    work = tmp_path / "work"
    work.mkdir()
    return work
