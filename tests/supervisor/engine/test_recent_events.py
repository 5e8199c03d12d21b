"""The latest stored events: cursors, waiting, and readers that were too slow."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.errors import SequenceConflict, StorageFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, Record
from supervisor.engine import recent_events
from supervisor.engine.recent_events import RecentEvents
from supervisor.journal import SqliteJournal
from supervisor.journal.store import TOLD_BYTES, TOLD_EVENTS
from tests.support.heads import idle_head

ONE = ConversationId("one")


def head(conversation: ConversationId, last: int) -> Head:
    return idle_head(conversation, last, generation=0)


def append(*seqs: int, conversation: ConversationId = ONE) -> Append:
    return Append(
        conversation,
        tuple(Record(seq, float(seq), None, "x", b'{"type":"x"}') for seq in seqs),
        head(conversation, seqs[-1]),
    )


def seqs(recent: RecentEvents, cursor: int | None, limit: int = 100) -> tuple[list[int], int, bool]:
    page = recent.read_after(cursor, limit)
    return [record.seq for _, record in page.records], page.cursor, page.lagged


def test_a_reader_from_now_on_gets_only_later_events() -> None:
    recent = RecentEvents()
    recent.publish([append(1)])
    found, cursor, lagged = seqs(recent, None)
    assert (found, lagged) == ([], False)
    recent.publish([append(2, 3)])
    assert seqs(recent, cursor) == ([2, 3], cursor + 2, False)


def test_a_limit_is_kept_and_the_cursor_goes_on_from_there() -> None:
    recent = RecentEvents()
    recent.publish([append(*range(1, 6))])
    assert seqs(recent, 0, 2) == ([1, 2], 2, False)
    assert seqs(recent, 2, 9) == ([3, 4, 5], 5, False)


def test_a_reader_that_is_too_slow_is_told_and_gets_the_kept_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_events, "KEPT_RECORDS", 3)
    recent = RecentEvents()
    recent.publish([append(*range(1, 6))])
    assert seqs(recent, 0) == ([3, 4, 5], 5, True)
    assert seqs(recent, 5) == ([], 5, False)


def test_kept_events_are_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_events, "KEPT_BYTES", 30)
    recent = RecentEvents()
    recent.publish([append(*range(1, 6))])
    assert seqs(recent, 0)[0] == [4, 5]


def test_a_cursor_of_another_life_is_lagging() -> None:
    recent = RecentEvents()
    recent.publish([append(1)])
    assert seqs(recent, 99) == ([1], 1, True)


def test_a_waiting_reader_is_woken_by_another_thread() -> None:
    recent = RecentEvents()

    async def wait() -> Any:
        waiting = asyncio.create_task(recent.wait(0, 10, 20.0))
        await asyncio.sleep(0)  # one step of the loop is what it takes to wait
        assert recent._waiting
        threading.Thread(target=recent.publish, args=([append(1)],)).start()
        return await waiting

    assert [record.seq for _, record in asyncio.run(wait()).records] == [1]


def test_a_wait_without_events_is_answered_and_forgotten() -> None:
    recent = RecentEvents()
    page = asyncio.run(recent.wait(0, 10, 0.01))
    assert (page.records, page.cursor, page.lagged) == ((), 0, False)
    assert not recent._waiting


@pytest.fixture
def publishing(tmp_path: Path) -> Iterator[tuple[SqliteJournal, RecentEvents, list[ConversationId]]]:
    """A journal, the events that it published, and the conversations that it reported as deleted."""
    recent, forgotten = RecentEvents(), list[ConversationId]()
    journal = SqliteJournal(
        tmp_path / "journal.sqlite3", stored=recent.publish, forgotten=lambda one, _: forgotten.append(one)
    )
    yield journal, recent, forgotten
    journal.close()


PublishingJournal = tuple[SqliteJournal, RecentEvents, list[ConversationId]]


def test_only_what_the_journal_has_kept_is_published(publishing: PublishingJournal) -> None:
    journal, recent, _ = publishing
    outcomes = journal.commit([append(1), append(5, conversation=ConversationId("gap"))])
    assert [error is None for error in outcomes] == [True, False]
    assert not seqs(recent, 0)[0], "its owner is told first"
    journal.publish()
    assert seqs(recent, 0)[0] == [1]


def test_of_a_history_that_comes_whole_the_end_is_published(publishing: PublishingJournal) -> None:
    journal, recent, _ = publishing
    recent.publish([append(1)])
    whole = append(*range(7, 1007))
    journal.adopt(head(ONE, 1006), 7, whole.records)
    journal.publish()
    assert seqs(recent, 0) == ([1, *range(1007 - TOLD_EVENTS, 1007)], 1 + TOLD_EVENTS, False)
    assert {conversation for conversation, _ in recent.read_after(1, 100).records} == {ONE}


def test_of_long_events_that_come_whole_as_many_are_published_as_leave_room_for_others(
    publishing: PublishingJournal,
) -> None:
    journal, recent, _ = publishing
    long = tuple(Record(seq, 0.0, None, "x", b'"%s"' % (b"x" * (TOLD_BYTES // 3))) for seq in range(1, 10))
    journal.adopt(head(ONE, 9), 1, long)
    journal.publish()
    assert seqs(recent, 0)[0] == [8, 9]
    longer = Record(1, 0.0, None, "x", b'"%s"' % (b"x" * (2 * TOLD_BYTES)))
    journal.adopt(head(ConversationId("two"), 1), 1, [longer])
    journal.publish()
    assert seqs(recent, 2)[0] == [1]


def test_a_history_that_is_refused_is_not_published(publishing: PublishingJournal) -> None:
    journal, recent, _ = publishing
    with pytest.raises(SequenceConflict):
        journal.adopt(head(ONE, 3), 1, append(1, 3).records)
    assert seqs(recent, 0)[0] == []


def test_a_deletion_is_published_when_the_journal_has_forgotten_the_conversation(
    publishing: PublishingJournal,
) -> None:
    journal, _, forgotten = publishing
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
