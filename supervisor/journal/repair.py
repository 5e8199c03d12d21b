"""A damaged file: what can be read goes into a new one, the damaged one is set aside as it is.

Every step that changes what an opening would find is one rename, so a repair can be cut off anywhere.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from supervisor.journal.salvage import salvage
from supervisor.journal.schema import Migration

COMPANIONS = ("", "-wal", "-shm", "-journal")
NOTE = "repaired"


def repair(path: Path, steps: Sequence[Migration]) -> None:
    work = path.with_name(path.name + ".repairing")
    _remove(work)  # of a repair that was cut off
    number = _unused_number(path)
    try:
        found = salvage(path, work, steps)
        text = f"{found.report()}; the damaged file is {_aside(path, number)}"
        with closing(sqlite3.connect(work)) as db, db:
            db.execute("INSERT INTO notes (name, text) VALUES (?, ?)", (NOTE, text))
    except BaseException:
        _remove(work)
        raise
    sync(work)
    work.rename(_done(path, number))
    sync(path.parent)
    finish(path)


def finish(path: Path) -> None:
    """Swap a finished salvage in, also one that an earlier opening left in the middle of this."""
    for done in path.parent.glob(path.name + ".repaired-*"):
        number = int(done.name.rpartition("-")[2])
        for companion in COMPANIONS:
            with suppress(FileNotFoundError):
                path.with_name(path.name + companion).rename(f"{_aside(path, number)}{companion}")
        sync(path.parent)
        done.rename(path)
        sync(path.parent)


def told(db: sqlite3.Connection) -> str | None:
    """What the repair had to say; asked once."""
    row = db.execute("SELECT text FROM notes WHERE name = ?", (NOTE,)).fetchone()
    if row is None:
        return None
    db.execute("DELETE FROM notes WHERE name = ?", (NOTE,))
    return str(row[0])


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged-{number}")


def _done(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.repaired-{number}")


def _unused_number(path: Path) -> int:
    number = 1
    while any(path.with_name(f"{_aside(path, number).name}{companion}").exists() for companion in COMPANIONS):
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
