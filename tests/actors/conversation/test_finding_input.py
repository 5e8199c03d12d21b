"""Input that is looked for by its key or its id, and keys that are given to another input."""

import pytest

from actors.messages.conversation import CancelRequest, FindInput, Interrupt, Send, WithdrawInput
from actors.messages.orders import Completed, StopAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, InputFound, InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput
from actors.vocabulary.ids import InputId
from actors.vocabulary.settings import BusyPolicy
from tests.support.core_driver import Core, caller, said

ANN, BEN, CEM = caller("ann"), caller("ben"), caller("cem")


def sent(core: Core, key: str = "k", name: str = "mine", policy: BusyPolicy = BusyPolicy.STEER) -> InputId:
    core.say(Send(said("hi"), policy, key=key, input=InputId(name)))
    return InputId(name)


def found(core: Core, wanted: FindInput) -> InputFound | GreenroomError:
    who = caller("looks")
    core.say(wanted, who)
    answer = core.answers(who)[-1]
    assert isinstance(answer, InputFound | GreenroomError)
    return answer


def test_input_is_found_by_its_key_and_by_its_id_while_it_waits_runs_and_is_over() -> None:
    core = Core()
    sent(core, "first", "a")
    running = core.turn
    sent(core, "second", "b", BusyPolicy.ENQUEUE)
    for wanted in (FindInput(key="second"), FindInput(InputId("b"))):
        waiting = found(core, wanted)
        assert isinstance(waiting, InputFound)
        assert (waiting.input, waiting.turn, waiting.ended) == ("b", None, None)
    runs = found(core, FindInput(InputId("a")))
    assert isinstance(runs, InputFound)
    assert (runs.turn, runs.ended) == (running, None)
    core.end()
    over = found(core, FindInput(InputId("a")))
    assert isinstance(over, InputFound)
    assert over.ended is not None
    assert core.events[over.ended - 1].type == "task_complete"


def test_the_end_is_waited_for_and_told_to_everybody_who_waits() -> None:
    core = Core()
    one = sent(core)
    for who in (ANN, BEN):
        core.say(FindInput(one, await_end=True), who)
        assert core.answers(who) == []
    core.end(Completed("bye"))
    for who in (ANN, BEN):
        answer = core.answer(who)
        assert isinstance(answer, TurnResult)
        assert (answer.ending, answer.message) == (Ending.COMPLETED, "bye")
    core.say(FindInput(one, await_end=True), CEM)
    assert isinstance(core.answer(CEM), InputFound)


def test_input_is_found_after_a_restart_with_its_end() -> None:
    core = Core()
    one = sent(core)
    core.crash()
    lost = found(core, FindInput(one))
    assert isinstance(lost, InputFound)
    assert lost.ended is not None


@pytest.mark.parametrize("wanted", [FindInput(InputId("x")), FindInput(key="x"), FindInput()])
def test_input_that_nobody_knows_is_refused(wanted: FindInput) -> None:
    core = Core()
    sent(core)
    assert isinstance(found(core, wanted), InvalidInput)


def test_input_that_was_withdrawn_is_not_known_and_who_waited_for_it_is_told() -> None:
    core = Core()
    sent(core, "first", "a")
    two = sent(core, "second", "b", BusyPolicy.ENQUEUE)
    core.say(FindInput(two, await_end=True), ANN)
    core.say(WithdrawInput(two))
    assert isinstance(core.answer(ANN), Cancelled)
    assert isinstance(found(core, FindInput(two)), InvalidInput)


def test_an_interrupt_that_names_a_turn_stops_that_turn_alone() -> None:
    core = Core()
    sent(core, "first", "a")
    first = core.turn
    core.end()
    sent(core, "second", "b")
    core.say(Interrupt("ann", turn=first), ANN)
    assert core.answer(ANN) == InterruptedTurn(None, None)
    assert core.orders_of(StopAgent) == []
    core.say(Interrupt("ben", turn=core.turn), BEN)
    core.stopped()
    answer = core.answer(BEN)
    assert isinstance(answer, InterruptedTurn)
    assert answer.turn is not None


def test_input_that_repeats_nothing_runs_under_a_key_that_was_used_and_has_it_from_then_on() -> None:
    core = Core()
    core.send("one", key="k")
    core.end()
    core.say(Send(said("two"), key="k", anew=True), ANN)
    second = core.answer(ANN)
    assert isinstance(second, AcceptedInput)
    assert not second.duplicate
    assert [one.message for one in core.said_of(ev.UserMessage)] == ["one", "two"]
    core.send("two", BEN, key="k")
    again = core.answer(BEN)
    assert isinstance(again, AcceptedInput)
    assert (again.duplicate, again.input) == (True, second.input)


def test_a_caller_waiting_for_input_can_withdraw_it_like_its_sender() -> None:
    core = Core()
    one = sent(core)
    core.say(FindInput(one, await_end=True), ANN)
    core.say(CancelRequest(ANN, "ann"))
    core.stopped()
    answer = core.answer(ANN)
    assert isinstance(answer, TurnResult)
    assert answer.ending is Ending.INTERRUPTED
