"""Options that all listing verbs share: a table, `--json FIELDS`, `--format`, `-q` and `--watch`."""

import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from supervisor.cli import terminal
from supervisor.cli.problems import Problem
from supervisor.cli.table import Column, Row, drawn, plain
from supervisor.cli.words import clean
from supervisor.cli.written import json_text, written

WATCH_S = 1.0
_FIELD = re.compile(r"\{([a-z_][a-z0-9_.]*)\}")
_ESCAPES = {"\\t": "\t", "\\n": "\n"}


class ListLayout(NamedTuple):
    """The layout of a list. `fields` are API: name and meaning. `empty` is printed for people if there are no rows.

    `block` draws a row on a terminal, if a table would have to leave some of it out.
    """

    fields: Mapping[str, str]
    columns: Sequence[Column]
    empty: str = ""
    key: str = "id"
    block: Callable[[Row, int, terminal.Paint], list[str]] | None = None


def text(listing: ListLayout, rows: Sequence[Row], chosen: Namespace) -> list[str]:
    """The lines for standard output."""
    if chosen.json is not None:
        return [written(picked(listing, rows, chosen.json))]
    if chosen.format is not None:
        return [filled(listing.fields, row, chosen.format) for row in rows]
    if chosen.quiet:
        return [str(row[listing.key]) for row in rows]
    if not terminal.is_terminal():
        return plain(listing.columns, rows)
    columns, paint = terminal.size()[0], terminal.Paint()
    if listing.block is not None:
        return [line for row in rows for line in listing.block(row, columns, paint)]
    return drawn(listing.columns, rows, columns, paint) if rows else []


def present(listing: ListLayout, fetch: Callable[[], Sequence[Row]], chosen: Namespace) -> int:
    """Print the list once, or with --watch whenever it has changed."""
    check(listing, chosen)
    if chosen.watch:
        _watched(listing, fetch, chosen)
    lines = text(listing, fetch(), chosen)
    _print(lines)
    if not lines and _for_people(chosen):
        print(listing.empty, file=sys.stderr)
    return 0


def _watched(listing: ListLayout, fetch: Callable[[], Sequence[Row]], chosen: Namespace) -> NoReturn:
    """Print the list whenever it has changed; `empty` too, because an empty screen looks unfinished."""
    before: list[str] | None = None
    while True:
        lines = text(listing, fetch(), chosen)
        if lines != before:
            before = lines
            if terminal.is_terminal() and chosen.json is None:
                sys.stdout.write("\x1b[H\x1b[2J")
            _print(lines or ([listing.empty] if _for_people(chosen) else []))
            sys.stdout.flush()
        time.sleep(WATCH_S)


def _for_people(chosen: Namespace) -> bool:
    return terminal.is_terminal() and chosen.json is None and chosen.format is None and not chosen.quiet


def check(listing: ListLayout, chosen: Namespace) -> None:
    """Refuse unknown fields, before the daemon is asked."""
    named = list(_names(chosen.json)) if chosen.json else []
    named += [one.partition(".")[0] for one in _FIELD.findall(chosen.format or "")]
    for name in named:
        if name not in listing.fields:
            raise Problem(f"unknown field {name!r}", f"write one of {', '.join(listing.fields)}", "usage")


def filled(fields: Mapping[str, str], row: Row, template: str) -> str:
    for escape, meant in _ESCAPES.items():
        template = template.replace(escape, meant)

    def value(found: re.Match[str]) -> str:
        here: Any = row
        for part in found[1].split("."):
            if not isinstance(here, Mapping) or part not in here:
                known = ", ".join(here) if isinstance(here, Mapping) else ", ".join(fields)
                raise Problem(f"unknown field {found[1]!r}", f"write one of {known}", "usage")
            here = here[part]
        if isinstance(here, str):
            return clean(here) if sys.stdout.isatty() else here  # on a dumb terminal, too
        return "" if here is None else json_text(here)

    return _FIELD.sub(value, template)


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line)


def _names(asked: str) -> list[str]:
    return [name.strip() for name in asked.split(",") if name.strip()]


def picked(listing: ListLayout, rows: Sequence[Row], asked: str) -> list[Row]:
    """The rows with the fields that were asked for, or with all."""
    names = _names(asked) or list(listing.fields)
    return [{name: row[name] for name in names} for row in rows]
