"""Input while a turn runs: steer, enqueue, reject, interrupt. Nothing is lost and nothing is doubled."""

import pytest

from actors.conversation.summary import interrupted
from actors.messages.conversation import Archive, ConnectionClosed
from actors.messages.orders import Completed, GiveInput, InputWanted, ModelFailed, OutOfBudget, StopAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Busy, InvalidInput, QueueFull, WrongState
from actors.vocabulary.settings import AbortReason, BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import SETTINGS, Core, caller, with_limits

ANN, BEN, CEM = caller("ann"), caller("ben"), caller("cem")
OTHER = SETTINGS.model_copy(update={"model": "model-b"})


def taken(core: Core) -> list[str]:
    return [message.message for message in core.said_of(ev.UserMessage)]


# --- nothing runs -----------------------------------------------------------------------------------------------


def test_input_for_an_idle_conversation_starts_a_turn_whatever_its_policy() -> None:
    for policy in BusyPolicy:
        core = Core()
        core.send("hi", ANN, policy)
        answer = core.answer(ANN)
        assert isinstance(answer, AcceptedInput)
        assert answer.turn == core.turn
        assert w.words_of(core.runs[0].inputs) == ["hi"]


def test_a_sender_that_does_not_wait_is_told_that_its_input_is_stored_and_its_request_settles_with_the_turn() -> None:
    core = Core()
    core.send("hi", ANN)
    assert isinstance(core.answer(ANN), AcceptedInput)
    assert core.settled(ANN) == 0
    core.end()
    assert core.settled(ANN) == 1


def test_d30_a_turn_may_have_settings_of_its_own_and_the_next_has_those_of_the_conversation() -> None:
    core = Core()
    core.send("one", settings=OTHER)
    core.end()
    core.send("two")
    assert [run.settings.model for run in core.runs] == ["model-b", "model-a"]


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_message_without_a_word_or_a_picture_is_refused_whether_a_turn_runs_or_not(blank: str) -> None:
    core = Core()
    core.send(blank, ANN)
    assert isinstance(core.answer(ANN), InvalidInput)
    core.send("one")
    core.send(blank, BEN)
    assert isinstance(core.answer(BEN), InvalidInput)
    assert taken(core) == ["one"]


# --- steer ------------------------------------------------------------------------------------------------------


def test_steering_input_joins_before_the_next_model_request_and_only_once() -> None:
    """D7 as well: once in history, once to the agent."""
    core = Core()
    core.send("one")
    core.send("two", ANN)
    core.send("three")
    core.output(InputWanted())
    core.output(InputWanted())
    assert [w.words_of(given.inputs) for given in core.orders_of(GiveInput)] == [["two", "three"], []]
    assert taken(core) == ["one", "two", "three"]
    core.end()
    assert len(core.runs) == 1


def test_d5_a_steering_sender_is_answered_by_the_end_of_the_turn_it_joined() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    core.send("two", BEN, await_end=True)
    core.output(InputWanted())
    core.end(Completed("both"))
    assert core.answer(ANN) == core.answer(BEN)


def test_input_is_given_to_the_agent_only_when_it_is_on_disk() -> None:
    core = Core()
    core.send("one")
    core.commits = False
    core.send("two")
    core.output(InputWanted())
    assert core.orders_of(GiveInput) == []
    core.store()
    assert len(core.orders_of(GiveInput)) == 1


def test_d8_steering_input_that_came_too_late_for_its_turn_starts_the_next() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, await_end=True)
    core.end()
    assert [w.words_of(run.inputs) for run in core.runs] == [["one"], ["two"]]
    assert core.answers(ANN) == []
    core.end(Completed("second"))
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.message == "second"


def test_all_that_steered_too_late_goes_into_one_turn_in_order() -> None:
    core = Core()
    core.send("one")
    core.send("two")
    core.send("three")
    core.end()
    assert w.words_of(core.runs[1].inputs) == ["two", "three"]


def test_d8_steering_input_of_an_interrupted_turn_is_held_and_the_next_message_goes_alone() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN)
    core.interrupt()
    core.stopped()
    assert core.types[-1] == "queue_paused"
    core.send("three")
    assert w.words_of(core.runs[1].inputs) == ["three"]
    assert taken(core) == ["one", "three"]
    assert [one.preview for one in core.state.facts.line] == ["two"]


def test_steering_input_whose_sender_awaits_the_end_is_withdrawn_when_its_turn_is_interrupted() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, await_end=True)
    turn = core.turn
    core.interrupt()
    core.stopped()
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert (result.turn, result.ending) == (turn, Ending.INTERRUPTED)
    assert core.types[-1] == "input_withdrawn"
    assert core.state.facts.pending == ()


def test_steering_input_whose_awaiting_sender_left_stays() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, await_end=True)
    core.say(ConnectionClosed(ANN.connection))
    core.interrupt()
    core.stopped()
    assert len(core.state.facts.pending) == 1


def test_a_message_while_the_turn_is_being_stopped_gets_its_own_turn_at_once() -> None:
    core = Core()
    core.send("one")
    core.send("queued", policy=BusyPolicy.ENQUEUE)
    core.interrupt()
    core.send("two", ANN, await_end=True)
    core.stopped()
    assert [w.words_of(run.inputs) for run in core.runs] == [["one"], ["two"]]
    core.end(Completed("answered"))
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.COMPLETED


def test_d30_steering_input_with_settings_of_its_own_gets_a_turn_of_its_own() -> None:
    core = Core()
    core.send("one")
    core.send("two", settings=OTHER)
    core.output(InputWanted())
    assert w.words_of(core.orders_of(GiveInput)[0].inputs) == []
    core.end()
    assert [run.settings.model for run in core.runs] == ["model-a", "model-b"]


# --- reject -----------------------------------------------------------------------------------------------------


def test_input_that_must_not_disturb_is_refused_with_the_running_turn() -> None:
    core = Core()
    core.send()
    core.send("two", ANN, BusyPolicy.REJECT)
    answer = core.answer(ANN)
    assert isinstance(answer, Busy)
    assert answer.details == {"turn": core.turn}
    assert taken(core) == ["hello"]


# --- interrupt --------------------------------------------------------------------------------------------------


def test_input_that_interrupts_aborts_the_turn_as_replaced_and_runs_next() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    core.send("queued", policy=BusyPolicy.ENQUEUE)
    core.send("two", BEN, BusyPolicy.INTERRUPT, await_end=True)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]
    core.stopped()
    assert core.said_of(ev.TurnAborted)[0].reason is AbortReason.REPLACED
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.REPLACED
    assert w.words_of(core.runs[1].inputs) == ["two"]
    assert not core.state.facts.paused
    core.end()
    assert w.words_of(core.runs[2].inputs) == ["queued"]


def test_inputs_that_interrupt_run_in_the_order_they_came() -> None:
    core = Core()
    core.send("one")
    for text in ("two", "three"):
        core.send(text, policy=BusyPolicy.INTERRUPT)
    core.stopped()
    core.end()
    assert [w.words_of(run.inputs) for run in core.runs] == [["one"], ["two"], ["three"]]


def test_input_that_interrupts_a_turn_which_has_not_started_replaces_it_at_once() -> None:
    core = Core(commits=False)
    core.send("one")
    core.send("two", ANN, BusyPolicy.INTERRUPT)
    core.store()
    assert [w.words_of(run.inputs) for run in core.runs] == [["two"]]
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert answer.turn == core.turn


def test_input_that_interrupts_runs_although_the_queue_is_paused_and_pauses_nothing() -> None:
    core = Core()
    core.send("one")
    core.send("queued", policy=BusyPolicy.ENQUEUE)
    core.interrupt(ANN)
    core.send("two", policy=BusyPolicy.INTERRUPT)
    core.stopped()
    assert core.answer(ANN) == interrupted(core.runs[0].turn, Ending.INTERRUPTED, core.state.facts.pending)
    assert len(core.state.facts.pending) == 1
    assert w.words_of(core.runs[1].inputs) == ["two"]


def test_an_agent_that_finished_before_it_could_be_replaced_has_completed() -> None:
    core = Core()
    core.send("one")
    core.send("two", policy=BusyPolicy.INTERRUPT)
    core.end(Completed())
    assert core.types[-3:] == ["task_complete", "task_started", "user_message"]


# --- refusals ---------------------------------------------------------------------------------------------------


def test_input_beyond_the_queues_limit_is_refused() -> None:
    core = Core(limits=with_limits(queue=1))
    core.send()
    core.send("two", policy=BusyPolicy.ENQUEUE)
    core.send("three", ANN, BusyPolicy.ENQUEUE)
    assert isinstance(core.answer(ANN), QueueFull)


def test_an_archived_conversation_takes_no_input_until_it_is_brought_back() -> None:
    core = Core()
    core.say(Archive())
    core.send("hi", ANN)
    assert isinstance(core.answer(ANN), WrongState)
    core.say(Archive(archived=False))
    core.send("hi", BEN)
    assert isinstance(core.answer(BEN), AcceptedInput)


def test_a_turn_that_a_budget_ends_holds_the_queue() -> None:
    core = Core()
    core.send("one")
    core.send("two", policy=BusyPolicy.ENQUEUE)
    core.end(OutOfBudget("10 of 10 requests are used"))
    assert core.state.facts.paused
    assert core.said_of(ev.TurnAborted)[-1].reason is AbortReason.BUDGET
    assert len(core.runs) == 1


def test_a_turn_that_failed_leaves_steering_input_waiting() -> None:
    core = Core()
    core.send("one")
    core.send("two")
    core.end(ModelFailed("502"))
    assert core.state.facts.paused
    assert len(core.runs) == 1


# --- idempotency ------------------------------------------------------------------------------------------------


def test_the_same_request_again_joins_the_first_and_both_are_answered() -> None:
    core = Core()
    core.send("hi", ANN, key="k", await_end=True)
    core.send("hi", BEN, key="k", await_end=True)
    core.end(Completed("once"))
    assert taken(core) == ["hi"]
    assert core.answer(ANN) == core.answer(BEN)


def test_the_same_request_after_its_turn_is_told_so_and_runs_nothing() -> None:
    core = Core()
    core.send("hi", ANN, key="k")
    turn = core.turn
    core.end()
    core.send("hi", BEN, key="k")
    answer = core.answer(BEN)
    assert isinstance(answer, AcceptedInput)
    assert (answer.duplicate, answer.turn) == (True, turn)
    assert taken(core) == ["hi"]
    assert core.settled(BEN) == 1


def test_the_same_request_is_known_after_a_restart() -> None:
    core = Core()
    core.send("hi", key="k")
    core.end()
    core.crash()
    core.send("hi", ANN, key="k")
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert answer.duplicate


def test_the_same_request_again_is_told_where_its_turn_ended_even_after_a_restart() -> None:
    core = Core()
    core.send("hi", key="k")
    core.end()
    end = core.state.facts.seq
    core.send("more", key="other")
    core.end()
    for who in (ANN, BEN):  # the live one, and the restored one
        core.send("hi", who, key="k", await_end=True)
        answer = core.answer(who)
        assert isinstance(answer, AcceptedInput)
        assert answer.ended == end
        core.crash()


def test_the_same_request_again_while_its_input_waits_is_told_of_no_end() -> None:
    core = Core()
    core.send("one")
    core.send("two", key="k", policy=BusyPolicy.ENQUEUE)
    core.send("two", ANN, key="k")
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert (answer.duplicate, answer.ended) == (True, None)


def test_a_key_is_forgotten_after_a_day() -> None:
    core = Core()
    core.send("hi", key="k")
    core.end()
    core.now += 24 * 3600 + 1
    core.send("hi", ANN, key="k")
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert not answer.duplicate


def test_a_repeated_request_that_awaits_the_end_is_answered_and_the_first_is_not_answered_twice() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, key="k")
    core.send("two", BEN, key="k", await_end=True)
    core.interrupt()
    core.stopped()
    assert isinstance(core.answer(ANN), AcceptedInput)
    assert isinstance(core.answer(BEN), TurnResult)
    assert [core.settled(who) for who in (ANN, BEN)] == [1, 1]


def test_input_withdrawn_at_the_end_of_a_turn_that_completed_in_the_last_moment_is_not_called_completed() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, await_end=True)
    core.interrupt()
    core.end(Completed("the answer to one"))
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED
    assert core.types[-1] == "input_withdrawn"


def test_the_same_request_again_is_recognised_although_its_own_turn_makes_the_conversation_busy() -> None:
    core = Core()
    core.send("hi", ANN, BusyPolicy.REJECT, key="k")
    core.send("hi", BEN, BusyPolicy.REJECT, key="k")
    answer = core.answer(BEN)
    assert isinstance(answer, AcceptedInput)
    assert answer.duplicate


def test_the_same_request_again_is_recognised_although_the_queue_is_full() -> None:
    core = Core(limits=with_limits(queue=1))
    core.send()
    core.send("two", ANN, BusyPolicy.ENQUEUE, key="k")
    core.send("two", BEN, BusyPolicy.ENQUEUE, key="k")
    assert isinstance(core.answer(BEN), AcceptedInput)


def test_a_request_whose_input_was_withdrawn_may_be_made_again() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, key="k", await_end=True)
    core.interrupt()
    core.stopped()
    core.send("two", BEN, key="k")
    answer = core.answer(BEN)
    assert isinstance(answer, AcceptedInput)
    assert not answer.duplicate
    assert taken(core) == ["one", "two"]


def test_d8_a_turn_that_is_being_stopped_takes_no_more_input() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN)
    core.interrupt()
    core.output(InputWanted())
    core.stopped()
    assert taken(core) == ["one"]
    core.send("three")
    assert taken(core) == ["one", "three"]
