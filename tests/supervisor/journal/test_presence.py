"""The journal's files are taken away under it: nothing is acknowledged, all is saved that can be."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.errors import StorageLost
from supervisor.journal import SqliteJournal
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
    *(delete_the_log, replace_the_log),
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
def test_what_was_in_a_lost_log_is_in_the_journal_afterwards(
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
    with journal._readers.snapshot(), pytest.raises(StorageLost, match="was replaced"):
        journal.head(A)


def test_a_journal_that_is_all_there_has_nothing_to_say(journal: SqliteJournal) -> None:
    assert journal.look() is None
    journal.close()
    assert journal.look() is None
