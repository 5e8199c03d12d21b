"""Failures: a conversation is replaced from the journal, waiting clients are served, others are not affected."""

from typing import Any

import pytest

from actors.messages.conversation import (
    AnswerApproval,
    Begin,
    CancelRequest,
    ConnectionClosed,
    Inspect,
    PageRead,
    Ready,
    Rename,
    Restart,
    Revived,
    Send,
    SessionInput,
    ToConversation,
)
from actors.messages.effects import Deliver, Survivors
from actors.messages.orders import AbandonAgent, AgentOutput, Completed, RunAgent
from actors.messages.routing import (
    ListApprovals,
    ListConversations,
    ParkOffered,
    Resolve,
    SessionFailed,
    SessionLeft,
    SessionStayed,
)
from actors.routing.core import STASH_LIMIT
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ConversationSummary, PendingApprovals, ResolvedReference, TurnResult
from actors.vocabulary.errors import GreenroomError, Overloaded, StorageFailed, TurnFailed, WrongState
from actors.vocabulary.ids import ApprovalId, ConversationId, SubscriptionId
from actors.vocabulary.items import TextItem, text_of
from actors.vocabulary.records import Head, HeadPage, ListQuery
from actors.vocabulary.settings import BusyPolicy, Decision
from tests.actors.conftest import Poison
from tests.fakes.agents import FakeAgents, says
from tests.fakes.daemon import StagedDaemon
from tests.fakes.outbox import FakeOutbox
from tests.support.work import command_asked

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")


def bad_words(message: SessionInput) -> bool:
    return (
        isinstance(message, ToConversation)
        and isinstance(message.command, Send)
        and text_of(message.command.items) == "poison"
    )


def types(daemon: StagedDaemon) -> list[str]:
    return [record.type for record in daemon.journal.history(A)]


def aborts(daemon: StagedDaemon) -> list[ev.TurnAborted]:
    bodies = [record.body for record in daemon.journal.history(A) if record.type == "turn_aborted"]
    return [ev.TurnAborted.model_validate_json(body) for body in bodies]


@pytest.fixture
def running(daemon: StagedDaemon, poison: Poison) -> StagedDaemon:
    """A daemon with a running turn in A, where bad messages make the core raise."""
    poison.chokes_on = bad_words
    daemon.create(A)
    daemon.create(B)
    daemon.send(A, caller=daemon.caller("first", 1))
    daemon.run()
    return daemon


def test_a_poison_message_ends_the_turn_as_failed_and_its_sender_is_told(running: StagedDaemon) -> None:
    waiting, bad = running.caller("first", 1), running.send(A, "poison")
    running.run()
    assert isinstance(running.answer(bad), TurnFailed)
    assert isinstance(running.answer(waiting), TurnFailed)
    assert [abort.reason for abort in aborts(running)] == ["failed"]
    assert len(running.live) == 3
    assert running.journal.conflicts == []


def test_the_turn_is_closed_only_when_its_processes_are_gone(running: StagedDaemon) -> None:
    running.agents.stubborn = True
    running.send(A, "poison")
    looked = running.caller()
    running.tell(A, Inspect(), looked)
    running.run()
    assert running.agents.ordered(AbandonAgent) == [AbandonAgent(A)]
    assert aborts(running) == []
    assert looked not in running.outbox.replies
    running.agents.abandoned(A, running.registry)
    running.run()
    assert len(aborts(running)) == 1
    assert isinstance(running.answer(looked), ConversationSummary)


def test_between_two_owners_only_so_many_messages_are_kept(running: StagedDaemon) -> None:
    running.agents.stubborn = True
    running.send(A, "poison")
    running.run()
    callers = [running.caller() for _ in range(STASH_LIMIT + 5)]
    for caller in callers:
        running.tell(A, Inspect(), caller)
    running.run()
    refused = [caller for caller in callers if caller in running.outbox.replies]
    assert refused == callers[STASH_LIMIT:]
    assert all(isinstance(running.answer(caller), Overloaded) for caller in refused)
    running.agents.abandoned(A, running.registry)
    running.run()
    assert all(isinstance(running.answer(caller), ConversationSummary) for caller in callers[:STASH_LIMIT])


def test_messages_after_the_poison_are_served_by_the_successor(running: StagedDaemon) -> None:
    running.send(A, "poison")
    looked, sent = running.caller(), running.send(A, "after", await_end=False)
    running.tell(A, Inspect(), looked)
    running.run()
    assert isinstance(running.answer(looked), ConversationSummary)
    assert not isinstance(running.answer(sent), GreenroomError)
    assert running.agents.last().inputs[0].items == (TextItem(text="after"),)


def test_messages_routed_to_a_dead_session_before_its_report_are_served_by_the_successor(
    running: StagedDaemon,
) -> None:
    session = running.session(A)
    running.send(A, "poison")
    running.stage.deliver(running.registry)
    running.stage.deliver(session.address)
    assert not session.address.alive
    looked = running.caller()
    running.tell(A, Inspect(), looked)
    running.run()
    assert isinstance(running.answer(looked), ConversationSummary)


def test_a_client_that_closes_between_failure_and_report_is_not_kept_as_a_reader(running: StagedDaemon) -> None:
    running.attach(A, connection="gone")
    running.run()
    session, closing = running.session(A), ConnectionClosed(running.caller("gone").connection)
    running.send(A, "poison")
    running.stage.deliver(running.registry)
    running.stage.deliver(session.address)
    running.registry.tell(closing)
    running.run()
    summary = running.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.readers == ()


def test_readers_go_on_without_gap_or_duplicate(running: StagedDaemon) -> None:
    _, eager = running.attach(A)
    running.run()
    running.outbox.prompt = False
    slow_subscription, slow = running.attach(A)
    running.run()
    running.send(A, "poison")
    running.run()
    running.send(A, "after", await_end=False)
    running.run()
    running.outbox.ready(slow_subscription)
    running.outbox.prompt = True
    for subscription in running.outbox.readers:
        running.outbox.ready(subscription)
    running.run()
    history = list(running.journal.history(A))
    assert eager.records == history
    assert slow.records == history
    assert slow.ended is None


def is_parked_with_a_history(running: StagedDaemon) -> None:
    """A parked conversation with more history than a session keeps in memory."""
    running.agents.end(running.agents.last().turn, Completed())
    running.agents.script = lambda _: says("hello")
    for number in range(30):
        running.send(A, f"message {number}")
        running.run()
    running.time.advance(601)
    running.run()


def test_a_reader_whose_page_was_on_its_way_gets_it_from_the_successor(running: StagedDaemon) -> None:
    is_parked_with_a_history(running)
    _, reader = running.attach(A)
    running.stage.run(until=lambda: bool(running.session(A)._reading))
    running.send(A, "poison")
    running.run()
    assert reader.records == list(running.journal.history(A))


def test_a_reader_that_says_ready_to_the_dead_is_heard_by_the_successor(running: StagedDaemon) -> None:
    running.outbox.prompt = False
    subscription, reader = running.attach(A)
    running.run()
    session = running.session(A)
    running.send(A, "poison")
    running.stage.deliver(running.registry)
    running.stage.deliver(session.address)
    running.outbox.prompt = True
    running.outbox.ready(subscription)
    running.run()
    assert reader.records == list(running.journal.history(A))


def test_a_ready_for_a_dead_owner_that_fails_the_next_one_still_frees_its_reader(
    running: StagedDaemon, poison: Poison
) -> None:
    running.outbox.prompt = False
    subscription, reader = running.attach(A)
    running.run()
    running.send(A, "poison")
    running.run()
    poison.chokes_on = lambda message: isinstance(message, ToConversation) and isinstance(message.command, Ready)
    running.outbox.prompt = True
    running.outbox.ready(subscription)
    running.run()
    assert poison.times == 2
    assert reader.records == list(running.journal.history(A))


def test_a_list_shows_what_a_failed_owner_has_stored_and_not_heard_of(running: StagedDaemon) -> None:
    owner = running.session(A).address
    with running.stage.holding(owner):
        running.agents.end(running.agents.last().turn, Completed("done"))
        running.stage.deliver(owner)
        running.run()
        running.send(A, "poison")
        running.stage.deliver(running.registry)
        running.stage.deliver(owner)
    running.run()
    assert types(running)[-1] == "task_complete"
    page = running.ask(ListConversations(ListQuery()))
    assert isinstance(page, HeadPage)
    assert {head.conversation: head.state for head in page.heads} == {A: "idle", B: "idle"}


def test_a_poisoned_piece_of_agent_news_fails_its_own_turn_only(running: StagedDaemon, poison: Poison) -> None:
    running.send(B, "hello")
    running.run()
    turn_a, turn_b = running.agents.running
    poison.chokes_on = lambda message: isinstance(message, AgentOutput) and message.turn == turn_a
    _, reader = running.attach(B)
    message = ev.AgentMessage(message="x")
    running.agents.say(turn_a, message)
    running.agents.say(turn_b, message)
    running.run()
    assert len(aborts(running)) == 1
    running.agents.end(turn_b, Completed("fine"))
    running.run()
    assert "turn_aborted" not in reader.types
    assert reader.types[-2:] == ["agent_message", "task_complete"]
    assert sum(session.conversation == B for session in running.live) == 1


def test_queued_input_survives_a_failure_and_waits_for_somebody(running: StagedDaemon) -> None:
    running.send(A, "queued", await_end=False, policy=BusyPolicy.ENQUEUE)
    running.run()
    running.send(A, "poison")
    running.run()
    summary = running.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert (summary.queued, summary.paused) == (1, True)


def test_requests_of_a_failed_owner_are_released(running: StagedDaemon) -> None:
    running.send(A, "again", caller=running.caller("first", 2), await_end=False)
    running.run()
    running.send(A, "poison")
    running.run()
    assert running.routing.statistics()["requests"] == 0
    running.registry.tell(CancelRequest(running.caller("first", 2)))
    running.run()
    assert len(running.outbox.replies[running.caller("first", 2)]) == 1


def test_a_poisonous_cancel_does_not_answer_its_request_a_second_time(running: StagedDaemon, poison: Poison) -> None:
    caller = running.send(A, "more", caller=running.caller("first", 2), await_end=False)
    running.run()
    poison.chokes_on = lambda message: isinstance(message, CancelRequest)
    running.registry.tell(CancelRequest(caller))
    running.run()
    assert len(running.outbox.replies[caller]) == 1
    assert len(aborts(running)) == 1


def test_poison_among_the_first_messages_of_a_woken_conversation_is_answered(
    daemon: StagedDaemon, poison: Poison
) -> None:
    poison.chokes_on = bad_words
    daemon.create(A)
    daemon.run()
    daemon.time.advance(601)
    daemon.run()
    callers = [daemon.send(A, words, await_end=False) for words in ("one", "poison", "two")]
    daemon.run()
    answers = [daemon.answer(caller) for caller in callers]
    assert [isinstance(answer, TurnFailed) for answer in answers] == [True, True, False]
    assert daemon.journal.conflicts == []


def test_a_poisonous_beginning_is_answered_and_leaves_nothing(daemon: StagedDaemon, poison: Poison) -> None:
    poison.chokes_on = lambda message: isinstance(message, ToConversation) and isinstance(message.command, Begin)
    created = daemon.create(A, name="fix")
    daemon.run()
    assert isinstance(daemon.answer(created), TurnFailed)
    assert types(daemon) == []


# --- too often ------------------------------------------------------------------------------------------------


def fail(daemon: StagedDaemon, times: int) -> None:
    for _ in range(times):
        daemon.send(A, "poison")
        daemon.run()


def test_three_failures_in_a_minute_give_the_conversation_up_until_somebody_restarts_it(
    running: StagedDaemon,
) -> None:
    _, reader = running.attach(A)
    fail(running, 2)
    assert not isinstance(running.answer(running.send_and_run(A)), GreenroomError)
    fail(running, 1)
    assert types(running)[-3:] == ["conversation_failed", "error", "turn_aborted"]
    assert "ZeroDivisionError" in running.journal.history(A)[-3].body.decode()
    assert reader.types[-3:] == ["conversation_failed", "error", "turn_aborted"]
    listing = running.ask(ListConversations(ListQuery()))
    assert isinstance(listing, HeadPage)
    assert {head.conversation: head.state for head in listing.heads}[A] == "failed"
    assert isinstance(running.answer(running.send_and_run(A)), WrongState)
    restarted = running.say(A, Restart("me"))
    assert not isinstance(restarted, GreenroomError)
    assert not isinstance(running.answer(running.send_and_run(A)), GreenroomError)


def test_failures_that_are_minutes_apart_do_not_add_up(running: StagedDaemon) -> None:
    for _ in range(5):
        fail(running, 1)
        running.time.advance(61)
    assert "conversation_failed" not in types(running)
    assert not isinstance(running.answer(running.send_and_run(A)), GreenroomError)


def test_a_restart_gives_a_new_budget(running: StagedDaemon) -> None:
    fail(running, 3)
    running.say(A, Restart("me"))
    fail(running, 1)
    summary = running.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.failed is None


def test_one_that_fails_even_while_it_is_revived_is_broken_and_says_so_to_everybody(
    running: StagedDaemon, poison: Poison
) -> None:
    _, reader = running.attach(A)
    running.run()
    poison.chokes_on = lambda message: isinstance(message, Revived) or bad_words(message)
    bad, looked = running.send(A, "poison"), running.caller()
    running.tell(A, Inspect(), looked)
    running.run()
    assert isinstance(running.answer(running.caller("first", 1)), TurnFailed)
    assert isinstance(running.answer(bad), TurnFailed)
    assert isinstance(running.answer(looked), TurnFailed)
    assert reader.ended is not None
    assert isinstance(running.answer(running.send_and_run(A)), WrongState)
    assert running.routing.statistics()["requests"] == 0
    listing = running.ask(ListConversations(ListQuery()))
    assert isinstance(listing, HeadPage)
    assert {head.conversation: head.state for head in listing.heads} == {A: "failed", B: "idle"}


def test_readers_and_callers_outlive_a_successor_that_fails_at_once(running: StagedDaemon, poison: Poison) -> None:
    _, reader = running.attach(A)
    running.run()
    chokes = iter([True, True, False])
    poison.chokes_on = lambda message: bad_words(message) or (isinstance(message, Revived) and next(chokes, False))
    bad = running.send(A, "poison")
    running.run()
    assert isinstance(running.answer(bad), TurnFailed)
    assert isinstance(running.answer(running.caller("first", 1)), TurnFailed)
    assert reader.ended is None
    assert reader.records == list(running.journal.history(A))


def test_a_journal_that_can_not_be_read_breaks_nothing_silently(running: StagedDaemon) -> None:
    running.say(B, Inspect())
    running.time.advance(601)
    running.run()
    running.journal.unreadable = StorageFailed("the disk is gone")
    looked = running.caller()
    running.tell(B, Inspect(), looked)
    running.run()
    assert isinstance(running.answer(looked), TurnFailed)


def test_a_conversation_that_could_not_be_read_is_woken_when_it_can(running: StagedDaemon) -> None:
    """Reading may fail for lack of a descriptor, or because the disk was away for a moment."""
    running.say(B, Inspect())
    running.time.advance(601)
    running.run()
    running.journal.unreadable = StorageFailed("no descriptor left")
    for _ in range(3):
        looked = running.caller()
        running.tell(B, Inspect(), looked)
        running.run()
        assert isinstance(running.answer(looked), TurnFailed)
    running.journal.unreadable = None
    running.time.advance(1)
    assert isinstance(running.say(B, Inspect()), ConversationSummary)
    assert "conversation_failed" not in [record.type for record in running.journal.history(B)]


def test_a_disk_that_reads_at_the_last_try_gives_nobody_up(running: StagedDaemon) -> None:
    running.say(B, Inspect())
    running.time.advance(601)
    running.run()
    tries = iter([StorageFailed("no descriptor left")] * 3)
    head = running.journal.head

    def reluctant(conversation: ConversationId) -> Head | None:
        if error := next(tries, None):
            raise error
        return head(conversation)

    running.journal.head = reluctant  # type: ignore[method-assign]  # the disk, for a moment
    running.tell(B, Inspect(), running.caller())
    running.run()
    summary = running.say(B, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.failed is None


def test_a_reader_whose_history_can_not_be_read_is_told(running: StagedDaemon) -> None:
    is_parked_with_a_history(running)
    running.say(A, Inspect())
    running.journal.unreadable = StorageFailed("the disk is gone")
    _, reader = running.attach(A)
    running.run()
    assert reader.ended == "its history is gone"


# --- the effects fail, not the core ---------------------------------------------------------------------------


class BrittleOutbox(FakeOutbox):
    """Breaks once on the first message of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks_on: tuple[type, ...] = ()

    def post(self, connection: Any, message: Any) -> None:
        self._break(message)
        super().post(connection, message)

    def deliver(self, message: Deliver, session: Any) -> None:
        self._break(message)
        super().deliver(message, session)

    def _break(self, message: object) -> None:
        if isinstance(message, self.breaks_on):
            self.breaks_on = ()
            raise OSError("broken pipe")


def test_answers_that_were_decided_and_not_delivered_are_given_by_the_successor() -> None:
    outbox = BrittleOutbox()
    daemon = StagedDaemon(outbox=outbox)
    daemon.create(A)
    daemon.run()
    _, reader = daemon.attach(A)
    daemon.run()
    outbox.breaks_on = (Deliver,)
    renamed = daemon.caller()
    daemon.tell(A, Rename("fix"), renamed)
    daemon.run()
    assert len(outbox.replies[renamed]) == 1
    assert reader.ended is not None


# --- the daemon goes down -------------------------------------------------------------------------------------

QUESTION = command_asked("make")


def restarted(daemon: StagedDaemon, **changes: Any) -> StagedDaemon:
    """A daemon after kill -9: nothing in any mailbox survives; the journal does."""
    daemon.agents.lose_everything()
    return StagedDaemon(journal=daemon.journal, clock=daemon.time, agents=FakeAgents(), **changes)


def test_a_restart_closes_lost_turns_once_and_wakes_nobody_who_is_idle(running: StagedDaemon) -> None:
    second = restarted(running)
    second.run()
    assert [abort.reason for abort in aborts(second)] == ["lost"]
    assert [session.conversation for session in second.live] == [A]
    third = restarted(second)
    third.run()
    assert [abort.reason for abort in aborts(third)] == ["lost"]
    assert third.live == []


def test_after_a_restart_a_question_is_listed_and_its_answer_continues_the_turn(daemon: StagedDaemon) -> None:
    daemon.agents.script = lambda _: ((QUESTION,),)
    daemon.create(A)
    daemon.send(A)
    daemon.run()
    turn = daemon.agents.last().turn
    second = restarted(daemon)
    second.run()
    assert second.ask(ListApprovals()) == PendingApprovals(((A, QUESTION),))
    assert aborts(second) == []
    second.say(A, AnswerApproval(ApprovalId("ask"), Decision.APPROVED))
    (resumed,) = second.agents.ordered(RunAgent)
    assert isinstance(resumed, RunAgent)
    assert (resumed.turn, resumed.resume) == (turn, True)


def test_after_a_restart_lost_turns_come_before_questions_and_all_are_settled_in_time(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.send(A)
    daemon.run()
    daemon.agents.script = lambda _: ((QUESTION,),)
    daemon.create(B)
    daemon.send(B)
    daemon.run()
    second = restarted(daemon, max_live=1)
    second.run()
    assert len(aborts(second)) == 1
    second.time.advance(601)
    second.run()
    assert second.ask(ListApprovals()) == PendingApprovals(((B, QUESTION),))


def test_names_and_ids_are_known_after_a_restart(daemon: StagedDaemon) -> None:
    daemon.create(A, name="fix")
    daemon.run()
    second = restarted(daemon)
    assert second.ask(Resolve("fix")) == ResolvedReference(A)
    summary = second.say(A, Inspect())
    assert isinstance(summary, ConversationSummary)
    assert summary.name == "fix"


def test_generations_grow_across_lives(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.send(A)
    daemon.run()
    second = restarted(daemon)
    second.run()
    assert second.session(A).generation > daemon.session(A).generation
    assert not any(isinstance(answer, TurnResult) for answers in second.outbox.replies.values() for answer in answers)


def test_a_late_report_of_an_owner_that_is_not_the_owner_any_more_changes_nothing(running: StagedDaemon) -> None:
    fail(running, 1)
    old = 1
    for message in (
        ParkOffered(A, old),
        SessionLeft(A, old),
        SessionStayed(A, old),
        SessionFailed(A, old, "late", "", Survivors((), ()), ()),
    ):
        running.registry.tell(message)
    assert isinstance(running.say(A, Inspect()), ConversationSummary)
    assert running.routing.statistics()["live"] == 2


def test_news_of_a_page_and_ready_of_nobody_are_nothing(running: StagedDaemon) -> None:
    running.session(A).address.tell(Ready(SubscriptionId("nobody")))
    running.session(A).address.tell(PageRead(SubscriptionId("nobody"), None))
    assert isinstance(running.say(A, Inspect()), ConversationSummary)
