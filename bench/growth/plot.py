"""Plots as SVG, for a light and a dark page: lines over logarithmic axes, each with its name at its end.

Standard library only. A plot has a panel for each unit, one below the other over the same sizes. A dashed line rises
as the size does, to compare slopes with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from xml.sax.saxutils import escape

WIDTH, LEFT = 840, 64
LETTER, LEAD = 6.7, 22  # the width of a letter, at most; of the lead from a line to its name
TOP, GAP, BOTTOM = 40, 34, 52
LINE_HEIGHT = 17  # of a name
LEAST_HEIGHT = 110  # of a panel
DECADE_HEIGHT = 42
COLOURS = (  # on white, and on black
    ("#0969da", "#58a6ff"),
    ("#bc4c00", "#f0883e"),
    ("#1a7f37", "#3fb950"),
    ("#8250df", "#bc8cff"),
    ("#bf3989", "#f778ba"),
    ("#7d4e00", "#d29922"),
    ("#0e7490", "#39c5cf"),
    ("#57606a", "#a0a8b0"),
)
SHAPES = (
    "text{font:12px sans-serif}text.title{font-weight:bold}path{fill:none;stroke-width:1.8}"
    ".grid,.slope{stroke-width:1}.slope{stroke-dasharray:5 4}.lead{stroke-width:.7}"
)
INK = (  # selector, property, on white, on black
    ("text", "fill", "#24292f", "#e6edf3"),
    (".back", "fill", "#ffffff", "#0d1117"),
    (".grid", "stroke", "#d0d7de", "#30363d"),
    (".slope", "stroke", "#8c959f", "#6e7681"),
)


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    points: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Panel:
    unit: str
    lines: Sequence[Line]

    def decades(self) -> tuple[int, int]:
        """Return the powers of ten that the axis begins and ends with."""
        values = [value for line in self.lines for value in line.points.values() if value > 0]
        low, high = floor(log10(min(values, default=1))), ceil(log10(max(values, default=1)))
        return low, max(high, low + 1)

    def height(self) -> int:
        low, high = self.decades()
        return max(LEAST_HEIGHT, (high - low) * DECADE_HEIGHT, len(self.lines) * LINE_HEIGHT)


@dataclass(frozen=True, slots=True)
class SizeAxis:
    sizes: Mapping[int, str]
    right: float

    def x_of(self, size: float) -> float:
        share = log10(size / min(self.sizes)) / log10(max(self.sizes) / min(self.sizes))
        return LEFT + share * (self.right - LEFT)


def draw_plot(title: str, of: str, sizes: Mapping[int, str], panels: Sequence[Panel]) -> str:
    """Return the plot as SVG. `sizes` has the name of each size at which lines have points; `of` says of what."""
    longest = max(len(line.name) for panel in panels for line in panel.lines)
    across = SizeAxis(sizes, WIDTH - LEAD - LETTER * longest)
    body: list[str] = []
    top = TOP
    for panel in panels:
        body += _panel(panel, across, top)
        top += panel.height() + GAP
    height = top - GAP + BOTTOM
    for size, name in sizes.items():
        body.append(_text(across.x_of(size), height - BOTTOM + 18, name, 'text-anchor="middle"'))
    body.append(_text(LEFT, height - 12, f"{of}; dashed: a cost that grows with them"))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_style()}</style>",
            f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>',
            _text(LEFT, 22, title, 'class="title"'),
            *body,
            "</svg>\n",
        ]
    )


def spread(wanted: Sequence[float], least: float, bottom: float) -> list[float]:
    """Return places in the order of `wanted`, as near to it as they can be with `least` between two of them."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places = list(wanted)
    for before, after in pairwise(order):
        places[after] = max(places[after], places[before] + least)
    limit = bottom
    for index in reversed(order):
        places[index] = min(places[index], limit)
        limit = places[index] - least
    return places


def _panel(panel: Panel, across: SizeAxis, top: int) -> Iterator[str]:
    low, high = panel.decades()
    bottom, right = top + panel.height(), across.right
    a_decade = panel.height() / (high - low)

    def y_of(value: float) -> float:
        return bottom - (log10(value) - low) * a_decade

    for power in range(low, high + 1):
        at = y_of(10.0**power)
        yield f'<path class="grid" d="M{LEFT} {at:.1f}H{right:.1f}"/>'
        yield _text(LEFT - 8, at + 4, f"{10.0**power:,.{max(0, -power)}f}", 'text-anchor="end"')
    yield _text(10, top - 10, panel.unit)
    for size in across.sizes:
        yield f'<path class="grid" d="M{across.x_of(size):.1f} {top}V{bottom}"/>'
    yield _slope(across, top, bottom, a_decade)
    ends = [y_of(max(list(line.points.values())[-1], 10.0**low)) for line in panel.lines]
    for number, (line, name_at) in enumerate(zip(panel.lines, spread(ends, LINE_HEIGHT, bottom), strict=True)):
        places = [(across.x_of(size), y_of(max(value, 10.0**low))) for size, value in line.points.items()]
        of, (end_x, end_y) = f"of{number % len(COLOURS)}", places[-1]
        yield f'<path class="{of}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
        yield from (f'<circle class="{of}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
        yield f'<path class="lead {of}" d="M{end_x + 5:.1f} {end_y:.1f}L{right + LEAD - 4:.1f} {name_at:.1f}"/>'
        yield _text(right + LEAD, name_at + 4, line.name, f'class="{of}"')


def _slope(across: SizeAxis, top: int, bottom: int, a_decade: float) -> str:
    """Return a line that rises as the size does, as far as there is room."""
    least, most = min(across.sizes), max(across.sizes)
    decades = min(log10(most / least), (bottom - top) / a_decade)
    to = across.x_of(least * 10**decades)
    return f'<path class="slope" d="M{LEFT} {bottom}L{to:.1f} {bottom - decades * a_decade:.1f}"/>'


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def _style() -> str:
    return "".join([SHAPES, *_colours(0), "@media(prefers-color-scheme:dark){", *_colours(1), "}"])


def _colours(which: int) -> Iterator[str]:
    for kind, what, *inks in INK:
        yield f"{kind}{{{what}:{inks[which]}}}"
    for number, colours in enumerate(COLOURS):
        colour = colours[which]
        yield f"path.of{number}{{stroke:{colour}}}circle.of{number},text.of{number}{{fill:{colour}}}"
