"""F, as shown: any command is shown as text that bash reads back, and that cannot pass for our own words."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from actors.vocabulary.visible_text import is_invisible
from tests.faults.conftest import Measure
from tests.faults.report import Row
from tests.support.read_back import argvs, command_in, words_of
from transports.question_text import command_line, question_lines

EXAMPLES = {"quick": 5, "soak": 600}
AT_ONCE = 40  # commands for one bash
WIDTHS = st.sampled_from((30, 40, 80, 120, 1000))


def asked(command: list[str]) -> dict[str, object]:
    return {"subject": {"kind": "command", "command": command, "cwd": "/w"}, "reason": command[0]}


def tried(row: Row, examples: int) -> None:
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(argvs, min_size=AT_ONCE // 2, max_size=AT_ONCE), WIDTHS)
    def run(commands: list[list[str]], columns: int) -> None:
        shown = [question_lines(asked(one), columns).text.split("\n") for one in commands]
        assert words_of([command_in(lines) for lines in shown]) == commands
        assert words_of([command_line(one) for one in commands]) == commands
        for line in (line for lines in shown for line in lines):
            assert line.startswith("  ")
            assert not any(map(is_invisible, line))
        row.times += len(commands)

    run()


def test_a_command_is_shown_as_what_runs(measure: Measure) -> None:
    with measure("F", "a command of anything at all, shown and read back by bash") as row:
        tried(row, EXAMPLES["quick"])


@pytest.mark.soak(takes_s=120)
def test_a_command_is_shown_as_what_runs_for_long(measure: Measure) -> None:
    with measure("F", "a command of anything at all, shown and read back by bash") as row:
        tried(row, EXAMPLES["soak"])
