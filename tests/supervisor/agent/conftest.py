"""Places in which several test files try things."""

from pathlib import Path

import pytest

from tests.supervisor.agent.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    workspace, outside = tmp_path / "work space", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("readable\n")
    return Place(workspace, outside)
