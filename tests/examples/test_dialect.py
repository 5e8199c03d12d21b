"""A dialect of a hundred lines serves conversations, over real standard streams."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "dialect.py"


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in: IO[bytes] = process.stdin
        self._out: IO[bytes] = process.stdout

    def line(self) -> str:
        return self._out.readline().decode().rstrip("\n")

    def write(self, line: str) -> None:
        self._in.write(line.encode() + b"\n")
        self._in.flush()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "config.toml").write_text(
        'model_provider = "demo"\nsandbox_mode = "danger-full-access"\napproval_policy = "never"\n'
    )
    environ = {**os.environ, "HOME": str(tmp_path), "GREENROOM_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=environ
    ) as process:
        terminal = Terminal(process)
        assert terminal.line() == "write `help` for help"
        yield terminal
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def test_it_is_no_longer_than_it_says() -> None:
    code = [line for line in PROGRAM.read_text().splitlines() if line.strip()]
    assert len(code) <= 100


def test_a_conversation_is_made_named_and_answers(terminal: Terminal) -> None:
    terminal.write("new tea")
    assert len(terminal.line()) == 36
    terminal.write("say tea say hello there")
    assert terminal.line() == "completed: hello there"


def test_a_turn_is_stopped_while_another_request_waits_for_its_end(terminal: Terminal) -> None:
    terminal.write("new tea")
    terminal.line()
    terminal.write("watch tea")
    assert terminal.line() == "watching"
    terminal.write("say tea run sleep 100")
    while not terminal.line().endswith("work_began"):
        pass
    terminal.write("stop tea")
    seen: list[str] = []
    while len([one for one in seen if not one.startswith("  ")]) < 2:
        seen.append(terminal.line())
    assert {one for one in seen if not one.startswith("  ")} == {"stopped", "interrupted: None"}
    assert any(one.endswith("turn_aborted") for one in seen)


def test_a_refusal_is_printed_and_the_next_line_is_served(terminal: Terminal) -> None:
    terminal.write("say nobody hello")
    assert terminal.line() == "error: no conversation 'nobody'"
    terminal.write("stop nobody")
    assert terminal.line().startswith("error: ")
    terminal.write("what?")
    assert terminal.line().startswith("New [NAME]: ")
