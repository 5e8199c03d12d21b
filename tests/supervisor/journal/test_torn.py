"""Files that end early or have a wrong byte: whole transactions before the place are kept, nothing is invented."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

from supervisor.journal import SqliteJournal
from tests.supervisor.journal.sample import A, B, Contents, begin, contents, follow, stored

PAGE = 4096
FRAME = PAGE + 24
LOG_HEADER = 32
STEP = 7  # in the long runs: no format of SQLite's is aligned to it, so in time every field is hit


@dataclass(frozen=True)
class Logged:
    """A file and its log, and how the log grew: after `ends[i]` bytes it held `states[i]`."""

    file: bytes
    log: bytes
    ends: list[int]
    states: list[Contents]

    def state_before(self, offset: int) -> Contents:
        return [state for end, state in zip(self.ends, self.states, strict=True) if end <= offset][-1]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    path = tmp_path_factory.mktemp("logged") / "journal.db"
    journal = SqliteJournal(path)
    stored(journal, [begin(A), begin(B)])
    journal.close()
    journal = SqliteJournal(path)
    log = path.with_name("journal.db-wal")
    ends, states = [0], [contents(journal)]
    for seq in (2, 3, 4):
        stored(journal, [follow(A, seq, seq), follow(B, seq, seq, "y" * 1500, durable=True)])
        ends.append(log.stat().st_size)
        states.append(contents(journal))
    # Reading it here drops SQLite's own locks on the file; nobody else is there to mind.
    found = Logged(path.read_bytes(), log.read_bytes(), ends, states)
    journal.close()
    return found


def reopened(folder: Path, file: bytes, log: bytes) -> tuple[Contents, str | None]:
    path = folder / "journal.db"
    for old in folder.iterdir():
        old.unlink()
    path.write_bytes(file)
    path.with_name("journal.db-wal").write_bytes(log)
    journal = SqliteJournal(path)
    try:
        return contents(journal), journal.repair_report
    finally:
        journal.close()


def around_each_frame(size: int) -> Iterator[int]:
    for edge in range(LOG_HEADER, size + 1, FRAME):
        yield from (edge - 1, edge, edge + 1, edge + 24, edge + 2000)


def check_cuts(folder: Path, logged: Logged, offsets: Iterator[int] | range) -> None:
    for offset in offsets:
        found, repaired = reopened(folder, logged.file, logged.log[:offset])
        assert found == logged.state_before(offset), offset
        assert repaired is None


def check_flips(folder: Path, logged: Logged, offsets: Iterator[int] | range) -> None:
    for offset in (offset for offset in offsets if offset < len(logged.log)):
        log = bytearray(logged.log)
        log[offset] ^= 0x10
        found, _ = reopened(folder, logged.file, bytes(log))
        # The checksums end the log at the frame of the wrong byte, so at the transaction before it.
        assert found == logged.state_before(offset), offset


def test_the_log_grew_with_each_commit(logged: Logged) -> None:
    assert logged.ends == sorted(set(logged.ends))
    assert [state[A][0].last_seq for state in logged.states] == [1, 2, 3, 4]


def test_a_log_that_ends_early_keeps_every_whole_transaction(tmp_path: Path, logged: Logged) -> None:
    check_cuts(tmp_path, logged, around_each_frame(len(logged.log)))


def test_a_wrong_byte_in_the_log_ends_it_at_the_transaction_before(tmp_path: Path, logged: Logged) -> None:
    check_flips(tmp_path, logged, range(0, LOG_HEADER, 5))
    check_flips(tmp_path, logged, (offset + 7 for offset in around_each_frame(len(logged.log))))


@pytest.mark.soak(takes_s=30)
def test_a_log_cut_anywhere_keeps_every_whole_transaction(tmp_path: Path, logged: Logged) -> None:
    check_cuts(tmp_path, logged, range(0, len(logged.log) + 1, STEP))


@pytest.mark.soak(takes_s=30)
def test_a_wrong_byte_anywhere_in_the_log_ends_it_at_the_transaction_before(tmp_path: Path, logged: Logged) -> None:
    check_flips(tmp_path, logged, range(0, len(logged.log), STEP))


def tail(path: Path) -> tuple[bytes, Contents]:
    """A closed file without a log, and what it holds."""
    journal = SqliteJournal(path)
    stored(journal, [begin(A, 3), begin(B, 3)])
    for seq in range(4, 40):
        stored(journal, [follow(A, seq, seq, "x" * 200), follow(B, seq, seq, "y" * 200)])
    whole = contents(journal)
    journal.close()
    return path.read_bytes(), whole


def check_file_cuts(folder: Path, *cuts: range) -> None:
    """Cut these numbers of bytes off the file's end, and check what is read."""
    raw, whole = tail(folder / "journal.db")
    for size in (len(raw) - missing for missing in chain(*cuts)):
        found, repaired = reopened(folder, raw[:size], b"")
        assert repaired is not None
        assert (folder / "journal.db.damaged-1").read_bytes() == raw[:size]
        assert set(found) <= set(whole)
        for of, (_, kept) in found.items():
            assert kept == whole[of][1][: len(kept)]
        assert sum(len(kept) for _, kept in found.values()) > 0


def test_a_file_that_ends_early_is_repaired_and_dense(tmp_path: Path) -> None:
    check_file_cuts(tmp_path, range(1, 3 * PAGE, 1531))


@pytest.mark.soak(takes_s=40)
def test_a_file_cut_anywhere_in_its_last_pages_is_repaired_and_dense(tmp_path: Path) -> None:
    check_file_cuts(tmp_path, range(1, PAGE + 1, STEP), range(PAGE + 1, 3 * PAGE, 11 * STEP))
