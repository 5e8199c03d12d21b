"""Damaged files: what can be read is kept, the damaged file stays as it was, and it is told once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import StorageFailed, StorageFull
from actors.vocabulary.records import Append, ListQuery
from supervisor.journal import Retention, SqliteJournal, repair
from supervisor.journal import salvage as salvaging
from supervisor.journal.schema import MIGRATIONS, connect
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, C, Contents, begin, contents, follow, head, records, stored
from tests.supervisor.journal.test_opening import second_step

PAGE = 4096


@pytest.fixture
def filled(opened: Open) -> Contents:
    """Three conversations of 120 events each, interleaved; closed."""
    journal = opened()
    stored(journal, [begin(of, 20, f"{of} " + "x" * 300) for of in (A, B, C)])
    for first in range(21, 121, 20):
        stored(journal, [follow(of, first, first + 19, f"{of} " + "x" * 300) for of in (A, B, C)])
    found = contents(journal)
    journal.close()
    return found


def root(path: Path, name: str) -> int:
    with closing(connect(path, read_only=True)) as db:
        return int(db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0])


def overwrite(path: Path, offset: int, raw: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(raw)


def page_with(path: Path, text: bytes) -> int:
    """The number of the table page that has the text."""
    return path.read_bytes().rindex(text) // PAGE + 1


def ruin(path: Path, page: int) -> None:
    overwrite(path, (page - 1) * PAGE, b"\xff" * 16)


def suspect(path: Path) -> None:
    path.with_name(path.name + ".lock").write_bytes(b"suspect")


def is_prefix(kept: Contents, whole: Contents) -> bool:
    return all(found == whole[of][1][: len(found)] for of, (_, found) in kept.items())


def test_a_damaged_page_costs_what_lies_behind_it_and_nothing_else(
    opened: Open, path: Path, filled: Contents
) -> None:
    ruin(path, page_with(path, b'"n":50,"message":"' + B.encode()))
    suspect(path)
    before = path.read_bytes()
    journal = opened()
    kept = contents(journal)
    assert is_prefix(kept, filled)
    assert len(kept[B][1]) < 50
    assert {len(kept[of][1]) for of in (A, C)} == {120}
    aside = path.with_name("journal.db.damaged-1")
    lost = 120 - len(kept[B][1])
    assert journal.repair_report == (
        f"journal repaired: kept {360 - lost} events of 3 conversations, "
        f"lost {lost} events and 0 conversations, as far as is known; the damaged file is {aside}"
    )
    assert aside.read_bytes() == before


def test_a_repair_is_told_once_and_the_conversation_goes_on(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, page_with(path, b'"n":50,"message":"' + B.encode()))
    suspect(path)
    journal = opened()
    assert journal.repair_report is not None
    last = contents(journal)[B][0].last_seq
    stored(journal, [follow(B, last + 1, last + 2)])
    again = opened()
    assert again.repair_report is None
    assert again.head(B) is not None
    assert contents(again)[B][0].last_seq == last + 2
    assert filled[B][0].last_seq == 120


def test_a_ruined_index_loses_nothing(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, root(path, "sqlite_autoindex_events_1"))
    suspect(path)
    journal = opened()
    assert journal.repair_report is not None
    assert contents(journal) == filled


def test_ruined_tails_are_told_from_the_events(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, root(path, "tails"))
    journal = opened()  # met at opening: no other evidence is needed
    assert journal.repair_report is not None
    assert {of: r for of, (_, r) in contents(journal).items()} == {of: r for of, (_, r) in filled.items()}


@pytest.mark.parametrize("what", ["totals", "totals_by_cwd", "by_state", "by_cwd", "by_creation", "by_name"])
def test_ruined_lists_are_made_again(opened: Open, path: Path, filled: Contents, what: str) -> None:
    ruin(path, root(path, what))
    suspect(path)
    journal = opened()
    assert journal.repair_report is not None
    assert contents(journal) == filled
    assert all_lists_agree(journal)


def all_lists_agree(journal: SqliteJournal) -> bool:
    """Whether each way to list finds all conversations: they are in one directory, and idle."""
    everything = set(contents(journal))
    cwd = next(iter(contents(journal).values()))[0].cwd
    queries = (ListQuery(), ListQuery(cwd=cwd), ListQuery(order="created"), ListQuery(state="idle", cwd=cwd))
    pages = [journal.list_page(query) for query in queries]
    listed = all({head.conversation for head in page.heads} == everything for page in pages)
    counted = all(page.total == len(everything) for page in pages)
    return listed and counted and set(journal.surplus(0, None, 100)) == everything


def test_a_ruined_total_is_met_at_opening(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, root(path, "totals"))
    journal = opened()
    assert journal.repair_report is not None
    assert contents(journal) == filled


def test_ruined_snapshots_cost_settings_and_checkpoint_only(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, root(path, "snapshots"))
    suspect(path)
    found = contents(opened())
    assert {of: r for of, (_, r) in found.items()} == {of: r for of, (_, r) in filled.items()}
    assert {(h.settings, h.checkpoint, h.checkpoint_seq) for h, _ in found.values()} == {(b"", b"", 0)}


def test_conversations_whose_row_is_unreadable_are_counted(opened: Open, path: Path, filled: Contents) -> None:
    ruin(path, root(path, "conversations"))
    suspect(path)
    journal = opened()
    assert len(filled) == 3
    assert contents(journal) == {}
    assert "lost 360 events and 3 conversations" in str(journal.repair_report)


def test_a_checkpoint_ahead_of_the_events_that_remain_is_dropped(opened: Open, path: Path) -> None:
    stored(opened(), [begin(A, 60, "x" * 300, checkpoint_seq=58), begin(B, 2, checkpoint_seq=2)])
    opened().close()
    ruin(path, page_with(path, b'"n":40,"'))
    suspect(path)
    found = contents(opened())
    assert (found[A][0].checkpoint, found[A][0].checkpoint_seq) == (b"", 0)
    assert (found[B][0].checkpoint, found[B][0].checkpoint_seq) == (b'{"seq":2}', 2)


@pytest.mark.parametrize("raw", [b"", b"x", b"not a database\n" * 1000], ids=["a byte", "short", "long"])
def test_a_file_that_is_no_database_is_set_aside_as_it_is(opened: Open, path: Path, raw: bytes) -> None:
    raw = raw or b"\x00"
    path.write_bytes(raw)
    journal = opened()
    assert "kept 0 events of 0 conversations" in str(journal.repair_report)
    assert path.with_name("journal.db.damaged-1").read_bytes() == raw
    stored(journal, [begin(A)])


def test_an_empty_file_is_a_new_journal(opened: Open, path: Path) -> None:
    path.touch()
    assert opened().repair_report is None


def test_a_wal_without_its_file_is_set_aside_too(opened: Open, path: Path, filled: Contents) -> None:
    path.unlink()
    path.with_name("journal.db-wal").write_bytes(b"what was in the log")
    journal = opened()
    assert filled
    assert journal.repair_report is not None
    assert path.with_name("journal.db.damaged-1-wal").read_bytes() == b"what was in the log"


def test_a_damaged_file_is_never_written_over_another(opened: Open, path: Path) -> None:
    for number in (1, 2, 3):
        path.write_bytes(b"damage %d" % number)
        opened().close()
    assert [path.with_name(f"journal.db.damaged-{n}").read_bytes() for n in (1, 2, 3)] == [
        b"damage 1",
        b"damage 2",
        b"damage 3",
    ]


def test_the_log_beside_a_damaged_file_is_read_and_set_aside(opened: Open, tmp_path: Path) -> None:
    journal = opened()
    stored(journal, [begin(of, 40, "x" * 300) for of in (A, B)])
    opened()  # all of that is in the file itself
    journal = opened()
    stored(journal, [begin(C, 3)])  # and this in the log beside it
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("journal.db", "journal.db-wal"):
        (crashed / name).write_bytes((tmp_path / name).read_bytes())
    ruin(crashed / "journal.db", page_with(crashed / "journal.db", b'"n":30,"'))
    suspect(crashed / "journal.db")
    log = (crashed / "journal.db-wal").read_bytes()
    again = SqliteJournal(crashed / "journal.db")
    found = contents(again)
    again.close()
    assert again.repair_report is not None
    assert found[C][1] == records(1, 3)
    assert (crashed / "journal.db.damaged-1-wal").read_bytes() == log


def test_retention_goes_on_in_a_repaired_file(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(of, 30, checkpoint_seq=30) for of in (A, B)])
    while journal.prune(2000.0, Retention(max_events=20)):
        pass
    stored(journal, [Append(A, records(31, 35), head(A, 35, checkpoint_seq=35))])
    journal.close()
    ruin(path, root(path, "by_oldest"))
    suspect(path)
    journal = opened()
    assert journal.repair_report is not None
    for most, kept in ((20, {A: 20, B: 20}), (5, {A: 5, B: 5})):
        while journal.prune(2000.0, Retention(max_events=most)):
            pass
        assert {of: len(events) for of, (_, events) in contents(journal).items()} == kept


def test_damage_met_while_running_is_typed_and_repaired_at_the_next_opening(
    opened: Open, path: Path, filled: Contents
) -> None:
    ruin(path, page_with(path, b'"n":50,"message":"' + B.encode()))
    journal = opened()
    assert journal.repair_report is None  # nothing has touched the page yet
    with pytest.raises(StorageFailed):
        journal.read(B, 0, 1000)
    assert journal.read(A, 0, 3) is not None
    journal = opened()
    assert journal.repair_report is not None
    assert is_prefix(contents(journal), filled)


def test_events_that_are_missing_are_damage_and_not_an_end(opened: Open, path: Path, filled: Contents) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM events WHERE seq = 50 AND conversation = 2")
    journal = opened()
    for after in (0, 48, 49):
        with pytest.raises(StorageFailed, match="missing"):
            journal.read(B, after, 10_000)
    journal = opened()
    assert contents(journal)[B][1] == filled[B][1][:49]
    assert "lost 71 events" in str(journal.repair_report)


def test_a_file_of_an_older_schema_is_repaired_first_and_then_brought_up_to_date(
    path: Path, filled: Contents
) -> None:
    ruin(path, root(path, "sqlite_autoindex_events_1"))
    suspect(path)
    newer = SqliteJournal(path, (*MIGRATIONS, second_step))
    assert newer.repair_report is not None
    assert contents(newer) == filled
    newer.close()


def test_no_room_for_the_repair_leaves_everything_as_it_was(
    opened: Open, path: Path, filled: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruin(path, root(path, "tails"))
    before = path.read_bytes()
    real = salvaging.salvage

    def cramped(damaged: Path, into: Path, steps: object, busy: object) -> object:
        real(damaged, into, steps, busy)  # type: ignore[arg-type] # passed on as they came
        with closing(sqlite3.connect(into)) as db, db:
            db.execute("PRAGMA max_page_count=1")
            db.execute("CREATE TABLE more AS SELECT * FROM events")
        raise AssertionError("there was room")

    monkeypatch.setattr(repair, "salvage", cramped)
    with pytest.raises(StorageFull):
        opened()
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert not path.with_name("journal.db.repairing").exists()
    assert len(contents(opened())) == len(filled)
