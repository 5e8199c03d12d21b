"""Read-only connections, lent to readers on any thread. A reader never waits for the writer."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from actors.vocabulary.errors import StorageFailed, UnknownConversation
from actors.vocabulary.events import BackgroundEvent
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Page, Record
from actors.vocabulary.shortening import outline
from supervisor.journal.old_events import read_record
from supervisor.journal.rows import GET_EVENTS, GET_EVENTS_BACK, GET_PLACE, GET_RANGE
from supervisor.journal.schema import reader

MOST_IDLE = 4  # idle connections; further readers open and close their own
PIECE = 1 << 18  # bytes of a long body that are read at once
OUTLINE = 1 << 20  # bytes of a shortened body, at most
MOST_RECORDS = 100_000  # of one page, whatever the request says


class MissingEvents(Exception):
    """Stored events are missing: the file is damaged."""


class ReadConnections:
    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection] = reader) -> None:
        self._path = path
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Give all statements in the block one consistent view. After an error the connection is closed."""
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
        """Close all connections; those that are lent are closed when they come back."""
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
            if not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(db)
                return
        db.close()


def read_page(
    db: sqlite3.Connection, conversation: ConversationId, after: int, limit: int, max_bytes: int, whole_bytes: int
) -> Page | None:
    found = db.execute(GET_RANGE, (conversation,)).fetchone()
    if found is None:
        return None
    key, first, last = found
    after = min(max(after, first - 1), last)  # a client's cursor may be any number
    records = _records(db, GET_EVENTS, (whole_bytes, key, after, _bounded_limit(limit)), max_bytes, whole_bytes)
    _insist_on_density(records, after, last)
    return Page(tuple(records), first, last)


def read_page_back(
    db: sqlite3.Connection, conversation: ConversationId, before: int, limit: int, max_bytes: int, whole_bytes: int
) -> Page | None:
    found = db.execute(GET_RANGE, (conversation,)).fetchone()
    if found is None:
        return None
    key, first, last = found
    before = min(max(before, first), last + 1)  # a client's cursor may be any number
    records = _records(db, GET_EVENTS_BACK, (whole_bytes, key, before, _bounded_limit(limit)), max_bytes, whole_bytes)
    records.reverse()
    _insist_on_density(records, before - 1 - len(records) if records else first - 1, before - 1)
    return Page(tuple(records), first, last)


def _bounded_limit(limit: int) -> int:
    return min(max(limit, 1), MOST_RECORDS)


def _records(
    db: sqlite3.Connection, query: str, parameters: tuple[int, ...], max_bytes: int, whole_bytes: int
) -> list[Record]:
    """The records in the order of the query, up to `max_bytes`; at least the first."""
    records: list[Record] = []
    size = 0
    with closing(db.execute(query, parameters)) as rows:
        for row in rows:
            record = read_record(Record(*row[:5]) if row[4] is not None else _shortened_record(db, row, whole_bytes))
            size += len(record.body)
            if records and size > max_bytes:
                break
            records.append(record)
    return records


def read_part(db: sqlite3.Connection, conversation: ConversationId, seq: int, offset: int, count: int) -> bytes:
    found = db.execute(GET_PLACE, (conversation, seq)).fetchone()
    if found is None:
        raise UnknownConversation(f"{conversation} was removed or pruned while it was read")
    with db.blobopen("events", "body", found[0], readonly=True) as body:
        body.seek(offset)
        return body.read(count)


def _shortened_record(db: sqlite3.Connection, row: tuple[Any, ...], whole_bytes: int) -> Record:
    """Shorten an event from before there was a limit. Its body is read in pieces, as it may be very long."""
    seq, ts, turn, type_, _, rowid, size = row
    with db.blobopen("events", "body", rowid, readonly=True) as body:
        short = outline(iter(lambda: body.read(PIECE), b""), min(whole_bytes, OUTLINE))
    if short is None:
        message = f"a {type_} of {size} bytes, too long to be shown; `greenroom export` writes all of it"
        short = BackgroundEvent(message=message).model_dump_json().encode()
    return Record(seq, ts, turn, type_, short, size)


def _insist_on_density(records: list[Record], after: int, last: int) -> None:
    found = [record.seq for record in records]
    if found != list(range(after + 1, after + 1 + len(found))) or (not found and after < last):
        raise MissingEvents(f"events after {after} of {last} are missing")
