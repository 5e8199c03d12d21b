"""Homes for the tests that run a real daemon, and places in which sandboxes are tried."""

from pathlib import Path

import pytest

from tests.supervisor.work.place import Place
from tests.support.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    workspace, outside = tmp_path / "work space", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("readable\n")
    return Place(workspace, outside)
