"""Deletion of old events, in steps short enough to run between two commits.

Runs inside a transaction of the committing thread. Never deletes a head, nor an event that is still to be replayed:
the registry deletes whole conversations, because it knows which of them are open.
"""

import math
import sqlite3

from msgspec import Struct

STEP_EVENTS = 500  # deleted in one step: a few milliseconds
STEP_CONVERSATIONS = 200  # looked at in one step
STEP_ROWS = 20_000  # passed by in one step, because nothing of them is old or too much
STEP_PAGES = 64  # pages given back in one step; each is moved, so each is a write
SLACK_PAGES = 256  # free pages that may stay: the next events fill them

NEXT = """
    SELECT c.key, c.checkpoint_seq, t.first_seq, t.last_seq
    FROM tails t JOIN conversations c ON c.key = t.key
    WHERE t.key > ? AND t.key <= ? AND (t.oldest < ? OR t.last_seq - t.first_seq >= ?) ORDER BY t.key LIMIT ?"""
END_OF_STEP = "SELECT max(key) FROM (SELECT key FROM tails WHERE key > ? ORDER BY key LIMIT ?)"
OLDEST = "SELECT ts FROM events WHERE conversation = ? ORDER BY seq LIMIT ?"
ERASE = """
    DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE conversation = ? ORDER BY seq LIMIT ?)"""


class Retention(Struct, frozen=True):
    """The limits of what is kept. None: no limit. `max_events` is per conversation."""

    max_age_s: float | None = None
    max_events: int | None = None

    @property
    def keeps_all(self) -> bool:
        return self.max_age_s is None and self.max_events is None


class PruneStep(Struct, frozen=True):
    """The result of a step. The next step goes on after the key `after`."""

    after: int
    more: bool


class Candidate(Struct, frozen=True):
    key: int
    checkpoint_seq: int
    first_seq: int
    last_seq: int


def step(db: sqlite3.Connection, after: int, now: float, policy: Retention) -> PruneStep:
    doomed = db.execute("SELECT key FROM doomed LIMIT 1").fetchone()
    if doomed is not None:
        erase(db, doomed[0])
        return PruneStep(after, more=True)
    end = None if policy.keeps_all else db.execute(END_OF_STEP, (after, STEP_ROWS)).fetchone()[0]
    if end is not None:
        return PruneStep(_thin_out(db, after, end, now, policy), more=True)
    return PruneStep(after, more=True) if _give_back(db) else PruneStep(0, more=False)


def doom(db: sqlite3.Connection, key: int) -> None:
    """Remove the conversation for all readers; its events wait for `erase`."""
    for table in ("conversations", "tails", "snapshots"):
        db.execute(f"DELETE FROM {table} WHERE key = ?", (key,))  # noqa: S608 - names from the line above
    db.execute("INSERT INTO doomed (key) VALUES (?)", (key,))


def erase(db: sqlite3.Connection, key: int) -> bool:
    """Delete some of the events that `doom` left. True if there are more."""
    if db.execute(ERASE, (key, STEP_EVENTS)).rowcount == STEP_EVENTS:
        return True
    db.execute("DELETE FROM doomed WHERE key = ?", (key,))
    return False


def _thin_out(db: sqlite3.Connection, after: int, end: int, now: float, policy: Retention) -> int:
    """Take events of the conversations up to the key `end`; the key that the next step goes on after."""
    cutoff = -math.inf if policy.max_age_s is None else now - policy.max_age_s
    most = math.inf if policy.max_events is None else policy.max_events
    rows = db.execute(NEXT, (after, end, cutoff, most, STEP_CONVERSATIONS))
    candidates = [Candidate(*row) for row in rows]
    budget = STEP_EVENTS
    for one in candidates:
        count = min(_surplus(db, one, cutoff, policy.max_events), budget)
        _forget(db, one, count, now)
        budget -= count
        if budget == 0:  # this conversation may have more: the next step begins with it
            return after
        after = one.key
    return after if len(candidates) == STEP_CONVERSATIONS else end


def _surplus(db: sqlite3.Connection, one: Candidate, cutoff: float, max_events: int | None) -> int:
    """The number of the oldest events that may be deleted."""
    by_count = 0 if max_events is None else one.last_seq - max_events - one.first_seq + 1
    by_age = 0 if cutoff == -math.inf else _older(db, one.key, cutoff)
    replayed_from = one.checkpoint_seq + 1
    return max(0, min(max(by_count, by_age), replayed_from - one.first_seq))


def _older(db: sqlite3.Connection, key: int, cutoff: float) -> int:
    count = 0
    for (ts,) in db.execute(OLDEST, (key, STEP_EVENTS)).fetchall():
        if ts >= cutoff:
            break
        count += 1
    return count


def _forget(db: sqlite3.Connection, one: Candidate, count: int, now: float) -> None:
    first = one.first_seq + count
    if count:
        db.execute("DELETE FROM events WHERE conversation = ? AND seq < ?", (one.key, first))
    left = db.execute(OLDEST, (one.key, 1)).fetchone()
    oldest = now if left is None else left[0]
    db.execute("UPDATE tails SET first_seq = ?, oldest = ? WHERE key = ?", (first, oldest, one.key))


def _give_back(db: sqlite3.Connection) -> bool:
    free = int(db.execute("PRAGMA freelist_count").fetchone()[0])
    if free <= SLACK_PAGES:
        return False
    db.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()  # each row that is fetched gives back a page
    return True
