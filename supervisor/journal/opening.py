"""Opening the file: is it whole, can we read it, is it up to date. On the committing thread, under the lock."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from actors.ids import ConversationId
from supervisor.journal import repair
from supervisor.journal.failures import is_damage
from supervisor.journal.plan import Tail
from supervisor.journal.rows import GET_TAILS
from supervisor.journal.schema import Migration, connect, migrate, prepare_writer, refuse_newer, version

HEADER = 100  # bytes; the file format's own figures: magic, page size, page count, user version
MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Opened:
    db: sqlite3.Connection
    known: dict[ConversationId, Tail]
    next_key: int
    repaired: str | None


def open_file(path: Path, steps: Sequence[Migration], *, suspect: bool, power_cut: bool) -> Opened:
    repair.finish(path)
    refuse_newer(_version_unopened(path), steps, path)
    # Checking reads the whole file, so it is done on evidence only.
    if (suspect or power_cut or _torn(path)) and not _sound(path, thorough=suspect):
        repair.repair(path, steps)
    try:
        return _prepared(path, steps)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
    repair.repair(path, steps)
    return _prepared(path, steps)


def _prepared(path: Path, steps: Sequence[Migration]) -> Opened:
    _create(path)
    db = connect(path, read_only=False)
    try:
        prepare_writer(db)
        migrate(db, steps)
        known = {id_: Tail(key, last) for id_, key, last in db.execute(GET_TAILS)}
        used = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'conversations'").fetchone()
        return Opened(db, known, used[0] + 1 if used else 1, repair.told(db))
    except BaseException:
        db.close()
        raise


def _create(path: Path) -> None:
    """SQLite would make it readable to all; its companions take over the mode of the file itself."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        repair.sync(path.parent)


def _header(path: Path) -> bytes:
    # Plain reading is safe only while no connection of this process is open: closing the file would drop its locks.
    try:
        with path.open("rb") as file:
            return file.read(HEADER)
    except FileNotFoundError:
        return b""


def _wal_size(path: Path) -> int:
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def _version_unopened(path: Path) -> int:
    """The schema's version without changing a byte; 0 if it cannot be told. Pages in the WAL count as well."""
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


def _torn(path: Path) -> bool:
    header = _header(path)
    if not header:
        return _wal_size(path) > 0
    if len(header) < HEADER or not header.startswith(MAGIC):
        return True
    page = int.from_bytes(header[16:18], "big")
    page = 65_536 if page == 1 else page
    size = path.stat().st_size
    # A checkpoint that was cut off leaves the same picture beside an intact WAL; the check that follows tells.
    return page == 0 or size % page != 0 or int.from_bytes(header[28:32], "big") * page > size


def _sound(path: Path, *, thorough: bool) -> bool:
    if not _header(path):
        return _wal_size(path) == 0  # SQLite would take an empty file for a new one and throw the WAL away
    with closing(connect(path, read_only=True)) as db:
        try:
            found = db.execute(f"PRAGMA {'integrity_check' if thorough else 'quick_check'}(1)").fetchone()
        except sqlite3.Error as error:
            if is_damage(error):
                return False
            raise
    return bool(found[0] == "ok")
