"""The journal's files are taken away under it: nothing is acknowledged, all is saved that can be."""

import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from actors.vocabulary.errors import StorageLost
from supervisor.journal import Retention, SqliteJournal
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, begin, contents, follow, kinds, stored

Loss = Callable[[Path], None]


def lasts(journal: SqliteJournal) -> dict[str, int]:
    return {one: head.last_seq for one, (head, _) in contents(journal).items()}


def wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").rename(path)


def rename_the_directory(path: Path) -> None:
    path.parent.rename(path.parent.with_name("renamed"))


def remove_the_directory(path: Path) -> None:
    shutil.rmtree(path.parent)


def delete_the_log(path: Path) -> None:
    wal(path).unlink()


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(0)


def cut_the_log(path: Path) -> None:
    cut(wal(path))


def replace_the_log(path: Path) -> None:
    shutil.copy(wal(path), path.with_name("copy"))
    path.with_name("copy").rename(wal(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def journal(opened: Open) -> SqliteJournal:
    journal = opened()
    stored(journal, [begin(A, 3)])
    return journal


LOSSES = [
    *(delete, delete_all, move, replace, rename_the_directory, remove_the_directory),
    *(delete_the_log, replace_the_log, cut, cut_the_log),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_is_acknowledged_into_a_file_that_has_lost_its_name(
    journal: SqliteJournal, path: Path, loss: Loss
) -> None:
    loss(path)
    assert kinds(journal.commit([follow(A, 4, 4), begin(B, 1)])) == ["storage_lost", "storage_lost"]
    told = journal.look()
    assert told is not None
    assert str(path) in told
    assert "greenroom down" in told


@pytest.mark.parametrize("loss", [delete, delete_all, replace])
def test_a_deleted_journal_is_copied_whole_and_the_copy_opens_in_its_place(
    journal: SqliteJournal, opened: Open, path: Path, loss: Loss
) -> None:
    loss(path)
    told = journal.look()
    (copy,) = path.parent.glob("journal.rescued-*")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert str(copy) in str(told)
    assert journal.look() == told  # once
    journal.close()
    copy.rename(path)
    again = opened()
    assert lasts(again) == {A: 3}
    assert kinds(again.commit([follow(A, 4, 4)])) == [None]


@pytest.mark.parametrize("loss", [delete_the_log, replace_the_log])
def test_a_journal_that_is_deleted_after_its_log_is_copied_too(
    journal: SqliteJournal, path: Path, loss: Loss
) -> None:
    loss(path)
    assert "all of it is in" in str(journal.look())
    delete(path)
    told = str(journal.look())
    (copy,) = path.parent.glob("journal.rescued-*")
    assert str(copy) in told


def test_a_journal_that_is_deleted_after_it_was_moved_is_copied_too(journal: SqliteJournal, path: Path) -> None:
    move(path)
    assert "put it back" in str(journal.look())
    delete(path.with_name("elsewhere"))
    told = str(journal.look())
    (copy,) = path.parent.glob("journal.rescued-*")
    assert str(copy) in told


@pytest.mark.parametrize("loss", [delete_the_log, replace_the_log])
def test_events_of_a_lost_log_are_in_the_journal_afterwards(
    journal: SqliteJournal, opened: Open, path: Path, loss: Loss
) -> None:
    loss(path)
    assert journal.look() is not None
    assert lasts(opened()) == {A: 3}


@pytest.mark.parametrize("loss", [move, rename_the_directory])
def test_a_journal_that_comes_back_goes_on_and_has_lost_nothing(
    journal: SqliteJournal, path: Path, loss: Loss
) -> None:
    loss(path)
    assert kinds(journal.commit([follow(A, 4, 4)])) == ["storage_lost"]
    assert "was moved to" in str(journal.look())
    if path.parent.exists():
        path.with_name("elsewhere").rename(path)
    else:
        path.parent.with_name("renamed").rename(path.parent)
    assert journal.look() is None
    assert kinds(journal.commit([follow(A, 4, 4)])) == [None]
    assert lasts(journal) == {A: 4}


@pytest.mark.parametrize("loss", [cut, cut_the_log])
def test_a_journal_that_was_cut_takes_nothing_more_and_is_had_back_by_what_it_says(
    journal: SqliteJournal, opened: Open, path: Path, loss: Loss
) -> None:
    loss(path)
    told = str(journal.look())
    assert "was cut short" in told
    with wal(path).open("ab") as file:
        file.write(b"\0" * (1 << 20))  # as long as it was, and longer
    assert kinds(journal.commit([follow(A, 4, 4)])) == ["storage_lost"]
    journal.close()
    subprocess.run(["/bin/sh", "-c", f"greenroom() {{ :; }}; {told.partition('to have it back: ')[2]}"], check=True)
    assert lasts(opened()) == {A: 3}


def test_the_way_back_is_for_a_shell_to_the_letter(tmp_path: Path) -> None:
    path = tmp_path / "it's a home; with $(blanks)" / "journal.db"
    path.parent.mkdir()
    journal = SqliteJournal(path)
    stored(journal, [begin(A, 3)])
    path.unlink()
    path.mkdir()
    (path / "file").touch()
    told = str(journal.look())
    journal.close()
    subprocess.run(["/bin/sh", "-c", f"greenroom() {{ :; }}; {told.partition('to have it back: ')[2]}"], check=True)
    with closing(SqliteJournal(path)) as again:
        assert lasts(again) == {A: 3}


def test_our_own_writes_may_make_the_files_shorter(journal: SqliteJournal) -> None:
    stored(journal, [begin(B, 2000, "x" * 5000)])  # more than is kept of the log
    for seq in range(4, 10):
        assert kinds(journal.commit([follow(A, seq, seq)])) == [None]
    journal.delete(B)
    while journal.prune(1e9, Retention()):
        pass
    assert kinds(journal.commit([follow(A, 10, 10)])) == [None]
    assert journal.look() is None


def test_closing_a_replaced_journal_leaves_the_files_of_the_other_alone(
    journal: SqliteJournal, path: Path, tmp_path: Path
) -> None:
    other = SqliteJournal(tmp_path / "other.db")
    stored(other, [begin(B, 2)])
    for suffix in ("", "-wal", "-shm"):
        shutil.copy(f"{tmp_path}/other.db{suffix}", f"{path}{suffix}.new")
        Path(f"{path}{suffix}.new").rename(f"{path}{suffix}")
    other.close()
    before = wal(path).read_bytes()
    journal.look()
    journal.close()
    assert wal(path).read_bytes() == before


def test_no_reader_is_given_what_somebody_else_has_put_there(journal: SqliteJournal, path: Path) -> None:
    assert journal.head(A) is not None
    replace(path)
    assert journal.head(A) is not None  # by the connection that was there before
    with journal._connections.snapshot(), pytest.raises(StorageLost, match="was replaced"):
        journal.head(A)


def test_a_journal_that_is_all_there_has_nothing_to_say(journal: SqliteJournal) -> None:
    assert journal.look() is None
    journal.close()
    assert journal.look() is None
