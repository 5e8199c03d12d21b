"""Lists of conversations, read by index: the time for a page, a name, a prefix or a total depends on its own size.

The table `totals` has the states that occur, with their numbers. Each state is a range of an index, sorted like a
list; a list merges those few ranges.
"""

import sqlite3
from heapq import merge
from itertools import islice, takewhile
from typing import Literal, NamedTuple

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import AT_REST, Head, HeadPage, ListPlace, ListQuery
from supervisor.journal.rows import get_row_at

MOST_HEADS = 1_000  # of one page, whatever the request says
LAST_CHARACTER = "\U0010ffff"  # sorts after every character of an id

GET_NAMED = "SELECT id FROM conversations WHERE name = ? ORDER BY updated DESC, key DESC LIMIT 1"
GET_STARTING_WITH = "SELECT id FROM conversations WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
GET_ID = "SELECT id FROM conversations WHERE key = ?"
GET_GROUPS = "SELECT state, archived, count FROM totals WHERE count > 0"
GET_GROUPS_IN = "SELECT state, archived, count FROM totals_by_cwd WHERE cwd = ? AND count > 0"
GET_GROUPS_NAMED = """
    SELECT state, archived, count(*) FROM conversations WHERE name = ? AND cwd = coalesce(?, cwd)
    GROUP BY state, archived"""
GET_PLACES = """
    SELECT {order}, key FROM conversations INDEXED BY {index} WHERE {wanted}
    ORDER BY {order} {direction}, key {direction} LIMIT ?"""

Filters = dict[str, str | float]  # by the column and its comparison


class Group(NamedTuple):
    """The conversations in one state, archived or not, and their number."""

    state: str
    archived: int
    size: int

    @property
    def filters(self) -> Filters:
        return {"state =": self.state, "archived =": self.archived}


def find_name(db: sqlite3.Connection, name: str) -> ConversationId | None:
    row = db.execute(GET_NAMED, (name,)).fetchone()
    return None if row is None else ConversationId(row[0])


def starting_with(db: sqlite3.Connection, prefix: str, limit: int) -> list[ConversationId]:
    return [ConversationId(row[0]) for row in db.execute(GET_STARTING_WITH, (prefix, prefix + LAST_CHARACTER, limit))]


def list_page(db: sqlite3.Connection, query: ListQuery) -> HeadPage:
    limit = min(max(query.limit, 1), MOST_HEADS)
    groups = [
        group
        for group in _groups(db, query)
        if query.archived >= group.archived and query.state in {None, group.state}
    ]
    ranges = (_page(db, group, query, limit + 1) for group in groups)
    places = list(islice(merge(*ranges, key=_by_time, reverse=True), limit + 1))
    shown = places[:limit]
    heads = tuple(get_row_at(db, place.key) for place in shown)
    return HeadPage(heads, shown[-1] if len(places) > limit else None, sum(group.size for group in groups))


def unsettled_heads(db: sqlite3.Connection) -> list[Head]:
    groups = [group for group in _all_groups(db) if group.state not in AT_REST]
    ranges = (_range(db, group.filters, "updated", "DESC", group.size) for group in groups)
    return [get_row_at(db, place.key) for place in merge(*ranges, key=_by_time, reverse=True)]


def surplus(
    db: sqlite3.Connection, most: int | None, untouched_since: float | None, limit: int
) -> list[ConversationId]:
    groups = _all_groups(db)
    too_many = 0 if most is None else sum(group.size for group in groups) - most
    too_old = float("-inf") if untouched_since is None else untouched_since
    ranges = (_range(db, group.filters, "updated", "ASC", limit) for group in groups if group.state in AT_REST)
    oldest = enumerate(islice(merge(*ranges, key=_by_time), limit))
    chosen = takewhile(lambda numbered: numbered[0] < too_many or numbered[1].at < too_old, oldest)
    return [ConversationId(db.execute(GET_ID, (place.key,)).fetchone()[0]) for _, place in chosen]


def _all_groups(db: sqlite3.Connection) -> list[Group]:
    return [Group(*row) for row in db.execute(GET_GROUPS)]


def _groups(db: sqlite3.Connection, query: ListQuery) -> list[Group]:
    if query.name is not None:
        return [Group(*row) for row in db.execute(GET_GROUPS_NAMED, (query.name, query.cwd))]
    if query.cwd is not None:
        return [Group(*row) for row in db.execute(GET_GROUPS_IN, (query.cwd,))]
    return _all_groups(db)


def _page(db: sqlite3.Connection, group: Group, query: ListQuery, limit: int) -> list[ListPlace]:
    """The places of the group that come after the query's, newest first."""
    chosen = {"cwd =": query.cwd, "name =": query.name}
    filters = group.filters | {column: value for column, value in chosen.items() if value is not None}
    order, after = query.order, query.after
    if after is None:
        return _range(db, filters, order, "DESC", limit)
    # Two ranges: for `(updated, key) < (?, ?)` SQLite would read all rows with the same time.
    same_time = _range(db, filters | {f"{order} =": after.at, "key <": after.key}, order, "DESC", limit)
    return same_time + _range(db, filters | {f"{order} <": after.at}, order, "DESC", limit)


def _range(
    db: sqlite3.Connection,
    filters: Filters,
    order: Literal["updated", "created"],
    direction: Literal["ASC", "DESC"],
    limit: int,
) -> list[ListPlace]:
    wanted = " AND ".join(f"{column} ?" for column in filters)
    get = GET_PLACES.format(order=order, index=_index(filters, order), wanted=wanted, direction=direction)
    return [ListPlace(*row) for row in db.execute(get, (*filters.values(), limit))]


def _index(filters: Filters, order: Literal["updated", "created"]) -> str:
    """The index with the fewest rows to read. Without statistics SQLite takes the state for rarer than the name."""
    if "name =" in filters:
        return "by_name"
    if "cwd =" in filters:
        return "by_cwd"
    return "by_creation" if order == "created" else "by_state"


def _by_time(place: ListPlace) -> tuple[float, int]:
    return place.at, place.key
