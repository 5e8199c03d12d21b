"""The one writing connection and its transactions. Belongs to the committing thread."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from supervisor.journal.file_presence import Presence
from supervisor.journal.rescue import rescue


class Writer:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._level = ""

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """Open a transaction; an error inside undoes everything. `durable`: it survives a power cut."""
        self._undo()
        self._sync("FULL" if durable else "NORMAL")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            # The rollback may fail with the disk; the next transaction begins with another try.
            with suppress(sqlite3.Error):
                self._undo()
            raise

    def look_up(self, statement: str, values: tuple[str, ...]) -> tuple[Any, ...] | None:
        """The first row, as of the last commit."""
        self._undo()
        row: tuple[Any, ...] | None = self._db.execute(statement, values).fetchone()
        return row

    def rescue(self, path: Path, presence: Presence) -> str:
        self._undo()
        return rescue(self._db, path, presence)

    def close(self) -> None:
        self._db.close()

    def _sync(self, level: str) -> None:
        if level != self._level:  # SQLite takes the change between transactions only
            self._db.execute(f"PRAGMA synchronous={level}")
            self._level = level

    def _undo(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
