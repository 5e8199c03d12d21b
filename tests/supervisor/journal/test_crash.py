"""kill -9 in every window: nothing acknowledged is lost, nothing is there twice, nothing is half done."""

import random
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from actors.vocabulary.ids import ConversationId
from supervisor.journal import SqliteJournal
from supervisor.journal.schema import MIGRATIONS, connect, version
from tests.supervisor.journal.child import SPOKEN, text
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, Contents, begin, contents, conversation, follow, record, stored
from tests.supervisor.journal.test_damage import root, ruin, suspect
from tests.support.mortal import CrashPoint

ROOT = Path(__file__).resolve().parents[3]
FULL, NORMAL = 2, 1  # SQLite's numbers for them
PATIENCE_S = 30.0  # for a child that should have died at its crash point


def start(path: Path, what: str, argument: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.supervisor.journal.child", str(path), what, str(argument)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def die(path: Path, point: CrashPoint, visit: int = 1) -> dict[ConversationId, int]:
    """Run a child into the crash point; return what it acknowledged before."""
    with start(path, point, visit) as child:
        said, complaint = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == -signal.SIGKILL, complaint.decode()
    return acknowledged(said)


def acknowledged(said: bytes) -> dict[ConversationId, int]:
    """The last acknowledged number of each conversation. A line that was cut off by the kill is not one."""
    last: dict[ConversationId, int] = defaultdict(int)
    for line in said.decode().split("\n")[:-1]:
        verdict, of, seq, *_ = line.split(" ")
        if verdict == "ok":
            assert int(seq) == last[ConversationId(of)] + 1 or last[ConversationId(of)] == 0
            last[ConversationId(of)] = int(seq)
    return last


def check(found: Contents, promised: dict[ConversationId, int]) -> None:
    numbers = {conversation(n): n for n in range(SPOKEN)}
    for of, (_, events) in found.items():
        assert events == tuple(record(seq, text(numbers[of], seq)) for seq in range(1, len(events) + 1))
    for of, last in promised.items():
        assert found[of][0].last_seq >= last


def total(found: Contents) -> int:
    return sum(len(events) for _, events in found.values())


@pytest.mark.parametrize("visit", [1, 2, 5])
def test_a_crash_before_the_commit_leaves_exactly_what_was_acknowledged(opened: Open, path: Path, visit: int) -> None:
    promised = die(path, CrashPoint.BEFORE_COMMIT, visit)
    found = contents(opened())
    check(found, promised)
    assert {of: h.last_seq for of, (h, _) in found.items()} == promised


@pytest.mark.parametrize("visit", [1, 2, 5])
def test_a_crash_after_the_commit_loses_nothing_of_it(opened: Open, path: Path, visit: int) -> None:
    promised = die(path, CrashPoint.AFTER_COMMIT, visit)
    found = contents(opened())
    check(found, promised)
    # The group that was committed when it died is there whole, though nobody heard of it.
    assert total(found) > sum(promised.values())


def test_a_crash_in_a_migration_leaves_the_old_schema_and_all_events(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    before = contents(journal)
    journal.close()
    die(path, CrashPoint.IN_MIGRATION)
    assert contents(opened()) == before
    opened().close()
    db = connect(path, read_only=True)
    assert version(db) == len(MIGRATIONS)
    db.close()


def test_a_crash_in_retention_leaves_each_conversation_dense(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(of, 30, checkpoint_seq=30) for of in (A, B)])
    before = contents(journal)
    journal.close()
    die(path, CrashPoint.IN_RETENTION, 2)
    assert contents(opened()) == before  # both were in the one step that was cut off


@pytest.mark.parametrize("point", [CrashPoint.REPAIR_COPIED, CrashPoint.REPAIR_MOVED])
def test_a_crash_in_a_repair_is_taken_up_where_it_stopped(opened: Open, path: Path, point: CrashPoint) -> None:
    journal = opened()
    stored(journal, [begin(A, 30)])
    before = contents(journal)
    journal.close()
    ruin(path, root(path, "sqlite_autoindex_events_1"))
    suspect(path)
    damaged = path.read_bytes()
    die(path, point)
    journal = opened()
    assert "kept 30 events of 1 conversations" in str(journal.repair_report)
    assert contents(journal) == before
    assert path.with_name("journal.db.damaged-1").read_bytes() == damaged
    assert not list(path.parent.glob("*.repair*"))


def test_a_group_is_synced_when_anything_in_it_asks_for_that(opened: Open) -> None:
    journal = opened()
    levels = []
    for group in (
        [begin(A), follow(A, 2, 2)],
        [follow(A, 3, 3)],
        [follow(A, 4, 4), follow(A, 5, 5, durable=True)],
        [follow(A, 6, 6), follow(A, 8, 8, durable=True)],  # refused, so it asks for nothing
    ):
        journal.commit(group)
        levels.append(journal._writer._db.execute("PRAGMA synchronous").fetchone()[0])
    assert levels == [FULL, NORMAL, FULL, NORMAL]


def kill_again_and_again(path: Path, cycles: int) -> None:
    chance = random.Random(cycles)
    known: dict[ConversationId, int] = {}
    for cycle in range(cycles):
        with start(path, "write", cycle) as child:
            assert child.stdout is not None
            heard = [child.stdout.readline() for _ in range(chance.randint(1, 400))]
            child.kill()
            said = b"".join(heard) + child.stdout.read()
        assert child.returncode == -signal.SIGKILL
        journal = SqliteJournal(path)
        found = contents(journal)
        assert journal.repair_report is None
        journal.close()
        known = {of: max(last, known.get(of, 0)) for of, last in {**known, **acknowledged(said)}.items()}
        check(found, known)
        known = {of: h.last_seq for of, (h, _) in found.items()}  # what is there stays there, heard of or not
    assert sum(known.values()) > cycles


def test_a_writer_killed_at_random_loses_nothing_it_acknowledged(path: Path) -> None:
    kill_again_and_again(path, 6)


@pytest.mark.soak(takes_s=130)
def test_a_hundred_kills_of_a_writer_lose_nothing_it_acknowledged(path: Path) -> None:
    kill_again_and_again(path, 100)
