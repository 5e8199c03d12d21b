"""The journalist alone: groups, answers, and a journal that fails."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from actors.journal.journalist import GROUP, Journalist
from actors.journal.librarian import Librarian
from actors.messages.conversation import AppendRefused, Committed
from actors.messages.journal import ConversationErased, Erase, Load, LoadedState, Store
from actors.vocabulary.errors import ActorGone, JournalError, SequenceConflict, StorageFailed, StorageFull
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Record
from tests.fakes.journal import FakeJournal
from tests.fakes.stage import Stage
from tests.support.heads import idle_head

A = ConversationId("aaaa-0001")


class Box:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def tell(self, message: object) -> None:
        self.heard.append(message)


class Gone:
    def tell(self, _: object) -> None:
        raise ActorGone("ended")


class Counting(FakeJournal):
    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []
        self.breaks = False

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        self.groups.append(len(appends))
        if self.breaks:
            raise OSError("the disk is gone")
        return super().commit(appends)


HEAD = idle_head(A)


def append(seq: int, conversation: ConversationId = A) -> Append:
    """An append; the first of a conversation carries its head."""
    head = replace(HEAD, conversation=conversation) if seq == 1 else None
    return Append(conversation, (Record(seq, 0.0, None, "background_event", b"{}"),), head)


@pytest.fixture
def journal() -> Counting:
    return Counting()


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def journalist(stage: Stage, journal: Counting) -> Journalist:
    actor = Journalist(journal, stage.start(Librarian(journal)))
    stage.start(actor)
    stage.run()
    return actor


def test_waiting_appends_are_committed_together_up_to_a_bound(
    stage: Stage, journalist: Journalist, journal: Counting
) -> None:
    box = Box()
    for seq in range(1, GROUP + 11):
        journalist.address.tell(Store(append(seq), box, 0))
    stage.run()
    assert journal.groups == [GROUP, 10]
    assert box.heard == [Committed(seq, 0) for seq in range(1, GROUP + 11)]
    assert journalist.statistics() == {"waiting": 0, "commits": 2, "stored": GROUP + 10}


def test_each_is_told_in_its_own_epoch_what_became_of_it(stage: Stage, journalist: Journalist) -> None:
    good, bad = Box(), Box()
    journalist.address.tell(Store(append(1), good, 3))
    journalist.address.tell(Store(append(7, ConversationId("bbbb")), bad, 5))
    stage.run()
    assert good.heard == [Committed(1, 3)]
    (refused,) = bad.heard
    assert isinstance(refused, AppendRefused)
    assert (type(refused.error), refused.epoch) == (SequenceConflict, 5)


def test_a_full_disk_refuses_all_and_the_next_commit_may_succeed(
    stage: Stage, journalist: Journalist, journal: Counting
) -> None:
    box = Box()
    journal.refusing = StorageFull("no room")
    journalist.address.tell(Store(append(1), box, 0))
    stage.run()
    journal.refusing = None
    journalist.address.tell(Store(append(1), box, 1))
    stage.run()
    assert box.heard == [AppendRefused(StorageFull("no room"), 0), Committed(1, 1)]


def test_a_journal_that_raises_is_a_refusal_and_not_the_end(
    stage: Stage, journalist: Journalist, journal: Counting
) -> None:
    box = Box()
    journal.breaks = True
    journalist.address.tell(Store(append(1), box, 0))
    stage.run()
    (refused,) = box.heard
    assert isinstance(refused, AppendRefused)
    assert isinstance(refused.error, StorageFailed)
    assert journalist.address.alive


def test_a_session_that_is_gone_keeps_nobody_from_being_told(stage: Stage, journalist: Journalist) -> None:
    box = Box()
    journalist.address.tell(Store(append(1), Gone(), 0))
    journalist.address.tell(Store(append(2), box, 0))
    stage.run()
    assert box.heard == [Committed(2, 0)]


def test_a_load_finds_all_that_was_stored_before_it(stage: Stage, journalist: Journalist) -> None:
    box, waiting = Box(), Box()
    journalist.address.tell(Store(append(1), box, 0))
    journalist.address.tell(Load(A, waiting))
    journalist.address.tell(Store(append(2), box, 0))
    stage.run()
    (loaded,) = waiting.heard
    assert isinstance(loaded, LoadedState)
    assert loaded.head is not None
    assert [record.seq for record in loaded.records][:1] == [1]


def test_appends_before_the_stop_are_stored_before_the_journal_closes(
    stage: Stage, journalist: Journalist, journal: Counting
) -> None:
    box = Box()
    journalist.address.tell(Store(append(1), box, 0))
    assert journalist.address.stop(1.0)
    assert box.heard == [Committed(1, 0)]
    assert journal.closed
    assert stage.delivered > 0


def test_a_conversation_is_erased_after_what_was_stored_of_it_before(stage: Stage, journalist: Journalist) -> None:
    box = Box()
    journalist.address.tell(Store(append(1), box, 0))
    journalist.address.tell(Erase(append(1).conversation, box))
    stage.run()
    assert box.heard == [Committed(1, 0), ConversationErased(append(1).conversation)]


@pytest.mark.parametrize(("raised", "told"), [(StorageFull("no room"), StorageFull), (OSError("odd"), StorageFailed)])
def test_a_disk_that_does_not_forget_is_reported(
    stage: Stage,
    journalist: Journalist,
    journal: Counting,
    raised: Exception,
    told: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: ConversationId) -> None:
        raise raised

    monkeypatch.setattr(journal, "delete", fail)
    box = Box()
    journalist.address.tell(Erase(ConversationId("a"), box))
    stage.run()
    (erased,) = box.heard
    assert isinstance(erased, ConversationErased)
    assert isinstance(erased.error, told)


def test_everybody_else_hears_of_events_after_their_owner(
    stage: Stage, journalist: Journalist, journal: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, heard = Box(), list[int]()
    monkeypatch.setattr(journal, "publish", lambda: heard.append(len(owner.heard)))
    journalist.address.tell(Store(append(1), owner, 1))
    stage.run()
    assert heard == [1], "a reader could ask for what its owner does not know yet"
