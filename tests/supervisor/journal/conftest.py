"""A journal file of its own for each test, and journals that are closed whatever happens."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from supervisor.journal import SqliteJournal

Open = Callable[[], SqliteJournal]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    """Open the test's journal; the journal before it is closed first."""
    journals: list[SqliteJournal] = []

    def open_() -> SqliteJournal:
        for journal in journals:
            journal.close()
        journals.append(SqliteJournal(path))
        return journals[-1]

    yield open_
    for journal in journals:
        journal.close()
