"""A figure next to its floor, and the table of all of them."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`floor` is the least that the same could cost, taken in the same run; `more_is_better`: as of a rate."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    floor_is: str = ""
    target: str = ""
    more_is_better: bool = False

    @property
    def ratio(self) -> str:
        if not self.floor or not self.value:
            return ""
        times = self.floor / self.value if self.more_is_better else self.value / self.floor
        return f"{times:.2f} times" if times < 100 else f"{times:.0f} times"

    @property
    def misses_target(self) -> bool:
        """A target is a sign and a number, and may be meant for the ratio: `≤ 1.06 times`."""
        if not self.target:
            return False
        sign, number, *of_the_ratio = self.target.split()
        value = self.value / self.floor if of_the_ratio and self.floor else self.value
        return value > float(number) if sign == "≤" else value < float(number)

    def cells(self) -> tuple[str, ...]:
        target = f"{self.target}, missed" if self.misses_target else self.target
        floor = f"{format_value(self.floor)} {self.unit} ({self.floor_is})" if self.floor is not None else ""
        return self.what, f"{format_value(self.value)} {self.unit}", floor, self.ratio, target


TITLES = ("what", "measured", "floor", "ratio", "target")


def format_value(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def terminal(rows: Iterable[Figure]) -> str:
    return format_table([TITLES, *(row.cells() for row in rows)])


def markdown(rows: Iterable[Figure]) -> str:
    return format_markdown([TITLES, *(row.cells() for row in rows)])


def format_table(cells: Sequence[Sequence[str]]) -> str:
    """Return a table for a terminal; the first row has the titles."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)


def format_markdown(cells: Sequence[Sequence[str]]) -> str:
    """Return the table in Markdown, with figures to the right."""
    titles, *rows = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([titles, f"|---|{'---:|' * (len(cells[0]) - 1)}", *rows])


def p50(values: Sequence[float]) -> float:
    return statistics.median(values)


def p99(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * 99 // 100)]
