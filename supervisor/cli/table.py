"""Rows as lines: a table that fits the terminal, or fields with tabs in a pipe. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from supervisor.cli.terminal import Paint
from supervisor.cli.words import cut, width

GAP = "  "
NARROWEST = 8  # cells that are left of a column that shrinks
LEAST = 4  # cells for which the last column is still shown

Row = dict[str, Any]


class Column(NamedTuple):
    """A column. `gives`: it shrinks if the table is too wide. `style` colours a cell by its row.

    On a terminal a column with `tells` is left out where it tells nothing of any row.
    """

    title: str
    cell: Callable[[Row], str]
    right: bool = False
    gives: bool = False
    style: Callable[[Row], tuple[str, ...]] | None = None
    tells: Callable[[Row], bool] | None = None


def plain(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    lines = ["\t".join(column.title for column in columns)]
    return lines + ["\t".join(column.cell(row) or "-" for column in columns) for row in rows]


def drawn(columns: Sequence[Column], rows: Sequence[Row], room: int, paint: Paint) -> list[str]:
    columns = [column for column in columns if column.tells is None or any(map(column.tells, rows))]
    cells = [[column.cell(row) or "-" for column in columns] for row in rows]
    widths = [
        max([width(column.title), *(width(line[place]) for line in cells)]) for place, column in enumerate(columns)
    ]
    _shrink(columns, widths, room)
    columns = columns[: len(widths)]
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


def _shrink(columns: Sequence[Column], widths: list[int], room: int) -> None:
    """Shrink the columns that may shrink, the widest first; then leave out columns from the end."""
    ways = [place for place, column in enumerate(columns) if column.gives]
    while ways and _total(widths) > room:
        widest = max(ways, key=lambda place: widths[place])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    while len(widths) > 1 and _total(widths) > room:
        if _total(widths[:-1]) + len(GAP) + LEAST <= room:
            widths[-1] = room - _total(widths[:-1]) - len(GAP)
        else:
            widths.pop()


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _set(column: Column, text: str, cells: int) -> str:
    text = cut(text, cells)
    space = " " * (cells - width(text))
    return space + text if column.right else text + space
