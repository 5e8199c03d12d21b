"""The table of raises: at most one row for each budget of the day and of the home, so it never grows.

Written by the committing thread, read by any.
"""

import sqlite3
from collections.abc import Iterable

from actors.vocabulary.budget_raises import Raise

TABLE = """CREATE TABLE raises (
    scope TEXT NOT NULL, unit TEXT NOT NULL, day TEXT NOT NULL, most REAL NOT NULL, ts REAL NOT NULL,
    by TEXT NOT NULL, PRIMARY KEY (scope, unit)
) STRICT"""


def read(db: sqlite3.Connection) -> tuple[Raise, ...]:
    rows = db.execute("SELECT scope, unit, day, most, ts, by FROM raises ORDER BY scope, unit")
    return tuple(Raise(*row) for row in rows)


def write(db: sqlite3.Connection, raises: Iterable[Raise]) -> None:
    """Store these raises in place of all others."""
    db.execute("DELETE FROM raises")
    rows = ((row.scope, row.unit, row.day, row.limit, row.ts, row.by) for row in raises)
    db.executemany("INSERT INTO raises (scope, unit, day, most, ts, by) VALUES (?, ?, ?, ?, ?, ?)", rows)
