"""The ledger: costs of each day, by model, directory and conversation. Rows are sums; few are ever read.

Written by the committing thread in the transaction of the events that have the costs. The sums of all conversations
stand under `EVERYBODY` and stay when a conversation is deleted; its own rows go with it.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from operator import attrgetter
from time import localtime, strftime
from typing import Literal

from msgspec import Struct

from actors.vocabulary.spent_amounts import AMOUNTS, LedgerEntry, Spent

EVERYBODY = 0  # no conversation has this key
MOST_ROWS = 1_000  # of one answer
GROUPS: Mapping[str, str] = {
    "day": "l.day",
    "model": "l.model",
    "directory": "l.cwd",
    "conversation": "c.id",
}

Grouping = Literal["day", "model", "directory", "conversation"]

_TYPES = {"seconds": "REAL", "usd": "REAL"}  # all others are whole numbers
_amounts = attrgetter(*AMOUNTS)
_COLUMNS = ", ".join(AMOUNTS)
_SUMS = ", ".join(f"coalesce(sum(l.{name}), {0.0 if name in _TYPES else 0})" for name in AMOUNTS)
_ADDITIONS = ", ".join(f"{name} = {name} + excluded.{name}" for name in AMOUNTS)
_AT_FIRST = tuple(name for name in AMOUNTS if name != "uncounted")  # the first columns of the table
_TYPED_COLUMNS = ", ".join(f"{name} {_TYPES.get(name, 'INTEGER')} NOT NULL DEFAULT 0" for name in _AT_FIRST)

TABLE = f"""CREATE TABLE ledger (
    conversation INTEGER NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, cwd TEXT NOT NULL, {_TYPED_COLUMNS},
    UNIQUE (conversation, day, model, cwd)
) STRICT"""
ADD_UNCOUNTED = "ALTER TABLE ledger ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0"
# Tokens from before there was a ledger: on the day of the last use, at an unknown price.
TOKENS_SO_FAR = f"""
    INSERT INTO ledger (conversation, day, model, cwd, tokens, unpriced)
    SELECT key, date(updated, 'unixepoch', 'localtime'), model, cwd, tokens, 1 FROM conversations WHERE tokens > 0
    UNION ALL
    SELECT {EVERYBODY}, date(updated, 'unixepoch', 'localtime'), model, cwd, sum(tokens), count(*)
    FROM conversations WHERE tokens > 0 GROUP BY 2, 3, 4"""  # noqa: S608 - a number of ours
PUT_SPENT = f"""
    INSERT INTO ledger (conversation, day, model, cwd, {_COLUMNS}) VALUES (?, ?, ?, ?{", ?" * len(AMOUNTS)})
    ON CONFLICT (conversation, day, model, cwd) DO UPDATE SET {_ADDITIONS}"""  # noqa: S608 - joined from names of ours
ERASE_SPENT = "DELETE FROM ledger WHERE conversation = ?"
GET_SUM = f"SELECT {_SUMS} FROM ledger l WHERE l.conversation = {EVERYBODY} AND l.day >= ?"  # noqa: S608 - as above
GET_GROUPS = f"""
    SELECT {{group}}, {_SUMS} FROM ledger l LEFT JOIN conversations c ON c.key = l.conversation
    WHERE {{whose}} AND l.day >= ? GROUP BY 1 ORDER BY {{order}} LIMIT ?"""  # noqa: S608 - as above

LedgerRow = tuple[str | int | float, ...]


class SpentRow(Struct, frozen=True):
    """A sum. `group` is a day, a model, a directory or the id of a conversation."""

    group: str
    amounts: Spent


def day_of(ts: float) -> str:
    """The day of a moment, in local time."""
    return strftime("%Y-%m-%d", localtime(ts))


def rows_of(key: int, entries: Iterable[LedgerEntry]) -> list[LedgerRow]:
    rows = [(day_of(entry.ts), entry.model, entry.cwd, *_amounts(entry.spent)) for entry in entries]
    return [(whose, *row) for row in rows for whose in (EVERYBODY, key)]


def total_since(db: sqlite3.Connection, since: str = "") -> Spent:
    """The costs of all conversations since a day, that day included."""
    return Spent(*db.execute(GET_SUM, (since,)).fetchone())


def sums_by_group(db: sqlite3.Connection, by: Grouping, since: str, limit: int) -> list[SpentRow]:
    """Sums by group: days with the newest first, other groups with the most tokens first."""
    whose = f"l.conversation {'<>' if by == 'conversation' else '='} {EVERYBODY}"
    order = "1 DESC" if by == "day" else "sum(l.tokens) DESC, 1"
    statement = GET_GROUPS.format(group=GROUPS[by], whose=whose, order=order)
    found = db.execute(statement, (since, min(limit, MOST_ROWS)))
    return [SpentRow(str(group), Spent(*sums)) for group, *sums in found]
