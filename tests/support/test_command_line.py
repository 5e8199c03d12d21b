"""Command lines of servers to judge or measure, which are started in another directory."""

import sys
from pathlib import Path

import pytest

from tests.support.command_line import NoProgram, words_of


def test_a_program_is_found_by_name_and_by_a_path_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "server").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert words_of("./server -m 'a b'") == [str(tmp_path / "server"), "-m", "a b"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert words_of("server") == [str(tmp_path / "server")]


@pytest.mark.parametrize("command", ["", "surely-not-there mcp", "./nor/here"])
def test_a_missing_program_is_named_in_the_error(command: str) -> None:
    with pytest.raises(NoProgram, match="no program"):
        words_of(command)
