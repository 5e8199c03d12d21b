"""The feed of everything stored: cursors, waiting, and saying when somebody was too slow."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.errors import SequenceConflict, StorageFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, Record
from supervisor.journal import SqliteJournal
from supervisor.journal.store import TOLD_BYTES, TOLD_EVENTS
from supervisor.services import recent_events as feeds
from supervisor.services.recent_events import Feed

ONE = ConversationId("one")


def head(conversation: ConversationId, last: int) -> Head:
    return Head(conversation, None, "/", "m", "idle", "", b"{}", b"{}", 0, 0.0, 0.0, last, 0)


def append(*seqs: int, conversation: ConversationId = ONE) -> Append:
    return Append(
        conversation,
        tuple(Record(seq, float(seq), None, "x", b'{"type":"x"}') for seq in seqs),
        head(conversation, seqs[-1]),
    )


def seqs(feed: Feed, cursor: int | None, limit: int = 100) -> tuple[list[int], int, bool]:
    news = feed.after(cursor, limit)
    return [record.seq for _, record in news.records], news.cursor, news.lagged


def test_who_asks_from_now_on_gets_what_comes_after() -> None:
    feed = Feed()
    feed.publish([append(1)])
    found, cursor, lagged = seqs(feed, None)
    assert (found, lagged) == ([], False)
    feed.publish([append(2, 3)])
    assert seqs(feed, cursor) == ([2, 3], cursor + 2, False)


def test_a_limit_is_kept_and_the_cursor_goes_on_from_there() -> None:
    feed = Feed()
    feed.publish([append(*range(1, 6))])
    assert seqs(feed, 0, 2) == ([1, 2], 2, False)
    assert seqs(feed, 2, 9) == ([3, 4, 5], 5, False)


def test_who_is_too_slow_is_told_and_gets_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "KEPT_RECORDS", 3)
    feed = Feed()
    feed.publish([append(*range(1, 6))])
    assert seqs(feed, 0) == ([3, 4, 5], 5, True)
    assert seqs(feed, 5) == ([], 5, False)


def test_what_is_kept_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "KEPT_BYTES", 30)
    feed = Feed()
    feed.publish([append(*range(1, 6))])
    assert seqs(feed, 0)[0] == [4, 5]


def test_a_cursor_of_another_life_is_lagging() -> None:
    feed = Feed()
    feed.publish([append(1)])
    assert seqs(feed, 99) == ([1], 1, True)


def test_who_waits_is_woken_by_another_thread() -> None:
    feed = Feed()

    async def wait() -> Any:
        waiting = asyncio.create_task(feed.wait(0, 10, 20.0))
        await asyncio.sleep(0)  # one step of the loop is what it takes to wait
        assert feed._waiting
        threading.Thread(target=feed.publish, args=([append(1)],)).start()
        return await waiting

    assert [record.seq for _, record in asyncio.run(wait()).records] == [1]


def test_who_waits_in_vain_is_answered_and_forgotten() -> None:
    feed = Feed()
    news = asyncio.run(feed.wait(0, 10, 0.01))
    assert (news.records, news.cursor, news.lagged) == ((), 0, False)
    assert not feed._waiting


@pytest.fixture
def overheard(tmp_path: Path) -> Iterator[tuple[SqliteJournal, Feed, list[ConversationId]]]:
    """A journal, what is said of it, and what it has said to be forgotten."""
    feed, forgotten = Feed(), list[ConversationId]()
    journal = SqliteJournal(tmp_path / "journal.sqlite3", stored=feed.publish, forgotten=forgotten.append)
    yield journal, feed, forgotten
    journal.close()


Overheard = tuple[SqliteJournal, Feed, list[ConversationId]]


def test_only_what_the_journal_has_kept_is_published(overheard: Overheard) -> None:
    journal, feed, _ = overheard
    outcomes = journal.commit([append(1), append(5, conversation=ConversationId("gap"))])
    assert [error is None for error in outcomes] == [True, False]
    assert seqs(feed, 0)[0] == [1]


def test_of_a_history_that_comes_whole_the_end_is_published(overheard: Overheard) -> None:
    journal, feed, _ = overheard
    feed.publish([append(1)])
    whole = append(*range(7, 1007))
    journal.adopt(head(ONE, 1006), 7, whole.records)
    assert seqs(feed, 0) == ([1, *range(1007 - TOLD_EVENTS, 1007)], 1 + TOLD_EVENTS, False)
    assert {conversation for conversation, _ in feed.after(1, 100).records} == {ONE}


def test_of_long_events_that_come_whole_as_many_are_published_as_leave_room_for_others(overheard: Overheard) -> None:
    journal, feed, _ = overheard
    long = tuple(Record(seq, 0.0, None, "x", b'"%s"' % (b"x" * (TOLD_BYTES // 3))) for seq in range(1, 10))
    journal.adopt(head(ONE, 9), 1, long)
    assert seqs(feed, 0)[0] == [8, 9]
    longer = Record(1, 0.0, None, "x", b'"%s"' % (b"x" * (2 * TOLD_BYTES)))
    journal.adopt(head(ConversationId("two"), 1), 1, [longer])
    assert seqs(feed, 2)[0] == [1]


def test_a_history_that_is_refused_is_not_published(overheard: Overheard) -> None:
    journal, feed, _ = overheard
    with pytest.raises(SequenceConflict):
        journal.adopt(head(ONE, 3), 1, append(1, 3).records)
    assert seqs(feed, 0)[0] == []


def test_who_remembers_a_conversation_is_told_that_the_journal_has_forgotten_it_and_not_before(
    overheard: Overheard,
) -> None:
    journal, _, forgotten = overheard
    journal.commit([append(1)])
    journal.delete(ConversationId("nobody"))
    assert forgotten == []
    journal.delete(ONE)
    assert forgotten == [ONE]
    journal.commit([append(1)])
    journal.close()
    with pytest.raises(StorageFailed):
        journal.delete(ONE)
    assert forgotten == [ONE]
