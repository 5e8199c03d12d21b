"""The report of the fault tests: a line for each trial and its losses, and the page that the long run writes.

A line that is not reached (a failure, a skip) is not printed: the page only says what was seen.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
LETTERS = {
    "K": "Kills",
    "I": "Interrupts",
    "A": "Approvals",
    "S": "Slow and vanished readers",
    "F": "Foreign and malformed input",
    "R": "Resources, clocks, disks",
    "H": "Hostile model servers",
    "M": "The whole daemon against a model",
    "W": "Writable roots",
    "G": "Third-party agents",
    "E": "Editors that speak ACP",
    "N": "Neighbours of a client that does its worst",
    "X": "Mixed load",
}
HEAD = """# Reliability

This page is written by `make soak` from what it saw; the small version of each line is in `make test`.
To repeat one letter, in full: `.venv/bin/python -m pytest -m soak --timeout 1800 tests/faults/test_LETTER*.py`.
"Lost" counts whatever was promised and not kept: events acknowledged and gone, doubled or out of order, answers that
never came, turns without exactly one end, processes left behind. Times are those of a busy machine, because several
tests run at once: how long a start or an interrupt takes alone is in [performance](performance.md).
"""


@dataclass(slots=True)
class Row:
    letter: str
    what: str
    full: bool
    module: str
    times: int = 0
    lost: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def line(self) -> str:
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return f"{self.letter}: {self.what}: {self.times:,} times, {self.lost} lost, {self.seconds:.1f} s{notes}"


@contextmanager
def lived(row: Row, keep: Callable[[Row], None]) -> Iterator[Row]:
    began = time.monotonic()
    yield row
    row.seconds = time.monotonic() - began
    keep(row)


class Report:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.failed: list[str] = []
        self.passed: set[str] = set()

    def take_from(self, page: str) -> None:
        """Take over the rows of an earlier run that this run has not tried again."""
        letter, rows = "", []
        again = {(row.letter, row.what) for row in self.rows if row.full}
        for line in page.splitlines():
            if line.startswith("## "):
                letter = line[3]
            elif line.startswith("- `"):
                failed = line.removeprefix("- `").removesuffix("`")
                self.failed += [failed] if failed not in self.passed else []
            elif line.startswith("| ") and line.endswith("` |"):
                rows.append(_row(letter, line))
        self.rows = [row for row in rows if (row.letter, row.what) not in again] + self.rows

    @property
    def whole(self) -> bool:
        """Whether every letter had its long run."""
        return {row.letter for row in self.rows if row.full} == set(LETTERS)

    def page(self) -> str:
        full = [row for row in self.rows if row.full]
        machine = (
            f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
        )
        total = sum(row.seconds for row in full)
        lines = [HEAD, f"Last run: {machine}; {total / 60:.0f} minutes of tests, side by side.", ""]
        if self.failed:
            lines += ["These did not pass, so their lines are missing or are no proof:", ""]
            lines += [*(f"- `{one}`" for one in self.failed), ""]
        for letter, title in LETTERS.items():
            lines += [f"## {letter}: {title}", "", *_table([row for row in full if row.letter == letter]), ""]
        return "\n".join(lines)


def _row(letter: str, line: str) -> Row:
    what, times, lost, seconds, notes, module = (cell.strip() for cell in line.strip("|").split("|"))
    counted = int(times.replace(",", ""))
    return Row(letter, what, True, module.strip("`"), counted, int(lost), float(seconds), [notes] if notes else [])


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| tried | times | lost | seconds | seen | where |"
    yield "|---|---:|---:|---:|---|---|"
    for row in rows:
        cells = (
            row.what,
            f"{row.times:,}",
            str(row.lost),
            f"{row.seconds:.1f}",
            "; ".join(row.notes),
            f"`{row.module}`",
        )
        yield f"| {' | '.join(cells)} |"
