"""Falling idle, leaving, coming back: nothing is lost in between, and there is never a second owner."""

import pytest

from actors.conversation.session import Session
from actors.messages.conversation import AnswerApproval, ConnectionClosed, Inspect, TimerFired
from actors.messages.orders import AnswerAgent, Completed, RunAgent, SuspendAgent
from actors.messages.routing import ListApprovals, SessionStayed
from actors.vocabulary.answers import (
    AnsweredApproval,
    ConversationSummary,
    InterruptedTurn,
    PendingApprovals,
    TurnResult,
)
from actors.vocabulary.ids import ApprovalId, ConversationId
from actors.vocabulary.settings import Decision
from tests.fakes.agents import FakeAgents, Script, says
from tests.fakes.daemon import StagedDaemon
from tests.support.work import command_asked

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")
QUESTION = command_asked("make")


@pytest.fixture
def idle(daemon: StagedDaemon) -> StagedDaemon:
    daemon.create(A)
    daemon.run()
    return daemon


def park(daemon: StagedDaemon) -> None:
    session = daemon.session(A)
    daemon.time.advance(601)
    daemon.run()
    assert not session.address.alive


def ask_and_go(daemon: StagedDaemon) -> None:
    """A client starts a turn that asks for an approval, and leaves."""
    caller = daemon.send(A, caller=daemon.caller("gone"), await_end=False)
    daemon.run()
    daemon.registry.tell(ConnectionClosed(caller.connection))
    daemon.run()


def asks_then(script: Script) -> FakeAgents:
    return FakeAgents(lambda order: script if order.resume else ((QUESTION,), *script))


def test_an_idle_session_ends_and_nobody_keeps_its_address(idle: StagedDaemon) -> None:
    park(idle)
    assert idle.routing.statistics()["live"] == 0
    assert idle.routing._sessions == {}


def test_a_parked_conversation_comes_back_as_it_was(idle: StagedDaemon) -> None:
    idle.agents.script = lambda _: says("hello")
    idle.send(A, "first")
    idle.run()
    before = idle.say(A, Inspect())
    park(idle)
    assert idle.say(A, Inspect()) == before
    assert len(idle.live) == 2
    _, reader = idle.attach(A)
    idle.run()
    assert reader.records == list(idle.journal.history(A))


def test_a_reader_or_a_running_turn_keeps_a_conversation_live(idle: StagedDaemon) -> None:
    idle.attach(A)
    idle.run()
    idle.time.advance(601)
    idle.run()
    assert idle.session(A).address.alive


@pytest.mark.parametrize("moment", range(6))
def test_a_message_at_any_moment_of_parking_is_served_once_by_one_owner(idle: StagedDaemon, moment: int) -> None:
    idle.agents.script = lambda _: says("hello")
    idle.time.advance(601)
    for _ in range(moment):
        idle.stage.step()
    sent, looked = idle.send(A), idle.caller()
    idle.tell(A, Inspect(), looked)
    idle.run()
    assert isinstance(idle.answer(sent), TurnResult)
    assert isinstance(idle.answer(looked), ConversationSummary)
    assert idle.journal.conflicts == []
    assert idle.routing.statistics()["live"] == 1


def test_a_reader_that_attaches_while_leaving_is_offered_makes_the_session_stay(idle: StagedDaemon) -> None:
    session = idle.session(A)
    idle.time.advance(601)
    idle.stage.deliver(session.address)
    with idle.stage.holding(session.address):
        _, reader = idle.attach(A)
        idle.run()
    idle.run()
    assert session.address.alive
    assert idle.session(A) is session
    assert reader.types == ["session_configured"]


def test_messages_that_waited_are_handed_to_a_session_that_stays(idle: StagedDaemon) -> None:
    session = idle.session(A)
    idle.time.advance(601)
    idle.stage.deliver(session.address)
    with idle.stage.holding(session.address):
        idle.attach(A)
        idle.run()
        looked = idle.caller()
        idle.tell(A, Inspect(), looked)
        idle.run()
    idle.run()
    assert isinstance(idle.answer(looked), ConversationSummary)


def test_park_does_not_overtake_what_was_routed_before_it(idle: StagedDaemon) -> None:
    """After many commands a mailbox lets one piece of news through; those behind it must not be lost."""
    idle.agents.script = lambda _: says("hello")
    session = idle.session(A)
    for number in range(4):  # news that keeps the offer waiting, while commands go by
        idle.registry.tell(SessionStayed(B, number))
    idle.time.advance(601)
    idle.stage.deliver(session.address)
    with idle.stage.holding(session.address):
        callers = [idle.caller() for _ in range(100)]
        for caller in callers:
            idle.tell(A, Inspect(), caller)
        sent = idle.send(A)
        idle.run()
    idle.run()
    assert all(isinstance(idle.answer(caller), ConversationSummary) for caller in callers)
    assert isinstance(idle.answer(sent), TurnResult)
    assert idle.journal.conflicts == []


def test_a_session_that_has_left_takes_nothing_any_more(idle: StagedDaemon) -> None:
    """A deadline that strikes between its leaving and its end would be written by two owners."""
    idle.agents.script = lambda _: ((QUESTION,),)
    ask_and_go(idle)
    session = idle.session(A)
    idle.time.advance(601)
    idle.run()
    idle.time.advance(601)
    idle.stage.deliver(session.address)
    idle.stage.deliver(idle.registry, len(idle.routing.mailbox))
    stored = len(idle.journal.history(A))
    session.address.tell(TimerFired("approval:ask"))
    idle.run()
    assert not session.address.alive
    assert len(idle.journal.history(A)) == stored


def test_a_turn_that_only_waits_is_suspended_parked_and_continued_by_its_answer() -> None:
    daemon = StagedDaemon(agents=asks_then(says("made")))
    daemon.create(A)
    ask_and_go(daemon)
    turn = daemon.agents.last().turn
    for _ in range(2):  # once to suspend the agent, once to leave
        daemon.time.advance(601)
        daemon.run()
    assert daemon.agents.ordered(SuspendAgent) == [SuspendAgent(turn)]
    assert not daemon.live[-1].address.alive
    pending = daemon.ask(ListApprovals())
    assert isinstance(pending, PendingApprovals)
    assert pending.requests == ((A, QUESTION),)
    answered = daemon.say(A, AnswerApproval(ApprovalId("ask"), Decision.APPROVED))
    assert answered == AnsweredApproval(ApprovalId("ask"), Decision.APPROVED)
    resumed = daemon.agents.last()
    assert (resumed.turn, resumed.resume) == (turn, True)
    assert daemon.agents.ordered(AnswerAgent) == []
    assert [record.type for record in daemon.journal.history(A)].count("task_complete") == 1
    assert daemon.ask(ListApprovals()) == PendingApprovals(())


def test_an_interrupt_wakes_a_parked_conversation_and_finds_nothing_to_end(idle: StagedDaemon) -> None:
    park(idle)
    interrupted = idle.interrupt(A)
    idle.run()
    assert idle.answer(interrupted) == InterruptedTurn(None, None)


def test_an_interrupt_withdraws_what_a_parked_turn_waits_for() -> None:
    daemon = StagedDaemon(agents=asks_then((Completed(),)))
    daemon.create(A)
    ask_and_go(daemon)
    for _ in range(2):
        daemon.time.advance(601)
        daemon.run()
    interrupted = daemon.interrupt(A)
    daemon.run()
    answer = daemon.answer(interrupted)
    assert isinstance(answer, InterruptedTurn)
    assert answer.turn == daemon.agents.last().turn
    assert daemon.ask(ListApprovals()) == PendingApprovals(())
    assert len(daemon.agents.ordered(RunAgent)) == 1


def test_thirty_times_parked_and_woken_leaves_one_address_and_one_history(idle: StagedDaemon) -> None:
    idle.agents.script = lambda _: says("hello")
    for _ in range(30):
        idle.send(A)
        idle.run()
        park(idle)
    assert idle.routing._sessions == {}
    assert idle.journal.conflicts == []
    assert [record.seq for record in idle.journal.history(A)] == list(range(1, len(idle.journal.history(A)) + 1))
    assert all(isinstance(session, Session) for session in idle.live)
