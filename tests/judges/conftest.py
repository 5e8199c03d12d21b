"""One daemon and one model for all judges; progress comes often enough to be seen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.installed import judged
from tests.scenarios.stage import Stage
from tests.support.model_server import ModelServer


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ModelServer() as model:
        stage = Stage(
            tmp_path_factory.mktemp("judges"), model, "progress_seconds = 0.2", 'max_sandbox = "danger-full-access"'
        )
        yield stage
        stage.close()


@pytest.fixture
def server(stage: Stage, tmp_path: Path) -> Path:
    return judged(tmp_path, stage.home.directory)
