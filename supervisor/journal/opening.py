"""Opening the file: check it, repair it, bring its schema up to date. On the committing thread, under the lock."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from supervisor.journal import conversation_lists, repair
from supervisor.journal.journal_errors import is_damage
from supervisor.journal.schema import (
    Busy,
    Migration,
    connect,
    migrate,
    prepare_writer,
    refuse_newer,
    reporting_progress,
    version,
)

HEADER = 100  # bytes of the file format: magic, page size, page count, user version
MAGIC = b"SQLite format 3\x00"
FIND_HOLE = """
    SELECT 1 FROM tails t LEFT JOIN (
        SELECT conversation, count(*) AS kept, min(seq) AS low, max(seq) AS high FROM events GROUP BY conversation
    ) e ON e.conversation = t.key
    WHERE coalesce(kept, 0) <> last_seq - first_seq + 1 OR low <> first_seq OR high <> last_seq LIMIT 1"""


class OpenedJournal(Struct, frozen=True):
    db: sqlite3.Connection
    next_key: int
    repair_report: str | None


def open_file(path: Path, steps: Sequence[Migration], busy: Busy, *, suspect: bool, power_cut: bool) -> OpenedJournal:
    repair.finish(path)
    refuse_newer(_version_unopened(path), steps, path)
    # Checking reads the whole file, so it is done on evidence only.
    if (suspect or power_cut or _is_torn(path)) and not _is_sound(path, busy, thorough=suspect):
        repair.repair(path, steps, busy)
    try:
        return _prepare(path, steps, busy)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
    repair.repair(path, steps, busy)
    return _prepare(path, steps, busy)


def _prepare(path: Path, steps: Sequence[Migration], busy: Busy) -> OpenedJournal:
    _create(path)
    db = connect(path, read_only=False)
    try:
        prepare_writer(db)
        migrate(db, steps, busy)
        _look(db)
        used = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'conversations'").fetchone()
        return OpenedJournal(db, used[0] + 1 if used else 1, repair.take_report(db))
    except BaseException:
        db.close()
        raise


def _look(db: sqlite3.Connection) -> None:
    """Read the rows that a start reads, so that damage in them is met here, where it is repaired."""
    db.execute("SELECT max(key) FROM tails").fetchone()
    conversation_lists.unsettled_heads(db)


def _create(path: Path) -> None:
    """Create the file for its owner only; SQLite would let all users read it. Its companions get the same mode."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        repair.sync(path.parent)


def _header(path: Path) -> bytes:
    # Read it only while this process has no connection: closing the file would drop SQLite's locks.
    try:
        with path.open("rb") as file:
            return file.read(HEADER)
    except FileNotFoundError:
        return b""


def size_on_disk(path: Path) -> int:
    """Bytes of the file and of its WAL."""
    return _size(path) + _wal_size(path)


def _wal_size(path: Path) -> int:
    return _size(path.with_name(path.name + "-wal"))


def _version_unopened(path: Path) -> int:
    """The schema's version, read without changing a byte; 0 if it is unknown. Pages in the WAL count too."""
    header = _header(path)
    if not header.startswith(MAGIC):
        return 0
    if _wal_size(path) == 0:
        return int.from_bytes(header[60:64], "big")
    with closing(connect(path, read_only=True)) as db:
        try:
            return version(db)
        except sqlite3.Error as error:
            if is_damage(error):
                return 0
            raise


def _is_torn(path: Path) -> bool:
    """Whether the file seems cut short. An interrupted checkpoint beside an intact WAL looks the same."""
    header = _header(path)
    if not header:
        return _wal_size(path) > 0
    page = _page_size(header)
    return page == 0 or _part_of_a_page(path, page) or int.from_bytes(header[28:32], "big") * page > _size(path)


def _is_sound(path: Path, busy: Busy, *, thorough: bool) -> bool:
    if _wal_size(path) == 0:
        page = _page_size(_header(path))
        if page == 0 or _part_of_a_page(path, page):  # SQLite would read the missing bytes as zeros
            return False
    elif _size(path) < HEADER:
        return False  # SQLite would take it for a new file and throw the WAL away
    with closing(connect(path, read_only=True)) as db, reporting_progress(db, lambda: busy("the journal is checked")):
        try:
            check = "integrity_check" if thorough else "quick_check"
            intact = db.execute(f"PRAGMA {check}(1)").fetchone()[0] == "ok"
            return intact and not (thorough and db.execute(FIND_HOLE).fetchone())
        except sqlite3.Error as error:
            if is_damage(error):
                return False
            raise


def _page_size(header: bytes) -> int:
    """The size of a page; 0 if this is not a database."""
    if len(header) < HEADER or not header.startswith(MAGIC):
        return 0
    size = int.from_bytes(header[16:18], "big")
    return 65_536 if size == 1 else size


def _part_of_a_page(path: Path, page: int) -> bool:
    return _size(path) % page != 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
