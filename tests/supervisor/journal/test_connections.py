"""Reading from many threads: one snapshot each, never in the writer's way, and nothing is left open."""

import resource
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.vocabulary.errors import StorageFailed
from supervisor.journal import SqliteJournal
from supervisor.journal.connections import MOST_IDLE, read_page
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, begin, contents, follow, records, rows, stored

CROWD = 10  # more readers at once than connections are kept
JOIN_S = 20.0  # a bound for threads that only read


def open_files(path: Path) -> int:
    """The number of descriptors of this process that lead to the journal or its companions."""
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("counting descriptors needs /proc")
    found = 0
    for fd in list(folder.iterdir()):
        try:
            found += str(fd.readlink()).startswith(str(path))
        except OSError:
            continue  # the descriptor of the listing itself
    return found


def run(work: list[Callable[[], object]]) -> None:
    """Run all at once: nobody begins before everybody is there. Errors are raised here."""
    gate = threading.Barrier(len(work))
    failures: list[BaseException] = []

    def one(job: Callable[[], object]) -> None:
        gate.wait(JOIN_S)
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again below, on the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=one, args=(job,), daemon=True) for job in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_S)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_threads_that_come_and_go_leave_nothing_open(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A, 20)])
    for _ in range(8):
        run([lambda: contents(journal)] * CROWD)
    assert len(journal._connections._idle) <= MOST_IDLE
    # Lock, file, log, shared memory, and the handles that tell whether file and log are still there; the log for each
    # idle reader. The file stays open as often as it ever was at once: closing one would drop the locks of all, so
    # SQLite keeps the descriptors and uses them again.
    assert open_files(path) <= 6 + MOST_IDLE + CROWD
    journal.close()
    assert open_files(path) == 0


def test_a_reader_in_the_middle_of_its_snapshot_does_not_hold_the_writer(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    with journal._connections.snapshot() as db:
        before = read_page(db, A, 0, 10, 1 << 20, 1 << 20)
        stored(journal, [follow(A, 4, 4, durable=True)])  # if readers were in its way it would be refused
        assert read_page(db, A, 0, 10, 1 << 20, 1 << 20) == before
    page = journal.read(A, 0, 10)
    assert page is not None
    assert page.last_seq == 4


def test_a_writer_in_the_middle_of_its_transaction_does_not_hold_readers(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    before = contents(journal)
    found = []
    with journal._writer.transaction(durable=True) as db:
        db.execute("DELETE FROM events")
        run([lambda: found.append(contents(journal))] * 4)
    assert found == [before] * 4


def test_readers_see_whole_groups_while_the_writer_goes_on(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A), begin(B)])
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            lasts = {h.conversation: h.last_seq for h in rows(journal)}
            assert lasts[A] == lasts[B]
            page = journal.read(A, lasts[A] - 1, 10)
            assert page is not None
            assert page.records[0].seq == lasts[A]

    def write() -> None:
        try:
            for seq in range(2, 200):
                stored(journal, [follow(A, seq, seq), follow(B, seq, seq)])
        finally:
            done.set()

    run([write, look, look])
    assert contents(journal)[A][1] == records(1, 199)


def test_a_reader_that_is_out_when_the_journal_closes_is_closed_when_it_returns(path: Path) -> None:
    journal = SqliteJournal(path)
    stored(journal, [begin(A, 3)])
    with journal._connections.snapshot() as db:
        journal.close()
        assert read_page(db, A, 0, 10, 1 << 20, 1 << 20) is not None
    assert open_files(path) == 0
    with pytest.raises(StorageFailed, match="closed"):
        journal.head(A)


def test_running_out_of_descriptors_is_a_typed_error_and_passes(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # what is open stays open, nothing more will be
    try:
        with pytest.raises(StorageFailed):
            journal.read(A, 0, 1)
        stored(journal, [follow(A, 4, 4)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert contents(journal)[A][1] == records(1, 4)
