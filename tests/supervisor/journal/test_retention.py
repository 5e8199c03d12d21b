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

NOW = 10_000.0  # the samples' events are of 1001, 1002, …


def prune(journal: SqliteJournal, policy: Retention, now: float = NOW) -> int:
    steps = 1
    while journal.prune(now, policy):
        steps += 1
    return steps


def first_seqs(journal: SqliteJournal) -> dict[ConversationId, int]:
    return {of: events[0].seq if events else h.last_seq + 1 for of, (h, events) in contents(journal).items()}


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
    left = [2 * count]
    while journal.prune(NOW, Retention(max_events=0)):
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


def test_what_was_emptied_is_looked_at_when_what_came_after_is_too_old(opened: Open) -> None:
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
