"""An interrupt works in every moment of a turn, and is answered at the end of the turn that it hit."""

import pytest

from actors.conversation import condition
from actors.conversation.summary import interrupted
from actors.messages.conversation import ConnectionClosed, Interrupt
from actors.messages.orders import AgentNews, AgentStopped, Completed, Crashed, ModelFailed, StopAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.ids import ConnectionId
from actors.vocabulary.settings import AbortReason, BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, with_limits

ANN, BEN, CEM = caller("ann"), caller("ben"), caller("cem")

MOMENTS: dict[str, tuple[AgentNews, ...]] = {
    "before its first word": (),
    "while the model streams": (w.delta("so f"),),
    "while it thinks": (w.thought("hm"),),
    "in a command": (w.call(), w.begin(), w.chunk(b"...")),
    "in a patch": (w.call("patch"), w.patch_begin()),
    "while an approval waits": (w.call(), w.ask()),
    "in a retry pause": (w.delta("h"), ev.StreamError(message="again in 8 s", attempt=3, delay_ms=8000)),
    "between two requests": (w.call(), w.begin(), w.end(), w.output()),
}


@pytest.mark.parametrize("news", MOMENTS.values(), ids=MOMENTS)
def test_an_interrupt_stops_the_agent_at_once_and_is_answered_when_everything_of_the_turn_is_gone(
    news: tuple[AgentNews, ...],
) -> None:
    core = Core()
    core.send()
    core.output(*news)
    turn = core.turn
    assert StopAgent(turn) in core.interrupt(ANN)
    assert core.answers(ANN) == []
    assert condition(core.state) is Condition.INTERRUPTING
    core.stopped()
    assert core.answer(ANN) == InterruptedTurn(turn, Ending.INTERRUPTED)
    assert core.types[-1] == "turn_aborted"
    assert core.said_of(ev.TurnAborted) == [ev.TurnAborted(reason=AbortReason.INTERRUPTED, by=("ann",))]


@pytest.mark.parametrize("news", MOMENTS.values(), ids=MOMENTS)
def test_after_an_interrupt_every_begin_has_its_end_every_call_its_output_every_question_its_withdrawal(
    news: tuple[AgentNews, ...],
) -> None:
    core = Core()
    core.send()
    core.output(*news)
    core.interrupt()
    core.stopped()
    count = core.types.count
    assert count("work_began") == count("work_ended")
    assert count("tool_call") == count("tool_output")
    assert count("approval_requested") == count("approval_resolved")


def test_an_interrupt_while_the_disk_still_holds_the_start_ends_the_turn_without_an_agent() -> None:
    core = Core(commits=False)
    core.send("hi", ANN, await_end=True)
    turn = core.turn
    core.interrupt(BEN)
    assert condition(core.state) is Condition.IDLE
    core.store()
    assert core.orders == []
    assert core.answer(BEN) == InterruptedTurn(turn, Ending.INTERRUPTED)
    assert isinstance(core.answer(ANN), TurnResult)
    assert core.types == ["task_started", "user_message", "turn_aborted"]


def test_an_interrupt_after_the_agent_was_told_to_start_waits_for_its_end() -> None:
    core = Core(commits=False)
    core.send()
    core.store(1)
    turn = core.turn
    assert core.interrupt(ANN) == [StopAgent(turn)]
    core.store()
    assert core.answers(ANN) == []


def test_d10_an_agent_that_finished_before_the_stop_reached_it_completes_and_the_interrupt_is_answered_by_that() -> (
    None
):
    core = Core()
    core.send("hi", BEN, await_end=True)
    turn = core.turn
    core.interrupt(ANN)
    core.end(Completed("all done"))
    assert core.types[-1] == "task_complete"
    assert "turn_aborted" not in core.types
    assert core.answer(ANN) == InterruptedTurn(turn, Ending.COMPLETED)
    result = core.answer(BEN)
    assert isinstance(result, TurnResult)
    assert (result.ending, result.message) == (Ending.COMPLETED, "all done")


def test_a_completed_turn_whose_interrupt_was_accepted_pauses_the_queue() -> None:
    core = Core()
    core.send()
    core.send("next", policy=BusyPolicy.ENQUEUE)
    core.interrupt(ANN)
    core.end(Completed("all done"))
    assert core.types[-2:] == ["task_complete", "queue_paused"]
    assert core.answer(ANN) == interrupted(core.runs[0].turn, Ending.COMPLETED, core.state.facts.pending)
    assert len(core.state.facts.pending) == 1


@pytest.mark.parametrize("outcome", [AgentStopped(), ModelFailed("connection lost"), Crashed("cancelled twice")])
def test_however_a_stopped_agent_ends_the_turn_was_interrupted(outcome: AgentStopped | ModelFailed | Crashed) -> None:
    core = Core()
    core.send()
    core.interrupt(ANN)
    core.end(outcome)
    assert core.types[2:] == ["turn_aborted"]
    assert core.said_of(ev.TurnAborted)[0].reason is AbortReason.INTERRUPTED


def test_a_second_interrupt_kills_and_both_are_answered_once() -> None:
    core = Core()
    core.send()
    core.interrupt(ANN)
    core.interrupt(BEN)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn), StopAgent(core.turn, kill=True)]
    core.stopped()
    assert core.answer(ANN) == core.answer(BEN)
    assert core.said_of(ev.TurnAborted)[0].by == ("ann", "ben")


def test_an_interrupt_may_kill_right_away() -> None:
    core = Core()
    core.send()
    core.interrupt(ANN, kill=True)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn, kill=True)]


def test_the_interrupts_of_three_clients_are_all_answered_by_the_one_end() -> None:
    core = Core()
    core.send()
    for who in (ANN, BEN, CEM):
        core.interrupt(who)
    turn = core.turn
    core.stopped()
    assert [core.answer(who) for who in (ANN, BEN, CEM)] == [InterruptedTurn(turn, Ending.INTERRUPTED)] * 3
    assert [core.settled(who) for who in (ANN, BEN, CEM)] == [1, 1, 1]
    assert core.types.count("turn_aborted") == 1


def test_d13_an_interrupt_with_nothing_running_is_answered_at_once_and_never_again() -> None:
    core = Core()
    core.interrupt(ANN)
    assert core.answer(ANN) == InterruptedTurn(None, None)
    core.send()
    core.interrupt(BEN)
    core.stopped()
    assert core.answer(ANN) == InterruptedTurn(None, None)
    assert "queue_paused" not in core.types


def test_d27_an_interrupted_conversation_takes_the_next_message() -> None:
    core = Core()
    core.send("one")
    core.interrupt()
    core.stopped()
    core.send("two")
    assert [w.words_of(run.inputs) for run in core.runs] == [["one"], ["two"]]


def test_d28_an_interrupt_is_answered_although_nobody_is_attached() -> None:
    core = Core()
    core.send()
    core.interrupt(ANN)
    core.stopped()
    assert len(core.answers(ANN)) == 1


def test_an_interrupt_is_answered_although_its_sender_sent_it_twice_under_different_requests() -> None:
    core = Core()
    core.send()
    again = caller("ann", 2)
    core.interrupt(ANN)
    core.interrupt(again)
    core.stopped()
    assert core.answer(ANN) == core.answer(again)
    assert core.said_of(ev.TurnAborted)[0].by == ("ann",)


def test_an_interrupt_of_a_client_that_left_still_stops_and_is_answered_to_nobody() -> None:
    core = Core()
    core.send()
    core.interrupt(ANN)
    core.say(ConnectionClosed(ANN.connection))
    core.stopped()
    assert core.answers(ANN) == []
    assert core.types[-1] == "turn_aborted"


def test_an_interrupt_says_why_when_its_sender_does() -> None:
    core = Core()
    core.send()
    core.say(Interrupt("ann", message="wrong branch"), ANN)
    core.stopped()
    assert core.said_of(ev.TurnAborted)[0].message == "wrong branch"


def test_the_answer_to_an_interrupt_waits_until_the_end_is_on_disk() -> None:
    core = Core()
    core.send()
    core.interrupt(ANN)
    core.commits = False
    core.stopped()
    assert core.answers(ANN) == []
    core.store()
    assert len(core.answers(ANN)) == 1


def test_the_answer_to_an_interrupt_comes_behind_the_events_it_is_about() -> None:
    core = Core()
    reader = core.attach("r")
    core.send()
    core.interrupt(ANN)
    effects = core.stopped()
    places = {type(effect).__name__: place for place, effect in enumerate(effects)}
    assert places["Deliver"] < places["ReplyTo"]
    assert reader.slices[-1].records[-1].type == "turn_aborted"


def test_d13_an_answered_interrupt_is_not_answered_again_by_the_end_of_the_next_turn() -> None:
    core = Core()
    core.send("one")
    core.interrupt(ANN)
    core.stopped()
    core.send("two")
    core.end()
    assert core.answer(ANN) == InterruptedTurn(core.runs[0].turn, Ending.INTERRUPTED)


# --- the last client leaves -----------------------------------------------------------------------------------------


def leave(core: Core, name: str) -> None:
    core.say(ConnectionClosed(ConnectionId(name)))


def test_a_turn_goes_on_when_its_last_reader_leaves() -> None:
    core = Core()
    core.attach("a", connection="ann")
    core.send()
    leave(core, "ann")
    assert core.orders_of(StopAgent) == []


def test_where_it_is_so_wished_the_last_reader_takes_the_turn_along() -> None:
    core = Core(limits=with_limits(interrupt_when_alone=True))
    core.attach("a", connection="ann")
    core.attach("b", connection="ben")
    core.send()
    leave(core, "ann")
    assert core.orders_of(StopAgent) == []
    leave(core, "ben")
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]


def test_a_client_that_never_read_here_takes_nothing_along() -> None:
    core = Core(limits=with_limits(interrupt_when_alone=True))
    core.send()
    leave(core, "somebody")
    assert core.orders_of(StopAgent) == []
