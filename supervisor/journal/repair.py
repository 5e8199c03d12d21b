"""Repair of a damaged file: readable rows go into a new file, and the damaged file is set aside unchanged.

Every step that an opening would notice is one rename, so a repair may be interrupted anywhere. On the committing
thread, under the lock.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from supervisor.journal.salvage import salvage
from supervisor.journal.schema import Busy, Migration

COMPANIONS = ("", "-wal", "-shm", "-journal")
NOTE = "repaired"


def repair(path: Path, steps: Sequence[Migration], busy: Busy) -> None:
    work = path.with_name(path.name + ".repairing")
    _remove(work)  # left by a repair that was interrupted
    number = _unused_number(path)
    try:
        found = salvage(path, work, steps, busy)
        text = f"{found.report()}; the damaged file is {_damaged_name(path, number)}"
        with closing(sqlite3.connect(work)) as db, db:
            db.execute("INSERT INTO notes (name, text) VALUES (?, ?)", (NOTE, text))
    except BaseException:
        _remove(work)
        raise
    sync(work)
    work.rename(_repaired_name(path, number))
    sync(path.parent)
    finish(path)


def finish(path: Path) -> None:
    """Put a finished salvage in place, also after an earlier opening that was interrupted meanwhile."""
    for done in path.parent.glob(path.name + ".repaired-*"):
        number = int(done.name.rpartition("-")[2])
        for companion in COMPANIONS:
            with suppress(FileNotFoundError):
                path.with_name(path.name + companion).rename(f"{_damaged_name(path, number)}{companion}")
        sync(path.parent)
        done.rename(path)
        sync(path.parent)


def take_report(db: sqlite3.Connection) -> str | None:
    """Take the report of a repair out of the file, so that it is given only once."""
    row = db.execute("SELECT text FROM notes WHERE name = ?", (NOTE,)).fetchone()
    if row is None:
        return None
    db.execute("DELETE FROM notes WHERE name = ?", (NOTE,))
    return str(row[0])


def _damaged_name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{number}")


def _repaired_name(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.repaired-{number}")


def _unused_number(path: Path) -> int:
    number = 1
    while any(path.with_name(f"{_damaged_name(path, number).name}{companion}").exists() for companion in COMPANIONS):
        number += 1
    return number


def _remove(work: Path) -> None:
    for companion in ("", "-journal"):
        work.with_name(work.name + companion).unlink(missing_ok=True)


def sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
