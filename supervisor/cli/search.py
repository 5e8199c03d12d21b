"""`greenroom search`: find words in all conversations, newest first."""

import sys
from argparse import Namespace
from collections.abc import Iterator

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import exits, ids
from supervisor.cli.kit.arguments import number
from supervisor.cli.kit.client import Control, Json
from supervisor.cli.kit.formatting import age, clean, parse_time
from supervisor.cli.kit.listing import AnswerFields, ListLayout, check, text
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row
from supervisor.cli.kit.terminal import Paint

HITS = 20  # to print, unless a number is given
PAGE = 200  # the most that one request may ask for
LONGEST = 1_000  # characters of a query in one request
SEARCH_S = 30.0  # for a page: the search has two seconds, and may wait for others


def _block(row: Row, _: int, paint: Paint) -> list[str]:
    named = f" {visible(row['name'])}" if row["name"] else ""
    about = f"  seq {row['seq']}, {row['kind']}, {age(row['ts'])} ago"
    return [
        f"{paint(ids.short_id(row['conversation']), 'cyan')}{named}{paint(about, 'dim')}",
        f"  {_highlight(row, paint)}",
    ]


def _highlight(row: Row, paint: Paint) -> str:
    """The text in one line, with its marks in bold."""
    parts, place = [], 0
    for begin, end in row["marks"]:
        parts += [_line(row["text"][place:begin]), paint(_line(row["text"][begin:end]), "bold", "yellow")]
        place = end
    return "".join([*parts, _line(row["text"][place:])]).strip()


def _line(text: str) -> str:
    return clean(text).replace("\n", " ")


HIT_LIST = ListLayout(
    AnswerFields("SearchHit"),
    (
        Column("CONVERSATION", lambda row: ids.short_id(row["conversation"])),
        Column("SEQ", lambda row: str(row["seq"])),
        Column("AGE", lambda row: age(row["ts"])),
        Column("KIND", lambda row: row["kind"]),
        Column("TEXT", lambda row: _line(row["text"]).strip()),
    ),
    key="conversation",
    block=_block,
)


def run(chosen: Namespace) -> int:
    check(HIT_LIST, chosen)
    count = HITS if chosen.count is None else number(chosen.count, "number of hits")
    if count == 0:
        raise Problem("0 is not a number of hits", "write 1 or more", "usage")
    query = " ".join(chosen.words)
    if len(query) > LONGEST:
        raise Problem(f"{len(query):,} characters are too many", f"write {LONGEST:,} at most", "usage")
    params = {
        "query": query,
        "cwd": _absolute(chosen.cwd),
        "since": None if chosen.since is None else parse_time(chosen.since),
        "order": "best" if chosen.best else "newest",
    }
    rows: list[Row] = []
    with Control("search") as control:
        if chosen.conversation is not None:
            params["conversation"] = ids.resolve_id(control, chosen.conversation)
        for page in _pages(control, params, count):
            rows += page["hits"]
    if rows or chosen.json is not None:
        for line in text(HIT_LIST, _each_once(rows) if chosen.quiet else rows, chosen):
            print(line)
    _say_what_is_missing(page, bool(rows))
    return exits.OK if rows else exits.FAILED


def _pages(control: Control, params: Json, count: int) -> Iterator[Json]:
    cursor = None
    while True:
        page = control.call("conversation/search", **params, limit=min(count, PAGE), cursor=cursor)
        yield page
        count, cursor = count - len(page["hits"]), page["next_cursor"]
        if cursor is None or count <= 0:
            return


def _each_once(rows: list[Row]) -> list[Row]:
    """One row for each conversation."""
    return list({row["conversation"]: row for row in reversed(rows)}.values())[::-1]


def _say_what_is_missing(last: Json, found: bool) -> None:
    notes = []
    if not found:
        notes.append("nothing found")
    elif last["next_cursor"] is not None:
        notes.append("there are more (-n)")
    if not last["complete"]:
        notes.append("not all could be searched in time; use more words, or words that are less common")
    if last["read"] < 1:
        notes.append(f"{int(100 * last['read'])} % of the histories have been read so far")
    if notes:
        print(f"greenroom: {'; '.join(notes)}", file=sys.stderr)


def _absolute(path: str | None) -> str | None:
    import os.path

    return None if path is None else os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111  # as in ls
