"""The n-th write fails, for n = 1, 2, 3… until none does: refused with the right type, and nothing half-written."""

import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import force_setattr

from actors.vocabulary.errors import JournalError, StorageFull, StorageReadOnly
from supervisor.journal import SqliteJournal
from supervisor.journal.journal_errors import journal_error
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, C, begin, contents, follow, kinds, records, stored
from tests.supervisor.journal.test_crash import ROOT, acknowledged, check

ROOT_ONLY = pytest.mark.skipif(
    os.geteuid() != 0 or not sys.platform.startswith("linux"), reason="mounting takes root, on Linux"
)
PATIENCE_S = 30.0


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this system does not let us mount: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "none", str(folder))
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[Path]:
    folder, view = tmp_path / "real", tmp_path / "view"
    folder.mkdir()
    view.mkdir()
    journal = SqliteJournal(folder / "journal.db")
    stored(journal, [begin(A, 3)])
    journal.close()
    mount("--bind", str(folder), str(view))
    mount("-o", "remount,bind,ro", str(view))
    yield view
    subprocess.run(["umount", "--lazy", str(view)], check=True)


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Writing behind this byte of any file fails, as on a disk with a bad place. Python ignores the signal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_writes_that_fail_further_and_further_on_never_leave_a_half(opened: Open, path: Path) -> None:
    stored(opened(), [begin(A), begin(B)])
    log = path.with_name("journal.db-wal")
    failures, allowed = 0, 0
    while True:
        journal = opened()
        before = contents(journal)
        last = before[A][0].last_seq
        group = [follow(A, last + 1, last + 2, "x" * 3000, durable=True), follow(B, last + 1, last + 2), begin(C)]
        with files_end_at(allowed):
            answers = kinds(journal.commit(group))
        if answers == [None] * 3:
            break
        assert answers == ["storage_failed"] * 3
        failures += 1
        assert contents(journal) == before
        assert contents(opened()) == before  # and so it is on the disk
        allowed += 1009  # a frame of the log is 4120 bytes, so this hits each of them, at its edge and within
    assert failures > 4
    assert log.stat().st_size > 0
    assert contents(journal)[A][1][-2:] == records(last + 1, last + 2, "x" * 3000)


def test_the_journal_is_usable_again_right_after_a_write_failed(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A)])
    with files_end_at(4096):
        assert kinds(journal.commit([follow(A, 2, 9, "x" * 3000)])) == ["storage_failed"]
    stored(journal, [follow(A, 2, 2)])
    assert contents(opened())[A][1] == records(1, 2)


def test_a_file_that_may_not_grow_refuses_with_storage_full_at_every_size(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A)])
    db = journal._writer._db
    pages = int(db.execute("PRAGMA page_count").fetchone()[0])
    failures, room = 0, 0
    while True:
        db.execute(f"PRAGMA max_page_count={pages + room}").fetchall()
        before = contents(journal)
        answers = journal.commit([follow(A, 2, 9, "x" * 3000), begin(B, 3, "y" * 9000)])
        if answers == [None, None]:
            break
        assert kinds(answers) == ["storage_full", "storage_full"]
        failures += 1
        assert contents(journal) == before
        room += 1
    assert failures > 4
    assert contents(opened())[B][1] == records(1, 3, "y" * 9000)


def test_a_conflict_stays_a_conflict_when_the_disk_fails_the_others(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A)])
    journal._writer._db.execute("PRAGMA query_only=ON")
    assert kinds(journal.commit([follow(A, 7, 7), follow(A, 2, 2)])) == ["sequence_conflict", "storage_read_only"]


@ROOT_ONLY
def test_a_full_disk_refuses_appends_and_goes_on_reading_and_recovers(small_disk: Path) -> None:
    journal = SqliteJournal(small_disk / "journal.db")
    stored(journal, [begin(A), begin(B)])
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (1 << 20))
    last, answer = 1, None
    while answer is None:
        (answer,) = journal.commit([follow(A, last + 1, last + 1, "x" * 9000, durable=last % 2 == 0)])
        last += answer is None
    assert isinstance(answer, StorageFull)
    kept = contents(journal)
    assert kept[A][0].last_seq == last > 1
    filler.unlink()
    stored(journal, [follow(A, last + 1, last + 1)])
    journal.close()
    again = SqliteJournal(small_disk / "journal.db")
    assert contents(again)[A][1][:last] == kept[A][1]
    assert again.repair_report is None
    again.close()


@ROOT_ONLY
def test_no_room_to_open_is_storage_full(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * ((2 << 20) - 8192))
    with pytest.raises(StorageFull):
        SqliteJournal(small_disk / "journal.db")


@ROOT_ONLY
def test_a_read_only_file_system_is_told_at_opening(read_only_disk: Path) -> None:
    before = (read_only_disk / "journal.db").read_bytes()
    with pytest.raises(StorageReadOnly):
        SqliteJournal(read_only_disk / "journal.db")
    assert (read_only_disk / "journal.db").read_bytes() == before


def test_a_connection_that_may_not_write_refuses_and_reads_go_on(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 2)])
    journal._writer._db.execute("PRAGMA query_only=ON")
    assert kinds(journal.commit([follow(A, 3, 3)])) == ["storage_read_only"]
    with pytest.raises(StorageReadOnly):
        journal.delete(A)
    assert contents(journal)[A][1] == records(1, 2)
    journal._writer._db.execute("PRAGMA query_only=OFF")
    stored(journal, [follow(A, 3, 3)])


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "storage_full"),
        (errno.EDQUOT, "storage_full"),
        (errno.EROFS, "storage_read_only"),
        (errno.EACCES, "storage_read_only"),
        (errno.EIO, "storage_failed"),
    ],
)
def test_errors_of_the_system_are_told_apart(path: Path, number: int, code: str) -> None:
    assert journal_error(OSError(number, os.strerror(number)), path).code == code


def test_an_append_that_cannot_be_stored_is_refused_alone(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A)])
    answers: list[JournalError | None] = journal.commit([begin(B), begin(C, 1, "x"), follow(A, 2, 2)])
    assert answers == [None, None, None]
    poison = follow(A, 3, 3)
    force_setattr(poison.records[0], "turn", "\ud800")
    answers = journal.commit([follow(B, 2, 2), poison, follow(C, 2, 2)])
    assert kinds(answers) == [None, "journal", None]
    assert answers[1] is not None
    assert not answers[1].retryable
    assert {of: h.last_seq for of, (h, _) in contents(opened()).items()} == {A: 2, B: 2, C: 2}


def inject(path: Path, call: str, error: str, when: int) -> tuple[bytes, bool]:
    """Run a child whose n-th such system call fails; return what it said, and whether it came to its end."""
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
    command += ["-e", f"inject={call}:error={error}:when={when}"]
    command += [sys.executable, "-m", "tests.supervisor.journal.child", str(path), "few", "12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE_S, check=False)
    if b"ptrace" in done.stderr or b"PTRACE" in done.stderr:
        pytest.skip("this system does not let us trace")
    return done.stdout, done.returncode == 0


def fail_each(folder: Path, call: str, error: str, code: bytes, visits: Iterator[int]) -> int:
    failures = 0
    for when in visits:
        path = folder / f"{call}-{error}-{when}" / "journal.db"
        path.parent.mkdir()
        said, _ = inject(path, call, error, when)
        failures += b"no " in said
        assert all(line.endswith(code) for line in said.splitlines() if line.startswith(b"no "))
        journal = SqliteJournal(path)
        found = contents(journal)
        journal.close()
        assert journal.repair_report is None
        promised = acknowledged(said)
        check(found, promised)
        assert {of: h.last_seq for of, (h, _) in found.items()} == promised
        shutil.rmtree(path.parent)
    return failures


CALLS = [
    ("pwrite64", "EIO", b"storage_failed"),
    ("pwrite64", "ENOSPC", b"storage_full"),
    ("fdatasync", "EIO", b"storage_failed"),
]
STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace to let a system call fail")


@STRACE
@pytest.mark.parametrize(("call", "error", "code"), CALLS)
def test_a_system_call_that_fails_refuses_one_group_and_the_next_goes_on(
    tmp_path: Path, call: str, error: str, code: bytes
) -> None:
    assert fail_each(tmp_path, call, error, code, iter([90 if call == "pwrite64" else 14])) == 1


@STRACE
@pytest.mark.soak(takes_s=200)
@pytest.mark.parametrize(("call", "error", "code"), CALLS)
def test_every_system_call_that_fails_in_turn_leaves_exactly_what_was_acknowledged(
    tmp_path: Path, call: str, error: str, code: bytes
) -> None:
    last, step = (200, 1 if error == "EIO" else 3) if call == "pwrite64" else (40, 1)
    assert fail_each(tmp_path, call, error, code, iter(range(1, last, step))) > 5
