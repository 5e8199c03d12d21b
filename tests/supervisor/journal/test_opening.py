"""Opening: one owner, the schema's steps, files from the future, and how long it takes."""

import hashlib
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import JournalLocked, JournalTooNew, StorageFailed
from actors.vocabulary.records import Append
from supervisor.journal import SqliteJournal, lock, positions
from supervisor.journal.opening import size_on_disk
from supervisor.journal.schema import MIGRATIONS, connect, version
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import (
    A,
    B,
    Contents,
    begin,
    contents,
    conversation,
    follow,
    head,
    kinds,
    records,
    rows,
    stored,
)

BUSY_S = 2.0  # for what takes a tenth of a second where nothing else runs


def second_step(db: sqlite3.Connection) -> float:
    db.execute("ALTER TABLE conversations ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'")
    return 1.0


def failing_step(db: sqlite3.Connection) -> float:
    second_step(db)
    db.execute("INSERT INTO nowhere VALUES (1)")
    return 1.0


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if not file.name.endswith((".lock", "-shm"))
    }


def test_committed_records_are_there_after_reopening(opened: Open) -> None:
    stored(opened(), [begin(A, 3), begin(B, 1, checkpoint_seq=1)])
    stored(opened(), [follow(A, 4, 4)])
    again = opened()
    assert {of: r for of, (_, r) in contents(again).items()} == {A: records(1, 4), B: records(1, 1)}
    assert again.repair_report is None


def test_a_second_owner_is_turned_away_and_the_first_goes_on(opened: Open, path: Path) -> None:
    journal = opened()
    with pytest.raises(JournalLocked):
        SqliteJournal(path)
    stored(journal, [begin(A)])


def test_the_lock_is_free_again_after_closing_and_after_a_failed_opening(opened: Open, path: Path) -> None:
    opened().close()
    with pytest.raises(JournalTooNew):
        SqliteJournal(path, migrations=())
    stored(opened(), [begin(A)])


def test_the_size_on_disk_includes_the_write_ahead_log(opened: Open, path: Path) -> None:
    journal = opened()
    before = size_on_disk(path)
    stored(journal, [begin(A, 100)])
    assert size_on_disk(path) > before
    assert size_on_disk(path) == path.stat().st_size + path.with_name(f"{path.name}-wal").stat().st_size
    journal.close()
    assert size_on_disk(path) == path.stat().st_size


def test_closing_in_order_leaves_one_file_and_its_lock(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A)])
    journal.head(A)
    journal.close()
    assert {file.name for file in path.parent.iterdir()} == {path.name, path.name + ".lock"}


def test_nobody_else_may_read_the_files(opened: Open, path: Path) -> None:
    stored(opened(), [begin(A)])
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_a_path_with_odd_characters_is_that_path(tmp_path: Path) -> None:
    odd = tmp_path / "what? 100% #1 ü.db"
    journal = SqliteJournal(odd)
    stored(journal, [begin(A)])
    assert journal.head(A) is not None
    journal.close()
    assert odd.exists()


def test_a_folder_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        SqliteJournal(tmp_path / "nowhere" / "journal.db")


def test_an_older_file_is_brought_up_to_date_and_keeps_everything(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    before = contents(journal)
    journal.close()
    for _ in range(2):  # the second time there is nothing left to do
        newer = SqliteJournal(path, (*MIGRATIONS, second_step))
        assert contents(newer) == before
        newer.close()
    with closing(connect(path, read_only=True)) as db:
        assert version(db) == len(MIGRATIONS) + 1
        assert db.execute("SELECT DISTINCT colour FROM conversations").fetchall() == [("green",)]


def test_a_step_that_fails_leaves_the_old_schema_whole(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    before = contents(journal)
    journal.close()
    with pytest.raises(StorageFailed, match="nowhere"):
        SqliteJournal(path, (*MIGRATIONS, failing_step))
    assert contents(opened()) == before


@pytest.mark.parametrize("in_the_wal", [False, True])
def test_a_newer_file_is_refused_and_not_a_byte_of_it_changes(opened: Open, path: Path, in_the_wal: bool) -> None:
    opened().close()
    newer = connect(path, read_only=False)
    newer.execute("PRAGMA user_version=99")
    copy = path.parent / "copy"
    copy.mkdir()
    if not in_the_wal:
        newer.close()
    for file in path.parent.glob("journal.db*"):  # as a crash would leave them: the WAL is not yet in the file
        (copy / file.name).write_bytes(file.read_bytes())
    newer.close()
    assert (copy / "journal.db-wal").exists() == in_the_wal
    before = digests(copy)
    with pytest.raises(JournalTooNew, match="schema 99; this Greenroom knows"):
        SqliteJournal(copy / path.name)
    assert digests(copy) == before


def test_keys_are_not_used_again_after_a_delete(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A), begin(B, 2)])
    journal.delete(B)
    journal = opened()
    stored(journal, [begin(B, 1)])
    assert contents(journal)[B][1] == records(1, 1)
    found = journal._positions.get(B)
    assert found is not None
    assert found.key == 3


def test_appends_fit_conversations_whose_end_is_no_longer_in_memory(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "MOST_REMEMBERED", 2)
    journal = opened()
    ids = [conversation(number) for number in range(6)]
    stored(journal, [begin(of) for of in ids])
    for seq in (2, 3):
        for of in ids:
            assert kinds(journal.commit([follow(of, seq + 1, seq + 1)])) == ["sequence_conflict"]
            stored(journal, [follow(of, seq, seq)])
    journal.delete(ids[0])
    assert kinds(journal.commit([follow(ids[0], 4, 4)])) == ["sequence_conflict"]
    assert len(journal._positions._recent) <= 3
    assert {h.last_seq for h, _ in contents(journal).values()} == {3}


def many(count: int) -> list[Append]:
    return [Append(of, records(1, 3), head(of, 3)) for of in (conversation(n) for n in range(count))]


def test_ten_thousand_conversations_open_and_list_at_once(opened: Open) -> None:
    stored(opened(), many(10_000))
    started = time.perf_counter()
    journal = opened()
    ready = time.perf_counter()
    found = rows(journal)
    listed = time.perf_counter()
    assert len(found) == 10_000
    # Generous bounds for a busy machine; bench/journal.py has the figures.
    assert ready - started < BUSY_S
    assert listed - ready < BUSY_S


def power_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imitate a restart of the machine: the file was not closed, and the boot id is another."""
    boot = path.parent / "boot_id"
    boot.write_bytes(b"another boot")
    path.with_name(path.name + ".lock").write_bytes(lock.this_boot().ljust(lock.WIDTH))
    monkeypatch.setattr(lock, "BOOT_ID", boot)


@pytest.mark.parametrize("cut", [False, True], ids=["closed in order", "power cut"])
def test_only_a_power_cut_makes_an_opening_read_the_whole_file(
    opened: Open, path: Path, monkeypatch: pytest.MonkeyPatch, cut: bool
) -> None:
    journal = opened()
    stored(journal, [begin(A, 200, "x" * 500)])
    before: Contents = contents(journal)
    journal.close()
    raw = bytearray(path.read_bytes())
    page = raw.rindex(b"x" * 400) // 4096 * 4096
    raw[page : page + 8] = b"\xff" * 8  # the head of one table page: nothing an opening has to touch
    path.write_bytes(raw)
    if cut:
        power_cut(path, monkeypatch)
    journal = opened()
    assert (journal.repair_report is not None) == cut
    if cut:
        kept = contents(journal)[A][1]
        assert kept == before[A][1][: len(kept)]
        assert 0 < len(kept) < 200
