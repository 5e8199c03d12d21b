"""Rows as lines: a table that fits the terminal, or fields with tabs in a pipe. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from supervisor.cli.kit.formatting import cut_to_width, width
from supervisor.cli.kit.terminal import Paint

GAP = "  "
NARROWEST = 8  # cells that a shrinking column keeps
LEAST = 4  # cells for which the last column is still shown
WIDE = 120  # cells of a window with room for everything

Row = dict[str, Any]


class Column(NamedTuple):
    """A column. `gives`: it shrinks if the table is too wide. `style` colours a cell by its row.

    On a terminal a column is left out if its `tells` is true of no row, and a `wide` column in a narrow window.
    A `whole` column holds a word that a person types again: other columns make room for it.
    """

    title: str
    cell: Callable[[Row], str]
    right: bool = False
    shrinks: bool = False
    style: Callable[[Row], tuple[str, ...]] | None = None
    has_content: Callable[[Row], bool] | None = None
    wide: bool = False
    whole: bool = False


def plain_table(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    lines = ["\t".join(column.title for column in columns)]
    return lines + ["\t".join(column.cell(row) or "-" for column in columns) for row in rows]


def draw_table(
    columns: Sequence[Column],
    rows: Sequence[Row],
    room: int,
    paint: Paint,
    *,
    long: bool = False,
    most: int | None = None,
) -> list[str]:
    """The lines of the table. `long`: with the wide columns, however narrow the window is.

    A single whole column may be wider than the window; `most` limits it where no line may wrap.
    """
    long = long or room >= WIDE
    columns = [
        column
        for column in columns
        if (long or not column.wide) and (column.has_content is None or any(map(column.has_content, rows)))
    ]
    cells = [[column.cell(row) or "-" for column in columns] for row in rows]
    widths = [
        max([width(column.title), *(width(line[place]) for line in cells)]) for place, column in enumerate(columns)
    ]
    places = _shrink(columns, widths, room)
    columns, widths = [columns[place] for place in places], [widths[place] for place in places]
    widths = [min(widths[0], most or widths[0]), *widths[1:]]
    cells = [[line[place] for place in places] for line in cells]
    head = [_set(column, column.title, widths[place]) for place, column in enumerate(columns)]
    lines = [paint(GAP.join(head).rstrip(), "bold")]
    for row, line in zip(rows, cells, strict=True):
        shown = []
        for place, column in enumerate(columns):
            text = _set(column, line[place], widths[place])
            last = place == len(columns) - 1
            shown.append(paint(text.rstrip() if last else text, *(column.style(row) if column.style else ())))
        lines.append(GAP.join(shown).rstrip())
    return lines


def _shrink(columns: Sequence[Column], widths: list[int], room: int) -> list[int]:
    """Shrink the columns that may shrink, the widest first; then leave out columns from the end.

    Returns the places of those that stay.
    """
    spare = {
        place: widths[place] - max(NARROWEST, width(column.title))
        for place, column in enumerate(columns)
        if column.shrinks
    }
    while _total(widths) > room and any(cells > 0 for cells in spare.values()):
        widest = max((place for place in spare if spare[place] > 0), key=lambda place: widths[place])
        widths[widest] -= 1
        spare[widest] -= 1
    stay = list(range(len(columns)))
    while len(stay) > 1 and (over := _total([widths[place] for place in stay]) - room) > 0:
        last = next((place for place in reversed(stay) if not columns[place].whole), stay[-1])
        if widths[last] - over >= LEAST:
            widths[last] -= over
        else:
            stay.remove(last)
    return stay


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _set(column: Column, text: str, cells: int) -> str:
    text = cut_to_width(text, cells)
    space = " " * (cells - width(text))
    return space + text if column.right else text + space
