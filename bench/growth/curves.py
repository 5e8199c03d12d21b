"""Figures by size, each next to the same with the smallest; their table and their plot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.growth.plot import Line, Panel, draw_plot
from bench.whole.rows import Figure, format_markdown, format_table, format_value, p99

TIMES = "×"  # noqa: RUF001  # the sign is meant
BATCH = 100  # values of which a p99 is taken


@dataclass(frozen=True, slots=True)
class Curve:
    """`target` is for the size `judged`, or the largest; `≤ 1.3 times` is meant for its ratio to the smallest."""

    what: str
    unit: str
    by_size: Mapping[int, float]
    floor: float | None = None
    floor_is: str = ""
    target: str = ""
    judged: int | None = None

    def cells(self, sizes: Mapping[int, str]) -> tuple[str, ...]:
        smallest, judged = min(self.by_size), self.judged or max(self.by_size)
        missed = Figure("", self.by_size[judged], "", self.by_size[smallest], target=self.target).misses_target
        place = f" with {sizes[judged]}" if self.judged else ""
        target = f"{self.target}{place}{', missed' if missed else ''}"
        floor = f"{format_value(self.floor)} {self.unit} ({self.floor_is})" if self.floor is not None else ""
        return self.what, *(self._cell(size, smallest) for size in sizes), target, floor

    def _cell(self, size: int, smallest: int) -> str:
        if size not in self.by_size:
            return ""
        value, first = self.by_size[size], self.by_size[smallest]
        growth = f", {TIMES}{value / first:.2f}" if size != smallest and first else ""
        return f"{format_value(value)} {self.unit}{growth}"


@dataclass(frozen=True, slots=True)
class Growth:
    """Curves over the same sizes. `name` is that of the plot's file; `sizes` says how each size is written."""

    name: str
    title: str
    of: str
    sizes: Mapping[int, str]
    curves: Sequence[Curve]
    note: str = ""

    def terminal(self) -> str:
        return f"{self.title}\n{format_table(self._cells())}"

    def markdown(self, plots: str) -> str:
        """Return the section of the page; `plots` is the folder of the plots, as the page names it."""
        picture = f"![{self.title}, drawn: both axes are logarithmic]({plots}/{self.name}.svg)"
        return "\n\n".join(
            [f"### {self.title}", *([self.note] if self.note else []), format_markdown(self._cells()), picture]
        )

    def svg(self) -> str:
        units = dict.fromkeys(curve.unit for curve in self.curves)
        return draw_plot(self.title, self.of, self.sizes, [self._panel(unit) for unit in units])

    def _panel(self, unit: str) -> Panel:
        return Panel(
            unit, [Line(curve.what.replace("`", ""), curve.by_size) for curve in self.curves if curve.unit == unit]
        )

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (self.of, *self._titles(), "target", "floor"),
            *(curve.cells(self.sizes) for curve in self.curves),
        ]

    def _titles(self) -> Iterator[str]:
        smallest = min(self.sizes)
        return (f"{name} ({TIMES}{size / smallest:,.0f})" for size, name in self.sizes.items())


def size_names(sizes: Sequence[int]) -> dict[int, str]:
    return {size: f"{size:,}" for size in sizes}


def usual_p99(values: Sequence[float]) -> float:
    """Return the p99 of a batch that a quarter of all batches stay below.

    Each batch has all kinds of measurements, and a machine's bad moments make some batches worse.
    """
    batches = sorted(p99(values[start : start + BATCH]) for start in range(0, len(values), BATCH))
    return batches[len(batches) // 4]
