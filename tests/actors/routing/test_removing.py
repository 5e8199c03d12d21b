"""Deleting: asked for once, done once, whatever goes on meanwhile; and known only as long as the disk has it."""

import pytest

from actors.journal.directory import Directory
from actors.messages.conversation import ConnectionClosed, Inspect, Rename, ToConversation
from actors.messages.journal import FindSurplus, LookupDone, RunLookup, SurplusFound
from actors.messages.routing import ListConversations, Remove, ToRegistry, Trim
from actors.routing.trimming import BATCH
from actors.vocabulary.answers import ConversationSummary, Done, TurnResult
from actors.vocabulary.errors import Overloaded, StorageFull, UnknownConversation, WrongState
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.records import HeadPage, ListQuery
from actors.vocabulary.settings import BusyPolicy
from tests.actors.conftest import Poison
from tests.fakes.agents import says
from tests.fakes.daemon import StagedDaemon
from tests.fakes.journal import FakeJournal
from tests.support.work import command_asked

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")
C = ConversationId("cccc-0003")
QUESTION = command_asked("make")


@pytest.fixture
def idle(daemon: StagedDaemon) -> StagedDaemon:
    daemon.agents.script = lambda _: says("hello")
    daemon.create(A, "name")
    daemon.run()
    return daemon


def remove(daemon: StagedDaemon, conversation: ConversationId = A) -> Caller:
    caller = daemon.caller()
    daemon.registry.tell(ToRegistry(Remove(conversation), caller))
    return caller


def is_gone(daemon: StagedDaemon, conversation: ConversationId = A) -> bool:
    """True if the conversation is gone: for clients, on the disk, and in memory."""
    known = isinstance(daemon.say(conversation, Inspect()), UnknownConversation)
    listed = daemon.ask(ListConversations(ListQuery()))
    assert isinstance(listed, HeadPage)
    return (
        known
        and daemon.journal.head(conversation) is None
        and conversation not in {head.conversation for head in listed.heads}
        and conversation not in daemon.routing._sessions
    )


def park(daemon: StagedDaemon) -> None:
    for _ in ("its turn is put on paper", "it leaves"):
        daemon.time.advance(601)
        daemon.run()


@pytest.mark.parametrize("moment", range(30))
def test_at_any_moment_after_a_turn_it_is_done_or_refused_because_the_turn_is_open(
    idle: StagedDaemon, moment: int
) -> None:
    sent = idle.send(A)
    for _ in range(moment):
        idle.stage.step()
    asked = remove(idle)
    idle.run()
    answer = idle.answer(asked)
    if isinstance(answer, Done):
        assert is_gone(idle)
    else:
        assert isinstance(answer, WrongState)
        assert answer.message == "a turn is running; interrupt it first"
        assert isinstance(idle.answer(sent), TurnResult), "it goes on"
        again = remove(idle)
        idle.run()
        assert idle.answer(again) == Done()


@pytest.mark.parametrize("moment", range(12))
def test_at_any_moment_of_parking_it_is_done(idle: StagedDaemon, moment: int) -> None:
    idle.time.advance(601)
    for _ in range(moment):
        idle.stage.step()
    asked = remove(idle)
    idle.run()
    assert idle.answer(asked) == Done()
    assert is_gone(idle)
    assert set(idle.routing.statistics().values()) == {0}


def test_right_after_a_rename_that_is_still_being_stored_it_is_done(idle: StagedDaemon) -> None:
    renamed = idle.caller()
    with idle.stage.holding(idle.journalist):
        idle.tell(A, Rename("another"), renamed)
        idle.run()
        asked = remove(idle)
        idle.run()
        assert not {renamed, asked} & set(idle.outbox.replies)
    idle.run()
    assert [idle.answer(renamed), idle.answer(asked)] == [Done(), Done()]
    assert is_gone(idle)


def test_two_who_ask_at_once_are_both_answered(idle: StagedDaemon) -> None:
    first, second = remove(idle), remove(idle)
    idle.run()
    assert idle.answer(first) == Done()
    assert isinstance(idle.answer(second), UnknownConversation)


def test_a_message_during_a_deletion_is_refused_as_unknown_conversation(idle: StagedDaemon) -> None:
    with idle.stage.holding(idle.journalist):
        asked = remove(idle)
        idle.run()
        late = idle.send(A)
        idle.run()
    idle.run()
    assert idle.answer(asked) == Done()
    assert isinstance(idle.answer(late), UnknownConversation)


def test_it_is_known_until_the_disk_has_forgotten_it(idle: StagedDaemon) -> None:
    park(idle)
    with idle.stage.holding(idle.journalist):
        remove(idle)
        idle.run()
        listed = idle.ask(ListConversations(ListQuery()))
        assert isinstance(listed, HeadPage)
        assert [head.conversation for head in listed.heads] == [A]


def test_a_client_that_goes_meanwhile_takes_nothing_back_and_leaves_no_ghost(idle: StagedDaemon) -> None:
    asked = remove(idle)
    idle.registry.tell(ConnectionClosed(asked.connection))
    idle.run()
    assert is_gone(idle)


def test_a_disk_that_refuses_keeps_it_and_says_why(idle: StagedDaemon) -> None:
    idle.journal.undeletable = StorageFull("no room")
    asked = remove(idle)
    with idle.stage.holding(idle.journalist):
        idle.run()
        late = idle.send(A)
        idle.run()
    idle.run()
    assert idle.answer(asked) == StorageFull("no room")
    assert isinstance(idle.answer(late), TurnResult), "who waited meanwhile is served"
    idle.journal.undeletable = None
    again = remove(idle)
    idle.run()
    assert idle.answer(again) == Done()
    assert is_gone(idle)


def test_a_disk_that_takes_nothing_any_more_ends_the_wait(idle: StagedDaemon) -> None:
    """Events that were decided before could not be stored, so nobody may leave."""
    with idle.stage.holding(idle.journalist):
        idle.tell(A, Rename("another"), idle.caller())
        idle.run()
        asked = remove(idle)
        idle.run()
        idle.journal.refusing = StorageFull("no room")
    idle.run()
    assert idle.answer(asked) == StorageFull("no room")
    idle.journal.refusing = None
    again = remove(idle)
    idle.run()
    assert idle.answer(again) == Done()


def test_input_that_waits_in_a_paused_queue_goes_too_and_its_sender_is_told(idle: StagedDaemon) -> None:
    idle.agents.script = None
    idle.send(A)
    queued = idle.send(A, policy=BusyPolicy.ENQUEUE)
    idle.run()
    idle.interrupt(A)
    idle.run()
    asked = remove(idle)
    idle.run()
    assert idle.answer(asked) == Done()
    assert isinstance(idle.answer(queued), UnknownConversation)
    assert idle.routing.statistics()["requests"] == 0


def waits_on_paper(daemon: StagedDaemon) -> None:
    """A conversation that asked a question, was left by its client and parked."""
    daemon.create(A)
    caller = daemon.send(A, caller=daemon.caller("gone"), await_end=False)
    daemon.run()
    daemon.registry.tell(ConnectionClosed(caller.connection))
    daemon.run()
    park(daemon)


def test_a_turn_that_waits_on_paper_is_not_deleted_under_its_question(daemon: StagedDaemon) -> None:
    daemon.agents.script = lambda order: says("done") if order.resume else ((QUESTION,), *says("done"))
    waits_on_paper(daemon)
    asked = remove(daemon)
    daemon.run()
    assert isinstance(daemon.answer(asked), WrongState)
    daemon.interrupt(A)
    again = remove(daemon)
    daemon.run()
    third = remove(daemon)
    daemon.run()
    assert Done() in {type(daemon.answer(one)): daemon.answer(one) for one in (again, third)}.values()
    assert is_gone(daemon)


def test_where_there_is_no_room_for_the_owner_of_an_open_question_its_removal_is_refused() -> None:
    daemon = StagedDaemon(max_live=1)
    daemon.agents.script = lambda _: ((QUESTION,), *says("done"))
    waits_on_paper(daemon)
    daemon.create(B)
    daemon.run()
    daemon.attach(B)
    daemon.run()
    asked = [remove(daemon, A), remove(daemon, A)]
    daemon.run()
    assert {type(daemon.answer(one)) for one in asked} == {Overloaded}
    assert isinstance(daemon.say(B, Inspect()), ConversationSummary), "nothing goes round in circles"


def test_a_session_that_fails_while_it_leaves_is_removed_by_its_successor(idle: StagedDaemon, poison: Poison) -> None:
    with idle.stage.holding(idle.journalist):
        idle.tell(A, Rename("another"), idle.caller())
        idle.run()
        asked = remove(idle)
        idle.run()
        poison.chokes_on = lambda _: poison.times == 0
    idle.run()
    assert poison.times == 1
    assert idle.answer(asked) == Done()
    assert is_gone(idle)


def test_a_removal_that_meets_a_session_that_has_just_failed_is_answered_once(
    idle: StagedDaemon, poison: Poison
) -> None:
    poison.chokes_on = lambda message: isinstance(message, ToConversation) and isinstance(message.command, Inspect)
    session = idle.session(A).address
    idle.tell(A, Inspect(), idle.caller())
    idle.stage.deliver(idle.registry)
    idle.stage.deliver(session)  # it fails, and the registry does not know yet
    idle.agents.script = lambda _: ()
    idle.send(A)
    asked = remove(idle)
    idle.run()
    assert isinstance(idle.answer(asked), WrongState)


# --- by number and age ----------------------------------------------------------------------------------------------


def known(daemon: StagedDaemon) -> list[ConversationId]:
    listed = daemon.ask(ListConversations(ListQuery(archived=True)))
    assert isinstance(listed, HeadPage)
    return sorted(head.conversation for head in listed.heads)


@pytest.fixture
def three(daemon: StagedDaemon) -> StagedDaemon:
    """Three parked conversations, of which A is the oldest."""
    daemon.agents.script = lambda _: says("hello")
    for one in (A, B, C):
        daemon.create(one)
        daemon.run()
        daemon.time.advance(1)
    park(daemon)
    return daemon


def test_the_least_recently_used_go_until_so_many_are_left(three: StagedDaemon) -> None:
    three.registry.tell(Trim(most=1))
    three.run()
    assert known(three) == [C]
    assert [head.conversation for head in three.journal.list_page(ListQuery(archived=True)).heads] == [C]
    assert isinstance(three.say(A, Inspect()), UnknownConversation)


def test_those_that_nobody_touched_for_so_long_go(three: StagedDaemon) -> None:
    untouched_until = three.journal.list_page(ListQuery(archived=True)).heads[-1].updated
    three.registry.tell(Trim(untouched_since=untouched_until + 0.5))
    three.run()
    assert known(three) == [B, C]


def test_trimming_keeps_and_counts_conversations_that_are_live_or_wait_for_an_answer(three: StagedDaemon) -> None:
    three.agents.script = lambda _: ((QUESTION,), *says("done"))
    caller = three.send(A, caller=three.caller("gone"), await_end=False)
    three.run()
    three.registry.tell(ConnectionClosed(caller.connection))
    three.run()
    park(three)
    three.attach(B)
    three.run()
    three.registry.tell(Trim(most=1, untouched_since=three.time.now() + 1))
    three.run()
    assert known(three) == [A, B]


def test_one_that_is_used_while_the_others_go_is_left_alone(three: StagedDaemon) -> None:
    with three.stage.holding(three.journalist):
        three.registry.tell(Trim(most=1))
        three.run()
        sent = three.send(B)
        three.run()
    three.run()
    assert known(three) == [B, C]
    assert isinstance(three.answer(sent), TurnResult)


def test_a_disk_that_refuses_ends_the_trimming_until_the_next_time(three: StagedDaemon) -> None:
    three.journal.undeletable = StorageFull("no room")
    three.registry.tell(Trim(most=1))
    three.run()
    assert known(three) == [A, B, C]
    three.journal.undeletable = None
    three.registry.tell(Trim(most=1))
    three.run()
    assert known(three) == [C]


def test_more_than_a_batch_goes_and_a_person_s_own_deletion_meanwhile_counts_for_nothing(three: StagedDaemon) -> None:
    for number in range(2 * BATCH):
        three.create(ConversationId(f"{number:04}-0000"))
        three.run()
    park(three)
    three.registry.tell(Trim(most=2))
    asked = remove(three, B)
    three.run()
    assert isinstance(three.answer(asked), Done | UnknownConversation)
    assert len(known(three)) == 2
    assert set(three.routing.statistics().values()) == {0}


class KeepsSurplus(Directory):
    """An address for lookups; what it finds that is too much, it keeps until it is let go."""

    def __init__(self, journal: FakeJournal) -> None:
        super().__init__(journal)
        self.kept: list[tuple[RunLookup, LookupDone]] = []

    def tell(self, asked: RunLookup) -> None:
        found = LookupDone(asked.number, self._answer(asked.lookup))
        if isinstance(asked.lookup, FindSurplus):
            self.kept.append((asked, found))
        else:
            asked.reply_to.tell(found)

    def let_go(self) -> None:
        for asked, found in self.kept:
            asked.reply_to.tell(found)


def test_one_that_was_used_and_parked_again_since_it_was_looked_for_is_spared() -> None:
    journal = FakeJournal()
    directory = KeepsSurplus(journal)
    daemon = StagedDaemon(journal=journal, directory=directory, max_live=1)
    daemon.agents.script = lambda _: says("hello")
    for one in (A, B, C):
        daemon.create(one)
        daemon.run()
        daemon.time.advance(1)
    daemon.registry.tell(Trim(most=1))
    daemon.run()
    assert [found.result for _, found in directory.kept] == [SurplusFound((A, B))]
    for one in (A, C):
        daemon.send_and_run(one)
    directory.let_go()
    daemon.run()
    assert known(daemon) == [A, C]
