"""Journals of the first version of the schema: brought up to date in pieces, killed in each, and told about."""

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import JournalTooNew
from actors.vocabulary.records import Append, Head, ListQuery
from supervisor.journal import SqliteJournal, schema
from supervisor.journal.rows import PUT_EVENT, PUT_SNAPSHOT, PUT_TAIL, event_row, head_row
from supervisor.journal.schema import MIGRATIONS, connect, migrate, version
from tests.fakes.journal import FakeJournal
from tests.supervisor.journal.child import PIECE_ROWS
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import begin, contents, conversation, follow, head, records, stored
from tests.supervisor.journal.test_crash import PATIENCE_S, start
from tests.supervisor.journal.test_damage import root, ruin, suspect

pytestmark = pytest.mark.long(takes_s=15)

COUNT = 45  # conversations: more than a few pieces
STATES = ("idle", "archived", "failed", "running")
ALL = ListQuery(archived=True)
FIRST_HEAD = """
    INSERT INTO conversations (key, id, name, cwd, model, state, preview, checkpoint_seq, created, generation,
        archived, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def heads() -> Iterator[Head]:
    for number in range(1, COUNT + 1):
        state = STATES[number % len(STATES)]
        yield head(
            conversation(number),
            2,
            updated=1000.0 + number * 7 % COUNT,
            state=state,
            archived=state == "archived",
            name=f"name-{number}" if number % 5 == 0 else None,
            cwd=f"/project-{number % 3}",
        )


@pytest.fixture
def old(path: Path) -> FakeJournal:
    """A file as the first version left it; the answer has the same conversations."""
    fake = FakeJournal()
    with closing(connect(path, read_only=False)) as db:
        migrate(db, MIGRATIONS[:1])
        db.execute("BEGIN")
        for number, one in enumerate(heads(), 1):
            key = number + number // 10  # with gaps, as deleted conversations leave them
            db.execute(FIRST_HEAD, head_row(key, one)[:12])
            db.execute(PUT_SNAPSHOT, (key, one.settings, one.checkpoint))
            db.execute(PUT_TAIL, (key, 1, 2, one.updated))
            db.executemany(PUT_EVENT, [event_row(key, record) for record in records(1, 2)])
            stored(fake, [Append(one.conversation, records(1, 2), one)])
        db.execute("COMMIT")
    return fake


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece is few rows and a transaction of its own."""
    monkeypatch.setattr(schema, "PIECE_ROWS", PIECE_ROWS)
    monkeypatch.setattr(schema, "TRANSACTION_S", 0.0)


def tell_the_same(journal: SqliteJournal, fake: FakeJournal) -> None:
    assert contents(journal) == contents(fake)
    for query in (
        ALL,
        ListQuery(state="failed"),
        ListQuery(cwd="/project-1"),
        ListQuery(archived=True, name="name-5"),
    ):
        found, expected = journal.list_page(query), fake.list_page(query)
        assert (found.heads, found.total) == (expected.heads, expected.total)
    assert journal.find_name("name-40") == fake.find_name("name-40") is not None
    assert journal.surplus(10, None, 100) == fake.surplus(10, None, 100)
    assert journal.unsettled_heads() == fake.unsettled_heads()


@pytest.mark.usefixtures("small_pieces")
def test_a_journal_of_the_first_version_has_everything_afterwards(opened: Open, old: FakeJournal) -> None:
    journal = opened()
    tell_the_same(journal, old)
    for one in (journal, old):
        stored(one, [begin(conversation(99), 2), follow(conversation(7), 3, 3)])
        one.delete(conversation(3))
    tell_the_same(opened(), old)


def test_a_migration_that_is_killed_in_every_piece_goes_on_where_it_was(
    opened: Open, path: Path, old: FakeJournal
) -> None:
    seen = [place(path)]
    while migrate_one_piece(path) == -signal.SIGKILL:
        seen.append(place(path))
        assert seen[-1] > seen[-2], "a life has done nothing"
        with pytest.raises(JournalTooNew):  # the version that made the file leaves half of this alone
            SqliteJournal(path, MIGRATIONS[:1])
    assert len(seen) > COUNT // PIECE_ROWS + len(MIGRATIONS) - 2
    tell_the_same(opened(), old)


def migrate_one_piece(path: Path) -> int:
    """Run a child that is killed in its second transaction."""
    with start(path, "migrate", 2) as child:
        _, complaint = child.communicate(timeout=PATIENCE_S)
    assert child.returncode in {0, -signal.SIGKILL}, complaint.decode()
    return child.returncode


def place(path: Path) -> tuple[int, int]:
    """The steps that are done, and the last row of the present one."""
    with closing(connect(path, read_only=True)) as db:
        row = db.execute("SELECT text FROM notes").fetchone()
        return version(db), int(row[0]) if row else 0


def test_a_file_that_is_damaged_in_the_middle_of_a_migration_is_repaired_and_migrated(
    opened: Open, path: Path, old: FakeJournal
) -> None:
    for _ in range(4):
        assert migrate_one_piece(path) == -signal.SIGKILL
    assert place(path)[1] > 0  # some rows have their time, and some have not
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    ruin(path, root(path, "sqlite_autoindex_events_1"))
    suspect(path)
    journal = opened()
    assert journal.repair_report is not None
    tell_the_same(journal, old)


@pytest.mark.usefixtures("small_pieces", "old")
def test_how_far_a_migration_is_is_told_while_it_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "HEARD_OPERATIONS", 1)
    told: list[str] = []
    SqliteJournal(path, busy=told.append).close()
    assert {text.rpartition(" ")[0] for text in told} == {"the journal is brought up to date:"}
    parts = [int(text.rpartition(" ")[2].removesuffix("%")) for text in told]
    assert parts == sorted(parts)
    assert len(set(parts)) >= len(MIGRATIONS)
    assert 0 < parts[0] < parts[-1] <= 100
    told.clear()
    SqliteJournal(path, busy=told.append).close()
    assert told == []


def test_a_check_and_a_repair_are_told_while_they_run(
    opened: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(opened(), [begin(conversation(1), 50, "x" * 300)])
    opened().close()
    ruin(path, root(path, "sqlite_autoindex_events_1"))
    suspect(path)
    monkeypatch.setattr(schema, "HEARD_OPERATIONS", 1)
    told: list[str] = []
    journal = SqliteJournal(path, busy=told.append)
    journal.close()
    assert journal.repair_report is not None
    assert {"the journal is checked", "the journal is repaired"} <= set(told)
