"""Salvage of a damaged file: copy the readable rows into a new file, and leave conversations there without gaps.

The damaged file is opened read-only and stays as it is. Tables and columns are known only from the schema's steps.
On the committing thread.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct

from supervisor.journal.journal_errors import is_damage
from supervisor.journal.schema import Busy, Migration, connect, migrate, reporting_progress, version

TABLES = ("conversations", "tails", "snapshots", "events", "unfinished", "doomed", "ledger", "raises")
CAREFUL = 256  # unreadable rows that are skipped singly: a page holds fewer
STRIDE = 64  # rows in each skip after that, when a whole subtree is unreadable
PATIENCE = 4_096  # skips; after that hardly a row is expected, and each skip is twice the last
LARGEST = 1 << 62  # no row has such a number

WITHOUT_TAIL = """
    INSERT INTO tails (key, first_seq, last_seq, updated) SELECT c.key, min(e.seq), max(e.seq), c.created
    FROM conversations c JOIN events e ON e.conversation = c.key
    WHERE c.key NOT IN (SELECT key FROM tails) GROUP BY c.key"""
DELETE_AFTER_GAP = """
    DELETE FROM events WHERE rowid IN (
        SELECT place FROM (
            SELECT e.rowid AS place, t.first_seq AS first,
                e.seq - row_number() OVER (PARTITION BY e.conversation ORDER BY e.seq) + 1 AS begin
            FROM events e LEFT JOIN tails t ON t.key = e.conversation
                AND t.key IN (SELECT key FROM conversations)
        ) WHERE first IS NULL OR begin <> first OR begin IS NULL
    )"""
LAST_KEPT = """
    UPDATE tails SET last_seq = coalesce(
        (SELECT max(seq) FROM events WHERE conversation = tails.key), tails.first_seq - 1)"""

RESET_CHECKPOINTS = """
    UPDATE conversations SET checkpoint_seq = 0
    WHERE checkpoint_seq > (SELECT last_seq FROM tails t WHERE t.key = conversations.key)
        OR (SELECT length(checkpoint) FROM snapshots s WHERE s.key = conversations.key) = 0"""
CLEAR_CHECKPOINTS = """
    UPDATE snapshots SET checkpoint = x'' WHERE key IN (SELECT key FROM conversations WHERE checkpoint_seq = 0)"""
NO_TAIL = """
    INSERT INTO tails (key, first_seq, last_seq, updated)
    SELECT key, 1, 0, created FROM conversations WHERE key NOT IN (SELECT key FROM tails)"""
NO_SNAPSHOT = """
    INSERT INTO snapshots SELECT key, x'', x'' FROM conversations WHERE key NOT IN (SELECT key FROM snapshots)"""


class Salvage(Struct, frozen=True):
    events: int
    conversations: int
    lost_events: int
    lost_conversations: int

    def report(self) -> str:
        return (
            f"journal repaired: kept {self.events} events of {self.conversations} conversations, "
            f"lost {self.lost_events} events and {self.lost_conversations} conversations, as far as is known"
        )


def salvage(damaged: Path, into: Path, steps: Sequence[Migration], busy: Busy) -> Salvage:
    with (
        closing(connect(into, read_only=False)) as target,
        closing(_source(damaged)) as source,
        reporting_progress(target, lambda: busy("the journal is repaired")),
    ):
        target.execute("PRAGMA auto_vacuum=INCREMENTAL")
        migrate(target, steps[: _version(source, len(steps))])
        target.execute("BEGIN")
        for table in TABLES:
            _copy(source, target, table)
        found = _settle(target)
        target.execute("COMMIT")
        return found


def _source(damaged: Path) -> sqlite3.Connection:
    if not damaged.exists() or damaged.stat().st_size == 0:
        return sqlite3.connect(":memory:")  # SQLite would throw away the WAL beside an empty file
    source = connect(damaged, read_only=True)
    # Lets SQLite read a file that is shorter than its header says, or that has an odd schema.
    source.execute("PRAGMA writable_schema=ON")
    source.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return source


def _version(source: sqlite3.Connection, newest: int) -> int:
    try:
        found = version(source)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return newest
    return found if 0 < found <= newest else newest


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
    if not columns:
        return  # a table of a later version
    put = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - our names
    for row in _readable(source, table, columns):
        try:
            if "body" in columns:
                json.loads(row[columns.index("body")])
            target.execute(put, row)
        except (sqlite3.IntegrityError, TypeError, ValueError, OverflowError):
            continue  # leave out a row with a wrong type or key, or with a body that is not JSON


def _readable(source: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of the table that can be read, in order. Indexes are not used: they may be damaged too."""
    get = f"SELECT rowid, {', '.join(columns)} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"  # noqa: S608 - our names
    at, tries = 0, 0
    while at < LARGEST:
        try:
            for place, *row in source.execute(get, (at,)):
                if place > at:  # in a damaged page rows may come in any order
                    at, tries = place, 0
                yield tuple(row)
        except sqlite3.Error as error:
            if _unreadable_table(error):
                return
            if not is_damage(error):
                raise
            tries += 1
            at += 1 if tries < CAREFUL else STRIDE << max(0, tries - PATIENCE)
        else:
            return


def _unreadable_table(error: sqlite3.Error) -> bool:
    """Whether the whole table is lost: it is not in the schema (a plain SQL error), or the schema can't be read."""
    return getattr(error, "sqlite_errorcode", 0) in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_NOTADB}


def _settle(db: sqlite3.Connection) -> Salvage:
    """Make the copy a journal again, in which every conversation has its rows, without gaps."""

    def count(expression: str) -> int:
        return int(db.execute(f"SELECT {expression}").fetchone()[0] or 0)

    db.execute(WITHOUT_TAIL)
    promised = count("sum(last_seq - first_seq + 1) FROM tails")
    headless = count(
        "count(*) FROM (SELECT conversation FROM events UNION SELECT key FROM tails"
        " EXCEPT SELECT key FROM conversations EXCEPT SELECT key FROM doomed)"
    )
    db.execute("DELETE FROM events WHERE conversation IN (SELECT key FROM doomed)")
    db.execute("DELETE FROM doomed")
    db.execute(DELETE_AFTER_GAP)
    present = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table in {"tails", "snapshots", "unfinished"} & present:  # the file may be older than some of them
        db.execute(f"DELETE FROM {table} WHERE key NOT IN (SELECT key FROM conversations)")  # noqa: S608 - our names
    db.execute(NO_TAIL)
    db.execute(LAST_KEPT)
    db.execute(NO_SNAPSHOT)
    _drop_checkpoints(db)
    kept = count("count(*) FROM events")
    return Salvage(kept, count("count(*) FROM conversations"), max(0, promised - kept), headless)


def _drop_checkpoints(db: sqlite3.Connection) -> None:
    """Drop checkpoints that are lost or ahead of the remaining events, so that all events are replayed."""
    db.execute(RESET_CHECKPOINTS)
    db.execute(CLEAR_CHECKPOINTS)
