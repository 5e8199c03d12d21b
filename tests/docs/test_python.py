"""The programs of the page for Python are run, each by itself, and print what their comments say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, Block, blocks
from tests.support.daemon_process import DaemonProcess

PROGRAMS = [block for block in blocks((DOCS / "python.md").read_text(encoding="utf-8")) if block.language == "python"]
RUN_S = 30.0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda block: f"line-{block.start}")
def test_a_program_of_the_page_prints_what_its_comments_say(program: Block, tmp_path: Path) -> None:
    expected = [found[1] for line in program.lines if (found := re.search(r"print\(.*\)  # (.*)", line))]
    assert expected
    with DaemonProcess(tmp_path / "home") as daemon:
        done = subprocess.run(
            [sys.executable, "-c", program.text],
            env=daemon.environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
    assert done.stdout.splitlines() == expected, done.stderr
