"""Options that all listing verbs share: a table, `--json FIELDS`, `--format`, `-q` and `--watch`."""

import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, cast

from supervisor.cli.kit import terminal
from supervisor.cli.kit.formatting import clean
from supervisor.cli.kit.json_output import json_text, output_json
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row, draw_table, plain_table

WATCH_S = 1.0
SCREEN_MARGIN = 3  # lines of a screen: the title, the line that says how many more there are, the prompt
IN_A_PIPE = 100  # rows
_FIELD = re.compile(r"\{([a-z_][a-z0-9_.]*)\}")
_ESCAPES = {"\\t": "\t", "\\n": "\n"}


class AnswerFields(Mapping[str, str]):
    """The members of an answer with their descriptions, read when somebody asks for them.

    `key`: the member that is called `id` here. `more`: members that this command adds.
    """

    def __init__(self, answer: str, *, key: str = "", more: Mapping[str, str] = MappingProxyType({})) -> None:
        self._answer, self._key, self._more = answer, key, more

    def __getitem__(self, name: str) -> str:
        from greenroom.record import descriptions

        return self._more[name] if name in self._more else descriptions(self._class)[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._names, *self._more))

    def __len__(self) -> int:
        return len(self._names) + len(self._more)

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self._more

    @property
    def _class(self) -> type:
        from greenroom import answers

        return cast("type", getattr(answers, self._answer))

    @property
    def _names(self) -> dict[str, str]:
        """The names of the members here, each with its name in the answer."""
        return {"id" if name == self._key else name: name for name in vars(self._class)["__annotations__"]}


class ListLayout(NamedTuple):
    """The layout of a list. `fields` are API: name and meaning. `empty` is printed for people if there are no rows.

    `block` draws a row on a terminal, if a table would have to leave some of it out.
    """

    fields: Mapping[str, str]
    columns: Sequence[Column]
    empty: str = ""
    key: str = "id"
    block: Callable[[Row, int, terminal.Paint], list[str]] | None = None


class PartialList(list[Row]):
    """The first rows of a longer list. `by` names the options or the command that shows the others."""

    def __init__(self, rows: Iterable[Row], total: int, by: str = "-n, --all") -> None:
        super().__init__(rows)
        self.more_rows, self.shown_by = max(0, total - len(self)), by


class ListWithNote(list[Row]):
    """Rows with a line for people below them."""

    def __init__(self, rows: Iterable[Row], note: str) -> None:
        super().__init__(rows)
        self.note = note


def screenful(chosen: Namespace) -> int:
    """The number of rows to ask for: as many as fit between a title and the next prompt; in a pipe, some more."""
    return max(1, terminal.size()[1] - SCREEN_MARGIN) if _for_people(chosen) else IN_A_PIPE


def text(listing: ListLayout, rows: Sequence[Row], chosen: Namespace) -> list[str]:
    """The lines for standard output."""
    if chosen.json is not None:
        return [output_json(pick_fields(listing, rows, chosen.json))]
    if chosen.format is not None:
        return [fill_template(listing.fields, row, chosen.format) for row in rows]
    if chosen.quiet:
        return [str(row[listing.key]) for row in rows]
    if not terminal.is_terminal():
        return plain_table(listing.columns, rows)
    columns, paint = terminal.size()[0], terminal.Paint()
    if listing.block is not None:
        return [line for row in rows for line in listing.block(row, columns, paint)]
    return draw_table(listing.columns, rows, columns, paint, long="long" in chosen and chosen.long) if rows else []


def present(listing: ListLayout, fetch: Callable[[], Sequence[Row]], chosen: Namespace) -> int:
    """Print the list once, or with --watch whenever it has changed."""
    check(listing, chosen)
    if chosen.watch:
        _watch(listing, fetch, chosen)
    rows = fetch()
    lines = text(listing, rows, chosen)
    _print(lines)
    sys.stdout.flush()
    for note in _notes(listing, rows, chosen):
        print(note, file=sys.stderr)
    return 0


def _notes(listing: ListLayout, rows: Sequence[Row], chosen: Namespace) -> list[str]:
    """The lines for a person besides the rows."""
    if isinstance(rows, PartialList) and rows.more_rows:
        return [f"… and {rows.more_rows:,} more ({rows.shown_by})"]
    if isinstance(rows, ListWithNote) and rows and _for_people(chosen):
        return [rows.note]
    return [listing.empty] if not rows and _for_people(chosen) else []


def _watch(listing: ListLayout, fetch: Callable[[], Sequence[Row]], chosen: Namespace) -> NoReturn:
    """Print the list whenever it has changed; `empty` too, because an empty screen looks unfinished."""
    from supervisor.cli.kit import reconnecting  # a list that is printed once waits for nothing

    before: list[str] | None = None
    in_place = terminal.is_terminal() and chosen.json is None

    def tell(said: str) -> None:
        nonlocal before
        before = None if in_place else before  # the next list is drawn over the notice
        reconnecting.say(said)

    with reconnecting.report_slowness(tell):
        while True:
            rows = reconnecting.repeat_after_absences(fetch, tell)
            lines = text(listing, rows, chosen)
            if in_place:
                lines = _cut_to_screen([*lines, *_notes(listing, rows, chosen)])
            if lines != before:
                before = lines
                if in_place:
                    sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
                else:
                    _print(lines)
                sys.stdout.flush()
            time.sleep(WATCH_S)


def _cut_to_screen(lines: list[str]) -> list[str]:
    """The lines that fit the screen, because a screen that scrolls can't be drawn again in place."""
    room = terminal.size()[1] - 1
    return lines if len(lines) <= room else [*lines[: room - 1], "…"]


def _for_people(chosen: Namespace) -> bool:
    return terminal.is_terminal() and chosen.json is None and chosen.format is None and not chosen.quiet


def check(listing: ListLayout, chosen: Namespace) -> None:
    """Refuse unknown fields, before the daemon is asked."""
    named = list(_names(chosen.json)) if chosen.json else []
    named += [path.partition(".")[0] for path in _FIELD.findall(chosen.format or "")]
    for name in named:
        if name not in listing.fields:
            raise Problem(f"unknown field {name!r}", f"write one of {', '.join(listing.fields)}", "usage")


def fill_template(fields: Mapping[str, str], row: Row, template: str) -> str:
    for escape, character in _ESCAPES.items():
        template = template.replace(escape, character)

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


def pick_fields(listing: ListLayout, rows: Sequence[Row], asked: str) -> list[Row]:
    """The rows with the fields that were asked for, or with all."""
    names = _names(asked) or list(listing.fields)
    return [{name: row[name] for name in names} for row in rows]
