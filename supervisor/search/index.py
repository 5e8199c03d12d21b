"""The search file: follows the journal in bounded pieces, and answers searches.

Only one thread at a time writes the file, and one searches it. Each piece is a transaction that includes the place in
the journal, so that the process may end anywhere. The journal is only read, in the order in which events were stored.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from actors.vocabulary.errors import StorageFailed, StorageFull, bad_cursor
from actors.vocabulary.ids import ConversationId
from supervisor.journal.journal_errors import is_damage, journal_error
from supervisor.journal.opening import size_on_disk
from supervisor.search import tables
from supervisor.search.search_expression import expression
from transports.supervisor_answers import SearchHit, SearchHits, Source
from transports.supervisor_requests import Search

LARGEST = 19  # digits of the largest number in the index
PIECE_EVENTS = 256  # read in one transaction: some milliseconds
PIECE_BYTES = 512 << 10  # the same; at least one event
ANCHORS = 256  # kept
MOST_REMOVED = 100  # passages removed in one transaction
MOST_COMPARED = 500  # conversations compared with the journal in one piece
MERGED_PAGES = 64  # of the index, in one piece of a purge
FREED_PAGES = 256  # given back to the disk in one piece of a purge
LEFT_FREE = 32 << 20  # bytes of the disk that the search leaves to the journal
WORDS_AROUND = 20  # words around a hit
SEARCH_S = 2.0  # for one search
END_S = 2.0  # for a piece or a search to notice the end; a lost disk may hang for hours
OPERATIONS = 20_000  # of SQLite, between two looks at the clock: less than a millisecond
BEGIN, END = "\x02", "\x03"  # around the words of a hit, in SQLite's snippets
COMPANIONS = ("-wal", "-shm", "-journal", "")  # the file itself last: the others mean nothing without it


class SearchIndex:
    def __init__(self, path: Path, journal: Path) -> None:
        self._path = path
        self._journal = journal
        self._writing = threading.Lock()
        self._searching = threading.Lock()  # taken after the other, if both are
        self._db: sqlite3.Connection | None = None
        self._forgotten: set[int] = set()  # keys of conversations that were deleted
        self._check_wanted = True
        self._checked: int | None = None  # the last key compared with the journal; None: the comparison is over
        self._broken = False  # a search has found damage
        self._made_anew = False  # because of damage, since the last time that the file was complete
        self._closed = threading.Event()  # running statements look at it

    # --- any thread, without waiting ------------------------------------------------------------------------------

    def forget(self, key: int) -> None:
        """Remove a conversation that the journal has deleted, with the next pieces."""
        self._forgotten.add(key)

    def check(self) -> None:
        """Compare the file with the journal, with the next pieces."""
        self._check_wanted = True

    def bytes_on_disk(self) -> int:
        return size_on_disk(self._path)

    # --- writing --------------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Carry out one bounded piece. True if there is more to do."""
        with self._writing:
            if self._closed.is_set():
                return False
            try:
                if self._broken:
                    return self._make_anew()
                return self._piece(self._open())
            except sqlite3.Error as error:
                self._let_go()
                if self._closed.is_set():
                    return False
                if is_damage(error) and not self._made_anew:  # damage again right away is the journal's
                    return self._make_anew()
                raise journal_error(error, self._path) from error
            except OSError as error:
                raise journal_error(error, self._path) from error

    def rest(self) -> None:
        """Give the memory back until the next piece."""
        with self._writing:
            self._let_go()

    def remove(self) -> None:
        """Remove the file; the next piece begins anew."""
        with self._writing:
            self._discard()

    def close(self) -> None:
        """End the piece and the search under way, and release the journal."""
        self._closed.set()
        if self._writing.acquire(timeout=END_S):
            self._let_go()
            self._writing.release()
        if self._searching.acquire(timeout=END_S):
            self._searching.release()

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            if not self._path.exists():
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            db = self._connect(read_only=False, until=self._closed.is_set)
            if not tables.prepare(db):
                db.close()
                self._discard()
                return self._open()
            self._db = db
        return self._db

    def _piece(self, db: sqlite3.Connection) -> bool:
        if self._forgotten:
            key = next(iter(self._forgotten))
            if not self._remove_passages(db, "conversation = ?", key):
                self._forgotten.discard(key)
            return True
        if self._check_wanted:
            self._check_wanted, self._checked = False, 0
        if self._checked is not None:
            self._checked = self._check(db, self._checked)
            return True
        with _transaction(db):  # within it the journal looks the same for all statements
            cursor, sound = _number(db, tables.CURSOR), _number(db, tables.SOUND)
            if cursor == sound and self._read(db, cursor):
                return True
        if cursor != sound:
            self._go_back(db, sound)
            return True
        self._made_anew = False
        return _purge(db)

    def _read(self, db: sqlite3.Connection, after: int) -> bool:
        """Read the next events. False if there are none."""
        size, last = 0, None
        for row in db.execute(tables.NEXT_EVENTS, (after, PIECE_EVENTS)).fetchall():
            size += row[4]
            if last is not None and size > PIECE_BYTES:
                break
            last = row
        if last is None:
            return False
        room = os.statvfs(self._path.parent)
        if room.f_bavail * room.f_frsize < LEFT_FREE:
            raise StorageFull(f"{self._path}: less than {LEFT_FREE >> 20} MiB are free, which the journal may need")
        piece = {"after": after, "until": last[0]}
        db.execute(tables.READ, piece)
        db.execute(tables.READ_WORDS, piece)
        db.execute(tables.KEEP_ANCHOR, last[:4])
        db.execute(tables.DROP_ANCHORS, (ANCHORS,))
        return True

    def _go_back(self, db: sqlite3.Connection, sound: int) -> None:
        """Remove passages after the last sound anchor: their numbers may belong to other events now."""
        if sound == 0:
            self._discard()
        elif not self._remove_passages(db, "id > ?", sound):
            db.execute("DELETE FROM anchors WHERE id > ?", (sound,))

    def _check(self, db: sqlite3.Connection, after: int) -> int | None:
        """Remove passages that the journal has deleted, of some conversations. The last key, or None at the end."""
        compared = db.execute(tables.COMPARE_WITH_JOURNAL, {"after": after, "limit": MOST_COMPARED}).fetchall()
        for key, first_kept, first in compared:
            if first_kept is None:
                self._forgotten.add(key)
            elif first < first_kept and self._remove_passages(db, "conversation = ? AND seq < ?", key, first_kept):
                return after  # this conversation has more to remove
        return compared[-1][0] if compared else None

    def _remove_passages(self, db: sqlite3.Connection, which: str, *values: int) -> bool:
        """Remove some passages. True if there may be more."""
        with _transaction(db):
            values = (*values, MOST_REMOVED)
            db.execute(tables.REMOVE_WORDS.format(which), values)
            count = db.execute(tables.REMOVE.format(which), values).rowcount
            if count:
                db.execute("INSERT OR REPLACE INTO purge (key, due) VALUES (0, 1)")
        return count == MOST_REMOVED

    def _connect(self, *, read_only: bool, until: Callable[[], bool]) -> sqlite3.Connection:
        db = tables.connect(self._path, self._journal, read_only=read_only)
        db.set_progress_handler(until, OPERATIONS)
        return db

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _make_anew(self) -> bool:
        self._broken, self._made_anew = False, True
        self._discard()
        return True

    def _discard(self) -> None:
        self._let_go()
        self._checked = None
        self._forgotten.clear()
        with self._searching:
            for companion in COMPANIONS:
                self._path.with_name(self._path.name + companion).unlink(missing_ok=True)

    # --- searching ------------------------------------------------------------------------------------------------

    def search(self, wanted: Search) -> SearchHits:
        """The passages with these words, of existing conversations. If the time runs out, those found by then."""
        words = expression(wanted.words)
        with self._searching:
            if self._closed.is_set():
                raise StorageFailed(f"{self._path}: the search is closed")
            if not self._path.exists():
                return SearchHits((), None, 0.0)
            deadline = time.monotonic() + SEARCH_S
            try:
                with closing(
                    self._connect(read_only=True, until=lambda: self._closed.is_set() or time.monotonic() > deadline)
                ) as db:
                    return _find(db, wanted, words)
            except sqlite3.Error as error:
                self._broken = is_damage(error) and not self._made_anew
                raise journal_error(error, self._path) from error


def _find(db: sqlite3.Connection, wanted: Search, words: str) -> SearchHits:
    last = _number(db, tables.LAST_EVENT)
    read = min(1.0, _number(db, tables.CURSOR) / last) if last else 1.0
    values = {
        "words": words,
        "before": _place_of(wanted.cursor),
        "conversation": wanted.conversation,
        "cwd": wanted.cwd,
        "since": wanted.since,
        "limit": wanted.limit + 1,
        "around": WORDS_AROUND,
    }
    hits: list[SearchHit] = []
    numbers: list[int] = []
    complete = True
    try:
        for row in db.execute(tables.BEST if wanted.best else tables.NEWEST, values):
            numbers.append(row[0])
            hits.append(_hit(row))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        complete = False
    more = len(hits) > wanted.limit or (not complete and bool(hits))
    hits, numbers = hits[: wanted.limit], numbers[: wanted.limit]
    return SearchHits(tuple(hits), str(numbers[-1]) if more and not wanted.best else None, read, complete)


def _place_of(cursor: str | None) -> int:
    if not cursor:
        return 1 << 62
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < LARGEST):
        raise bad_cursor(cursor)
    return int(cursor)


def _hit(row: tuple[int, str, str | None, str, int, float, Source, str]) -> SearchHit:
    text, marks = split_marks(row[7])
    return SearchHit(ConversationId(row[1]), row[2], row[3], row[4], row[5], row[6], text, marks)


def split_marks(snippet: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text of a snippet without its marks, and the places of the hits in it."""
    text, marks = "", list[tuple[int, int]]()
    for place, part in enumerate(snippet.split(BEGIN)):
        hit, _, rest = part.partition(END) if place else ("", "", part)
        if hit:
            marks.append((len(text), len(text) + len(hit)))
        text += hit + rest.replace(END, "")
    return text, tuple(marks)


def _purge(db: sqlite3.Connection) -> bool:
    """Merge the index, which still has the words of removed passages, and free the space. True if there is more."""
    due = _number(db, "SELECT coalesce(max(due), 0) FROM purge")
    if due in {1, 2}:
        with _transaction(db):
            before = db.total_changes
            db.execute(tables.MERGE, (MERGED_PAGES if due == 2 else -MERGED_PAGES,))
            over = due == 2 and db.total_changes - before < 2
            db.execute("UPDATE purge SET due = ?", (3 if over else 2,))
        return True
    if due == 0:
        return False
    if _number(db, "PRAGMA main.freelist_count"):
        db.execute(f"PRAGMA main.incremental_vacuum({FREED_PAGES})").fetchall()
        return True
    db.execute("DELETE FROM purge")
    db.execute("PRAGMA main.wal_checkpoint(TRUNCATE)").fetchall()  # or with the next rest, if a reader is at work
    return False


def _number(db: sqlite3.Connection, statement: str) -> int:
    return int(db.execute(statement).fetchone()[0])


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
