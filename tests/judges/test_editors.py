"""Neovim and Emacs, which Debian has, drive `greenroom acp` with what their plugins are made of."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.installed import HERE, judge, judged
from tests.scenarios.stage import Stage
from tests.support.model_server import ModelServer

EDITORS = {
    "nvim": ("--headless", "-u", "NONE", "-c", f"luafile {HERE / 'editors' / 'neovim.lua'}"),
    "emacs": ("-Q", "--batch", "-l", HERE / "editors" / "emacs.el"),
}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A stage of its own, as its daemon is killed."""
    with ModelServer() as model:
        stage = Stage(tmp_path, model)
        yield stage
        stage.close()


@pytest.mark.parametrize("program", EDITORS)
def test_an_editor_asks_cancels_and_outlives_a_daemon(program: str, stage: Stage, tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    work = tmp_path / "work"
    work.mkdir()
    agent = judged(tmp_path, stage.home.directory, "supervisor.cli.app acp", "--approval", "untrusted")
    env = {"AGENT": str(agent), "WORK": str(work), "DAEMON": stage.home.paths.pid_file}
    report = json.loads(judge([program, *EDITORS[program]], tmp_path, env).splitlines()[-1])
    text = report.pop("text", "")
    assert report == {
        "version": 1, "answered": "end_turn", "cancelled": "cancelled", "outlived": "end_turn",
        "withdrawn": 1, "code": 0,
    }  # fmt: skip
    for words in ("one is there", "before the silence", "two is there"):
        assert text.count(words) == 1, text
    assert (work / "one").exists()
    assert (work / "two").exists()
