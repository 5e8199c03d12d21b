"""A request that its caller takes back: before it was taken, while it runs, after its end."""

from actors.messages.conversation import CancelRequest, ConnectionClosed
from actors.messages.orders import GiveInput, InputWanted, StopAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Cancelled
from actors.vocabulary.ids import Caller
from actors.vocabulary.settings import AbortReason, BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN, BEN = caller("ann"), caller("ben")


def cancel(core: Core, who: Caller) -> None:
    core.say(CancelRequest(who, who.connection))


def test_a_cancel_of_what_is_settled_or_never_came_changes_nothing() -> None:
    core = Core()
    core.send("hi", ANN)
    core.end()
    cancel(core, ANN)
    cancel(core, BEN)
    core.send("again", BEN)
    assert [w.words_of(run.inputs) for run in core.runs] == [["hi"], ["again"]]
    assert core.orders_of(StopAgent) == []


def test_d16_the_cancel_of_request_1_leaves_request_text_1_and_the_1_of_others_alone() -> None:
    for other in (caller("ann", "1"), caller("ben", 1)):
        core = Core()
        core.send("hi", other)
        cancel(core, caller("ann", 1))
        assert isinstance(core.answer(other), AcceptedInput)
        assert core.orders_of(StopAgent) == []


def test_cancelled_input_that_no_turn_has_taken_is_withdrawn_and_the_turn_goes_on() -> None:
    core = Core()
    core.send("one", BEN)
    core.send("two", ANN, await_end=True)
    cancel(core, ANN)
    assert isinstance(core.answer(ANN), Cancelled)
    assert core.orders_of(StopAgent) == []
    core.output(InputWanted())
    assert core.orders_of(GiveInput)[0].inputs == ()
    assert len(core.said_of(ev.InputWithdrawn)) == 1


def test_cancelled_input_whose_sender_does_not_wait_is_withdrawn_and_its_request_settled() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, BusyPolicy.ENQUEUE)
    cancel(core, ANN)
    assert isinstance(core.answer(ANN), AcceptedInput)
    assert core.settled(ANN) == 1
    core.end()
    assert len(core.runs) == 1


def test_the_cancel_of_a_taken_request_interrupts_its_turn() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    cancel(core, ANN)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]
    core.stopped()
    assert core.said_of(ev.TurnAborted) == [ev.TurnAborted(reason=AbortReason.INTERRUPTED, by=("ann",))]
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED
    assert core.settled(ANN) == 1


def test_the_cancel_of_a_steering_request_that_was_taken_interrupts_the_turn_it_joined() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, await_end=True)
    core.output(InputWanted())
    cancel(core, ANN)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]


def test_a_cancel_before_the_agent_was_told_ends_the_turn_without_it() -> None:
    core = Core(commits=False)
    core.send("one", ANN, await_end=True)
    cancel(core, ANN)
    core.store()
    assert core.orders == []
    assert isinstance(core.answer(ANN), TurnResult)


def test_d25_the_cancel_of_a_finished_request_leaves_the_running_turn_alone() -> None:
    """D3 as well: the id of a request that failed is gone."""
    core = Core()
    core.send("one", ANN, await_end=True)
    core.end()
    core.send("two", BEN)
    cancel(core, ANN)
    assert core.orders_of(StopAgent) == []
    assert len(core.answers(ANN)) == 1


def test_d1_a_cancelled_request_frees_its_id_on_the_abort() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    core.interrupt(BEN)
    core.stopped()
    assert core.state.claims == ()
    assert core.settled(ANN) == 1


def test_the_work_of_a_client_that_left_goes_on_and_nobody_is_answered() -> None:
    core = Core()
    core.send("one", ANN, await_end=True)
    core.say(ConnectionClosed(ANN.connection))
    core.output(w.message("still here"))
    core.end()
    assert core.answers(ANN) == []
    assert core.types[-1] == "task_complete"
