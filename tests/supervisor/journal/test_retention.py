"""Retention: the events that it deletes, those that it must not delete, and the size of each step."""

import sqlite3
from pathlib import Path

import pytest

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append
from supervisor.journal import Retention, SqliteJournal
from supervisor.journal.retention import SLACK_PAGES, STEP_EVENTS, STEP_PAGES
from tests.supervisor.journal.conftest import Open
from tests.supervisor.journal.sample import A, B, begin, contents, conversation, follow, head, record, records, stored

SLEEPING = 4_000
A_FEW = 200  # operations of SQLite: fewer than conversations by far
NOW = 10_000.0  # the samples' events are of 1001, 1002, …


def prune(journal: SqliteJournal, policy: Retention, now: float = NOW) -> int:
    steps = 1
    while journal.prune(now, policy):
        steps += 1
    return steps


def first_seqs(journal: SqliteJournal) -> dict[ConversationId, int]:
    return {of: events[0].seq if events else h.last_seq + 1 for of, (h, events) in contents(journal).items()}


def first_seq(journal: SqliteJournal, of: ConversationId) -> int:
    page = journal.read(of, 0, 1)
    assert page is not None
    return page.first_seq


def test_the_newest_events_stay_and_pages_tell_where_they_begin(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 10, checkpoint_seq=10), begin(B, 3, checkpoint_seq=3)])
    prune(journal, Retention(max_events=4))
    assert first_seqs(journal) == {A: 7, B: 1}
    page = journal.read(A, 0, 2)
    assert page is not None
    assert (page.first_seq, page.last_seq, [r.seq for r in page.records]) == (7, 10, [7, 8])
    back = journal.read_back(A, 9, 5)
    assert back is not None
    assert ([r.seq for r in back.records], back.is_the_beginning) == ([7, 8], True)


def test_events_older_than_the_age_go_and_the_head_stays(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 10, checkpoint_seq=10), begin(B, 3, checkpoint_seq=3)])
    prune(journal, Retention(max_age_s=100), now=1105.0)
    assert first_seqs(journal) == {A: 5, B: 4}
    assert journal.head(B) == head(B, 3, checkpoint_seq=3)
    stored(journal, [follow(B, 4, 5)])
    assert contents(opened())[B][1] == records(4, 5)


def test_events_after_the_checkpoint_are_never_taken(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 10, checkpoint_seq=6), begin(B, 10)])
    prune(journal, Retention(max_age_s=0, max_events=0))
    assert first_seqs(journal) == {A: 7, B: 1}


def test_conversations_are_never_taken_whole_however_old_they_are(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3)])
    stored(journal, [Append(A, (), head(A, 3, archived=True))])
    prune(journal, Retention(max_age_s=1000))
    assert list(contents(journal)) == [A]


def test_keeping_for_ever_takes_nothing(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 3), begin(B, 3)])
    before = contents(journal)
    prune(journal, Retention())
    assert contents(journal) == before


def test_no_step_takes_more_than_its_share(opened: Open) -> None:
    journal = opened()
    count = 2 * STEP_EVENTS + 1
    stored(journal, [begin(A, count, checkpoint_seq=count), begin(B, count, checkpoint_seq=count)])
    db = journal._writer._db
    left, more = [2 * count], True
    while more:
        more = journal.prune(NOW, Retention(max_events=0))
        left.append(int(db.execute("SELECT count(*) FROM events").fetchone()[0]))
        assert 0 <= left[-2] - left[-1] <= STEP_EVENTS
        contents(journal)  # dense and readable between any two steps
    assert left[-1] == 0


def test_commits_go_on_between_the_steps(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 2000, checkpoint_seq=2000)])
    last = 2000
    while journal.prune(NOW, Retention(max_events=1000)):
        last += 1
        stored(journal, [follow(A, last, last)])
    found = contents(opened())[A][1]
    assert found[-1].seq == last > 2000
    assert 1000 <= len(found) <= 1010


def test_every_conversation_is_looked_at_in_turn(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(of, 2, checkpoint_seq=2) for of in (conversation(n) for n in range(1000))])
    assert prune(journal, Retention(max_events=1)) > 5
    assert set(first_seqs(journal).values()) == {2}


def test_a_pass_looks_at_the_events_of_those_alone_that_may_have_old_events(opened: Open) -> None:
    journal = opened()
    ids = [conversation(n) for n in range(1000)]
    stored(journal, [begin(of, 2, checkpoint_seq=2) for of in ids])
    stored(journal, [Append(of, (record(3, ts=5000.0),), head(of, 3, checkpoint_seq=3)) for of in ids[:7]])
    db = journal._writer._db

    def looks(now: float) -> int:
        seen: list[str] = []
        db.set_trace_callback(seen.append)
        prune(journal, Retention(max_age_s=1000, max_events=100), now)
        db.set_trace_callback(None)
        return len([one for one in seen if one.startswith("SELECT ts FROM events")])

    assert looks(now=2000.0) >= 1000  # nobody knows yet how old they are
    assert looks(now=2001.0) == 0
    journal = opened()
    db = journal._writer._db
    assert looks(now=2001.0) == 0  # it is in the file
    stored(journal, [begin(conversation(2000), 102, checkpoint_seq=102)])
    assert 0 < looks(now=2001.0) < 5
    assert looks(now=3002.0) >= 1000  # some of all of them are too old now
    assert looks(now=3003.0) < 1000
    assert {first_seqs(journal)[of] for of in ids[:7]} == {3}


def operations(journal: SqliteJournal, policy: Retention, now: float) -> int:
    """The operations of SQLite in a pass."""
    count = 0

    def one_more() -> None:
        nonlocal count
        count += 1

    db = journal._writer._db
    db.set_progress_handler(one_more, 1)
    prune(journal, policy, now)
    db.set_progress_handler(None, 1)
    return count


@pytest.mark.parametrize("policy", [Retention(max_age_s=1000), Retention(max_events=4), Retention(1000, 4)])
@pytest.mark.parametrize("kept", ["whole", "behind the checkpoint", "the head alone"])
def test_a_pass_over_what_sleeps_costs_nothing(opened: Open, policy: Retention, kept: str) -> None:
    journal = opened()
    checkpoint_seq = 0 if kept == "behind the checkpoint" else 1
    ids = [conversation(n) for n in range(SLEEPING)]
    stored(journal, [begin(of, checkpoint_seq=checkpoint_seq) for of in ids])
    prune(journal, Retention(max_age_s=0) if kept == "the head alone" else policy, now=2000.0)
    prune(journal, policy, now=2000.0)  # a limit that is new is compared with all, once
    now = 2000.0 if kept == "whole" else 9000.0
    assert operations(journal, policy, now) < A_FEW
    assert operations(opened(), policy, now) < A_FEW
    journal = opened()
    stored(journal, [Append(ids[7], records(2, 9), head(ids[7], 9, checkpoint_seq=9))])
    assert operations(journal, policy, now=1500.0) < 2 * A_FEW
    assert first_seq(journal, ids[7]) == (6 if policy.max_events else 2 if kept == "the head alone" else 1)


def test_sleeping_conversations_are_compared_with_a_new_limit_once(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supervisor.journal.retention.STEP_ROWS", 10)
    journal = opened()
    ids = [conversation(n) for n in range(35)]
    stored(journal, [begin(of, 20, checkpoint_seq=20) for of in ids])
    prune(journal, Retention(max_events=15))
    assert set(first_seqs(journal).values()) == {6}
    for _ in range(2):  # cut off in the middle, and taken up by another life
        assert journal.prune(NOW, Retention(max_events=10))
        journal = opened()
    prune(journal, Retention(max_events=10))
    assert set(first_seqs(journal).values()) == {11}
    prune(journal, Retention(max_age_s=1e9))
    prune(journal, Retention(max_events=20))
    prune(journal, Retention(max_events=5))
    assert set(first_seqs(journal).values()) == {16}


def test_conversations_checked_without_a_limit_are_compared_when_the_old_limit_returns(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 4, checkpoint_seq=4)])
    prune(journal, Retention(max_events=4))
    prune(journal, Retention())
    stored(journal, [Append(A, records(5, 8), head(A, 8, checkpoint_seq=8))])
    prune(journal, Retention(max_age_s=1e9))
    assert first_seqs(journal) == {A: 1}
    prune(journal, Retention(max_events=4))
    assert first_seqs(journal) == {A: 5}


def test_events_without_a_head_wait_for_the_next_head(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 4, checkpoint_seq=4)])
    prune(journal, Retention(max_events=4))
    stored(journal, [follow(A, 5, 8)])
    prune(journal, Retention(max_events=4))
    journal = opened()  # as after a death in a turn, which gets its end then
    stored(journal, [Append(A, records(9, 9), head(A, 9, checkpoint_seq=9))])
    prune(journal, Retention(max_events=4))
    assert first_seqs(journal) == {A: 6}


def test_a_pass_ends_though_heads_are_stored_between_all_its_steps(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 2 * STEP_EVENTS, checkpoint_seq=2 * STEP_EVENTS)])
    last, steps = 2 * STEP_EVENTS, 1
    while journal.prune(NOW, Retention(max_events=10)):
        last, steps = last + 1, steps + 1
        stored(journal, [Append(A, (record(last),), head(A, last, checkpoint_seq=last))])
        assert steps < 5


def test_times_before_the_epoch_do_not_hold_up_a_pass(opened: Open) -> None:
    journal = opened()
    stored(journal, [Append(A, (record(1, ts=-5.0), record(2, ts=0.0)), head(A, 2, checkpoint_seq=2))])
    for policy in (Retention(max_events=5), Retention(max_age_s=1e6)):
        assert prune(journal, policy) == 1
    assert first_seqs(journal) == {A: 1}
    prune(journal, Retention(max_age_s=100))
    assert first_seqs(journal) == {A: 3}


def test_an_emptied_conversation_is_checked_when_its_later_events_are_too_old(opened: Open) -> None:
    journal = opened()
    stored(journal, [begin(A, 2, checkpoint_seq=2)])
    prune(journal, Retention(max_age_s=100), now=2000.0)
    stored(journal, [Append(A, (record(3, ts=2010.0),), head(A, 3, checkpoint_seq=3))])
    prune(journal, Retention(max_age_s=100), now=2105.0)
    assert first_seqs(journal) == {A: 3}
    prune(journal, Retention(max_age_s=100), now=2111.0)
    assert first_seqs(journal) == {A: 4}


def test_free_pages_are_given_back_in_steps(opened: Open, path: Path) -> None:
    journal = opened()
    stored(journal, [begin(A, 800, "x" * 4000, checkpoint_seq=800), begin(B, 2)])
    journal = opened()
    large = path.stat().st_size
    db = journal._writer._db
    free = [0]
    while journal.prune(NOW, Retention(max_events=1)):
        free.append(int(db.execute("PRAGMA freelist_count").fetchone()[0]))
        assert free[-2] - free[-1] <= STEP_PAGES
    assert max(free) > SLACK_PAGES + 2 * STEP_PAGES
    top = free.index(max(free))
    assert free[top] - free[top + 1] == STEP_PAGES
    assert free[-1] <= SLACK_PAGES
    opened()
    assert path.stat().st_size < large / 2


def test_a_delete_that_was_cut_off_is_finished_by_pruning(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = opened()
    stored(journal, [begin(A, 2000), begin(B)])

    def stop(_db: sqlite3.Connection, _key: int) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("supervisor.journal.retention.erase", stop)
    with pytest.raises(KeyboardInterrupt):
        journal.delete(A)
    monkeypatch.undo()
    journal = opened()
    assert list(contents(journal)) == [B]
    assert prune(journal, Retention()) > 4
    assert journal._writer._db.execute("SELECT count(*) FROM events").fetchone() == (1,)
