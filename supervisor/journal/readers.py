"""Reading, on any thread: a few read-only connections, lent to whoever reads. Never waits for the writer."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from actors.errors import StorageFailed
from actors.ids import ConversationId
from actors.records import Page, Record
from supervisor.journal.rows import GET_EVENTS, GET_RANGE
from supervisor.journal.schema import reader

KEPT = 4  # idle connections; more readers at once open their own and close them again
MOST_RECORDS = 100_000  # of one page, whatever was asked for


class Hole(Exception):
    """Events that the tail promises are not there: the file is damaged."""


class Readers:
    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection] = reader) -> None:
        self._path = path
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """One consistent view for all statements in the block. After an error the connection is not used again."""
        db = self._take()
        try:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        self._give(db)

    def close(self) -> None:
        """Those that are lent are closed when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StorageFailed("the journal is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect(self._path)

    def _give(self, db: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < KEPT:
                self._idle.append(db)
                return
        db.close()


def read_page(
    db: sqlite3.Connection, conversation: ConversationId, after: int, limit: int, max_bytes: int
) -> Page | None:
    found = db.execute(GET_RANGE, (conversation,)).fetchone()
    if found is None:
        return None
    key, first, last = found
    after = min(max(after, first - 1), last)  # a client's cursor may be any number at all
    records: list[Record] = []
    size = 0
    with closing(db.execute(GET_EVENTS, (key, after, min(max(limit, 1), MOST_RECORDS)))) as rows:
        for row in rows:
            record = Record(*row)
            size += len(record.body)
            if records and size > max_bytes:
                break
            records.append(record)
    _insist_on_density(records, after, last)
    return Page(tuple(records), first, last)


def _insist_on_density(records: list[Record], after: int, last: int) -> None:
    found = [record.seq for record in records]
    if found != list(range(after + 1, after + 1 + len(found))) or (not found and after < last):
        raise Hole(f"events after {after} of {last} are missing")
