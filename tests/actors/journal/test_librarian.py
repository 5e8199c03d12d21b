"""The librarian alone: pages, loads, and a journal that can't be read."""

from typing import Any

import pytest

from actors.journal.librarian import PAGE_RECORDS, Librarian
from actors.messages.conversation import PageRead
from actors.messages.effects import ReadPage
from actors.messages.journal import FetchPage, Load, LoadedState
from actors.runtime.base import Ref
from actors.vocabulary.errors import StorageFailed
from actors.vocabulary.ids import ConversationId, SubscriptionId
from actors.vocabulary.records import PAGE_BYTES, Append, Page, Record
from tests.actors.journal.test_journalist import Box, Gone
from tests.fakes.journal import FakeJournal
from tests.fakes.stage import Stage
from tests.support.heads import idle_head

A = ConversationId("aaaa-0001")
SUBSCRIPTION = SubscriptionId("s")


class Library:
    """A journal with one conversation of so many records, its checkpoint behind the tenth."""

    def __init__(self, records: int) -> None:
        self.journal, self.stage, self.box = FakeJournal(), Stage(), Box()
        stored = tuple(Record(seq, 0.0, None, "background_event", b"{}") for seq in range(1, records + 1))
        self.head = idle_head(A, records, checkpoint_seq=10)
        assert self.journal.commit([Append(A, stored, self.head)]) == [None]
        self.ref: Ref[Any] = self.stage.start(Librarian(self.journal))

    def told(self, message: object) -> list[object]:
        self.ref.tell(message)
        self.stage.run()
        return self.box.heard


@pytest.mark.parametrize("records", [10, 11, 10 + PAGE_RECORDS, 3 * PAGE_RECORDS])
def test_a_load_has_everything_after_the_checkpoint(records: int) -> None:
    library = Library(records)
    (loaded,) = library.told(Load(A, library.box))
    assert isinstance(loaded, LoadedState)
    assert loaded.head == library.head
    assert [record.seq for record in loaded.records] == list(range(11, records + 1))


def test_a_load_of_what_never_was_has_nothing() -> None:
    library = Library(10)
    assert library.told(Load(ConversationId("zzzz"), library.box)) == [LoadedState(None, ())]


def test_a_page_goes_to_the_reader_who_asked_for_it() -> None:
    library = Library(20)
    (read,) = library.told(FetchPage(A, ReadPage(SUBSCRIPTION, 5, 3), library.box))
    assert isinstance(read, PageRead)
    assert isinstance(read.page, Page)
    assert (read.subscription, [record.seq for record in read.page.records]) == (SUBSCRIPTION, [6, 7, 8])


def test_a_journal_that_can_not_be_read_is_said_to_everybody_who_waits() -> None:
    library = Library(20)
    library.journal.unreadable = StorageFailed("the disk is gone")
    library.told(FetchPage(A, ReadPage(SUBSCRIPTION, 5, 3), library.box))
    heard = library.told(Load(A, library.box))
    assert heard == [PageRead(SUBSCRIPTION, None), LoadedState(None, (), StorageFailed("the disk is gone"))]
    assert library.ref.alive


def test_a_reader_that_is_gone_keeps_nobody_waiting() -> None:
    library = Library(20)
    library.ref.tell(FetchPage(A, ReadPage(SUBSCRIPTION, 5, 3), Gone()))
    assert len(library.told(Load(A, library.box))) == 1


def test_a_page_of_long_events_ends_early_so_that_nobody_waits_for_its_writing() -> None:
    library = Library(20)
    long = tuple(Record(seq, 0.0, None, "background_event", b"x" * (PAGE_BYTES // 2)) for seq in range(21, 30))
    assert library.journal.commit([Append(A, long)]) == [None]
    (read,) = library.told(FetchPage(A, ReadPage(SUBSCRIPTION, 18, 256), library.box))
    assert isinstance(read, PageRead)
    assert read.page is not None
    assert [record.seq for record in read.page.records] == [19, 20, 21]
