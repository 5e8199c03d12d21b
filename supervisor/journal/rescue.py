"""Rescue of a journal whose files were taken away: open descriptors keep it until this process ends.

Runs on the committing thread, with its connection.
"""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from shlex import quote

from supervisor.journal.file_presence import Presence

RESTART = "`greenroom down && greenroom up`"


def rescue(db: sqlite3.Connection, path: Path, presence: Presence) -> str:
    """Put everything into one file: the journal if it still has a name, or a copy. Return advice for a person."""
    try:
        if presence.shortened_file is not None:
            return _advice_on_copy(_copy(db, path), path)  # a checkpoint would damage the part that is still whole
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        presence.measure()
        if presence.file_is_here():
            return f"all of it is in {path}; {RESTART} goes on with it"
        if not presence.is_deleted():
            return f"put it back, and the daemon goes on; or start with what is there: {RESTART}"
        if not path.parent.is_dir():
            return f"its directory is gone, so nothing can be saved; {RESTART} begins a new one"
        return _advice_on_copy(_copy(db, path), path)
    except (sqlite3.Error, OSError) as error:
        return f"it can't be saved ({error}); {RESTART} begins with what is there"


def _advice_on_copy(copy: Path, path: Path) -> str:
    """The place of the copy, and the exact shell command that puts it back."""
    place, source = quote(str(path)), quote(str(copy))
    aside = f"mv {place} {quote(f'{path}.aside')} && " if path.is_dir() else ""
    again = f"greenroom down && {aside}mv {source} {place} && greenroom up"
    return f"all of it is kept in {copy}; to have it back: {again}"


def _insist_that_it_is_sound(copy: sqlite3.Connection) -> None:
    if copy.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("what is left of it is damaged")


def _copy(db: sqlite3.Connection, path: Path) -> Path:
    """Copy the journal. The copy gets its name when it is complete."""
    part = path.with_name("journal.rescued.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(part)) as into:
            db.backup(into)
            _insist_that_it_is_sound(into)
            into.execute("PRAGMA journal_mode=DELETE").fetchall()  # so that it is one file
        copy = path.with_name(f"journal.rescued-{time.strftime('%Y%m%d-%H%M%S')}.sqlite3")
        part.rename(copy)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return copy
