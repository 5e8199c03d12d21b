"""Deletion of old events, in steps short enough to run between two commits.

Runs inside a transaction of the committing thread. Never deletes a head, nor an event that is still to be replayed:
whole conversations are deleted by the registry, which knows the open ones.
"""

import math
import sqlite3
from contextlib import closing
from itertools import takewhile

from msgspec import Struct

from supervisor.journal.ledger import ERASE_SPENT

STEP_EVENTS = 500  # deleted in one step: a few milliseconds
STEP_CONVERSATIONS = 200  # looked at in one step
STEP_ROWS = 5_000  # compared with a new limit in one step
STEP_PAGES = 64  # pages given back in one step; each is moved, so each is a write
SLACK_PAGES = 256  # free pages that may stay: the next events fill them
EARLIEST = 1.0  # the least time of an event here: 0 marks conversations that retention has to look at
NONE_MAY_GO = math.inf  # until the next head, which may have a later checkpoint
LIMIT = "events limit"  # the name of the note with the `max_events` and the last row compared with it

NEXT_CONVERSATIONS = """
    SELECT c.key, c.checkpoint_seq, t.first_seq, t.last_seq
    FROM tails t INDEXED BY by_oldest CROSS JOIN conversations c ON c.key = t.key
    WHERE t.oldest < ? ORDER BY t.oldest, t.key LIMIT ?"""
NEXT_ROWS = "SELECT max(key), count(*) FROM (SELECT key FROM tails WHERE key > ? ORDER BY key LIMIT ?)"
TOO_MANY = """
    UPDATE tails NOT INDEXED SET oldest = 0 WHERE key > ? AND key <= ? AND last_seq - first_seq >= ? AND oldest > 0"""
OLDEST = "SELECT ts FROM events WHERE conversation = ? ORDER BY seq LIMIT ?"
FIRST_THAT_MAY_GO = "SELECT ts FROM events WHERE conversation = ? AND seq <= ? ORDER BY seq LIMIT 1"
ERASE = """
    DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE conversation = ? ORDER BY seq LIMIT ?)"""


class Retention(Struct, frozen=True):
    """The limits of the journal. None: no limit. `max_events` is per conversation."""

    max_age_s: float | None = None
    max_events: int | None = None

    @property
    def keeps_all(self) -> bool:
        return self.max_age_s is None and self.max_events is None


class Candidate(Struct, frozen=True):
    key: int
    checkpoint_seq: int
    first_seq: int
    last_seq: int


def step(db: sqlite3.Connection, now: float, policy: Retention) -> bool:
    """Carry out one step. True if there is more to do; later events may wait for the next pass."""
    doomed = db.execute("SELECT key FROM doomed LIMIT 1").fetchone()
    if doomed is not None:
        erase(db, doomed[0])
        return True
    if not policy.keeps_all and (_compare(db, policy.max_events) or _thin_out(db, now, policy)):
        return True
    return _give_back(db)


def doom(db: sqlite3.Connection, key: int) -> None:
    """Remove the conversation for all readers; its events wait for `erase`."""
    for table in ("conversations", "tails", "snapshots", "unfinished"):
        db.execute(f"DELETE FROM {table} WHERE key = ?", (key,))  # noqa: S608 - names from the line above
    db.execute(ERASE_SPENT, (key,))
    db.execute("INSERT INTO doomed (key) VALUES (?)", (key,))


def erase(db: sqlite3.Connection, key: int) -> bool:
    """Delete some of the events that `doom` left. True if there are more."""
    if db.execute(ERASE, (key, STEP_EVENTS)).rowcount == STEP_EVENTS:
        return True
    db.execute("DELETE FROM doomed WHERE key = ?", (key,))
    return False


def _compare(db: sqlite3.Connection, max_events: int | None) -> bool:
    """Find the conversations that are too long for a new limit. True if there may be more.

    The others were within the limit at the last look, and are looked at again after each head.
    """
    if max_events is None:
        db.execute("DELETE FROM notes WHERE name = ?", (LIMIT,))
        return False
    note = db.execute("SELECT text FROM notes WHERE name = ?", (LIMIT,)).fetchone()
    limit, after = (int(number) for number in note[0].split()) if note else (max_events, 0)
    if limit != max_events:
        after = 0
    end, count = db.execute(NEXT_ROWS, (after, STEP_ROWS)).fetchone()
    if count:
        db.execute(TOO_MANY, (after, end, max_events))
        db.execute("INSERT OR REPLACE INTO notes (name, text) VALUES (?, ?)", (LIMIT, f"{max_events} {end}"))
    return bool(count == STEP_ROWS)


def _thin_out(db: sqlite3.Connection, now: float, policy: Retention) -> bool:
    """Delete events of conversations with too old or too many events. True if there may be more."""
    cutoff = -math.inf if policy.max_age_s is None else now - policy.max_age_s
    rows = db.execute(NEXT_CONVERSATIONS, (max(cutoff, EARLIEST), STEP_CONVERSATIONS))
    candidates = [Candidate(*row) for row in rows]
    budget = STEP_EVENTS
    for candidate in candidates:
        count = min(_surplus(db, candidate, cutoff, policy.max_events), budget)
        budget -= count
        _forget(db, candidate, count, whole=budget > 0)
        if budget == 0:
            return True
    return len(candidates) == STEP_CONVERSATIONS


def _surplus(db: sqlite3.Connection, log: Candidate, cutoff: float, max_events: int | None) -> int:
    """The number of the oldest events that may be deleted."""
    by_count = 0 if max_events is None else log.last_seq - max_events - log.first_seq + 1
    by_age = 0 if cutoff == -math.inf else _older(db, log.key, cutoff)
    replayed_from = log.checkpoint_seq + 1
    return max(0, min(max(by_count, by_age), replayed_from - log.first_seq))


def _older(db: sqlite3.Connection, key: int, cutoff: float) -> int:
    with closing(db.execute(OLDEST, (key, STEP_EVENTS))) as rows:
        return sum(1 for _ in takewhile(lambda row: row[0] < cutoff, rows))


def _forget(db: sqlite3.Connection, log: Candidate, count: int, *, whole: bool) -> None:
    """Delete the oldest events. Unless that was the whole surplus, the next step begins here again."""
    first = log.first_seq + count
    if count:
        db.execute("DELETE FROM events WHERE conversation = ? AND seq < ?", (log.key, first))
    oldest = _oldest(db, log) if whole else 0.0
    db.execute("UPDATE tails SET first_seq = ?, oldest = ? WHERE key = ?", (first, oldest, log.key))


def _oldest(db: sqlite3.Connection, log: Candidate) -> float:
    row = db.execute(FIRST_THAT_MAY_GO, (log.key, log.checkpoint_seq)).fetchone()
    return NONE_MAY_GO if row is None else max(row[0], EARLIEST)


def _give_back(db: sqlite3.Connection) -> bool:
    free = int(db.execute("PRAGMA freelist_count").fetchone()[0])
    if free <= SLACK_PAGES:
        return False
    for _ in range(STEP_PAGES):
        db.execute("PRAGMA incremental_vacuum(1)")  # with 64 sqlite3 would still free a single page
    return True
