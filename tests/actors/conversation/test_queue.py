"""The queue of input that waits for a turn of its own: its order, its pause, and what resumes it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from actors.conversation.summary import interrupted
from actors.messages.conversation import Archive, ResumeQueue, WithdrawInput
from actors.messages.orders import AgentStopped, Crashed, GiveInput, InputWanted, ModelFailed, Outcome
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done, InterruptedTurn
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Cancelled, InvalidInput, QueueFull, WrongState
from actors.vocabulary.ids import InputId
from actors.vocabulary.settings import BusyPolicy
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller, with_limits

ANN, BEN = caller("ann"), caller("ben")


def runs(core: Core) -> list[list[str]]:
    return [w.words_of(run.inputs) for run in core.runs]


def with_queue(*texts: str) -> Core:
    core = Core()
    core.send("first")
    for text in texts:
        core.send(text, policy=BusyPolicy.ENQUEUE)
    return core


def test_queued_messages_run_in_order_with_one_turn_each() -> None:
    core = with_queue("a", "b", "c")
    for _ in range(4):
        core.end()
    assert runs(core) == [["first"], ["a"], ["b"], ["c"]]


def test_steering_input_goes_before_the_queue() -> None:
    core = with_queue("queued")
    core.send("steer")
    core.end()
    core.end()
    assert runs(core) == [["first"], ["steer"], ["queued"]]


def test_an_interrupt_pauses_the_queue_says_so_and_counts_what_waits() -> None:
    core = with_queue("a", "b")
    core.interrupt(ANN)
    core.stopped()
    assert core.types[-2:] == ["turn_aborted", "queue_paused"]
    assert core.said_of(ev.QueuePaused) == [ev.QueuePaused(queued=2, waiting=("a", "b"))]
    answer = core.answer(ANN)
    assert isinstance(answer, InterruptedTurn)
    assert answer.queued == 2
    assert len(core.runs) == 1


def test_a_queue_that_is_paused_and_full_takes_no_more_behind_a_correction() -> None:
    core = Core(limits=with_limits(queue=2))
    for text in ("first", "a", "b"):
        core.send(text, policy=BusyPolicy.ENQUEUE)
    core.interrupt(ANN)
    core.stopped()
    core.send("c", policy=BusyPolicy.ENQUEUE)
    assert runs(core) == [["first"], ["c"]]
    core.send("d", BEN, policy=BusyPolicy.ENQUEUE)
    assert isinstance(core.answer(BEN), QueueFull)


@pytest.mark.parametrize("outcome", [ModelFailed("502"), Crashed("a bug"), AgentStopped()])
def test_every_turn_that_did_not_end_well_pauses_the_queue(outcome: Outcome) -> None:
    core = with_queue("a")
    core.end(outcome)
    assert core.types[-1] == "queue_paused"
    assert len(core.runs) == 1


def test_a_lost_turn_pauses_the_queue() -> None:
    core = with_queue("a")
    core.crash()
    assert core.types[-1] == "queue_paused"
    assert len(core.runs) == 1


def test_an_empty_queue_is_not_paused() -> None:
    core = with_queue()
    core.interrupt()
    core.stopped()
    assert "queue_paused" not in core.types


def test_a_paused_queue_is_resumed_by_hand_once() -> None:
    core = with_queue("a", "b")
    core.interrupt()
    core.stopped()
    core.say(ResumeQueue(), ANN)
    core.say(ResumeQueue(), BEN)
    assert core.answer(ANN) == core.answer(BEN) == Done()
    assert core.types.count("queue_resumed") == 1
    core.end()
    assert runs(core) == [["first"], ["a"], ["b"]]


@pytest.mark.parametrize("policy", BusyPolicy)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_correction_goes_first_and_alone_and_what_waited_stays_until_it_is_let_go(
    policy: BusyPolicy, restarted: bool
) -> None:
    core = with_queue("a", "b")
    core.send("joins")
    core.interrupt()
    core.stopped()
    if restarted:
        core.crash()
    core.send("no, this", policy=policy)
    core.end()
    assert runs(core) == [["first"], ["no, this"]]
    assert [one.preview for one in core.state.facts.line] == ["joins", "a", "b"]
    core.say(ResumeQueue(), ANN)
    for _ in range(3):
        core.end()
    assert runs(core)[2:] == [["joins"], ["a"], ["b"]]


@pytest.mark.parametrize("end", [Core.end, Core.stopped])
def test_a_message_during_a_correction_joins_it_or_is_held_after_the_rest(
    end: Callable[[Core], object],
) -> None:
    core = with_queue("a")
    core.interrupt()
    core.stopped()
    core.send("no, this")
    core.send("and this")
    core.send("later", policy=BusyPolicy.ENQUEUE)
    core.output(InputWanted())
    assert [w.words_of(given.inputs) for given in core.orders_of(GiveInput)] == [["and this"]]
    core.send("too late")
    if end is Core.stopped:
        core.interrupt()
    end(core)
    if end is Core.end:
        assert runs(core)[2:] == [["too late"]]
        core.end()
    assert [one.preview for one in core.state.facts.line][-2:] == ["a", "later"]
    assert core.state.facts.paused


def test_a_queue_of_which_all_was_dropped_holds_nothing_any_more() -> None:
    core = with_queue("a", "b")
    core.interrupt()
    core.stopped()
    for waiting in core.state.facts.pending:
        assert core.state.facts.paused
        core.say(WithdrawInput(waiting.id), ANN)
    assert core.types[-1] == "queue_resumed"
    core.send("new")
    core.send("next", policy=BusyPolicy.ENQUEUE)
    core.end()
    assert runs(core) == [["first"], ["new"], ["next"]]


def test_a_checkpoint_of_a_version_whose_pause_the_next_message_ended_is_read_as_of_now() -> None:
    core = with_queue("a")
    core.send("joins")
    core.interrupt()
    core.stopped()
    assert core.disk.head is not None
    steered = core.disk.head.checkpoint.replace(b'"policy":"enqueue"', b'"policy":"steer"')
    assert steered != core.disk.head.checkpoint
    core.disk.head = replace(core.disk.head, checkpoint=steered)
    core.crash()
    assert len(runs(core)) == 1
    core.send("no, this")
    assert runs(core)[1:] == [["no, this"]]


def test_an_enqueued_sender_that_waits_is_answered_by_its_own_turn() -> None:
    core = Core()
    core.send("first", ANN, await_end=True)
    core.send("second", BEN, BusyPolicy.ENQUEUE, await_end=True)
    core.end()
    assert len(core.answers(ANN)) == 1
    assert core.answers(BEN) == []
    core.end()
    assert len(core.answers(BEN)) == 1


def test_the_queue_and_its_pause_survive_a_restart() -> None:
    core = with_queue("a", "b")
    core.interrupt()
    core.stopped()
    core.crash()
    assert core.state.facts.paused
    core.say(ResumeQueue())
    assert runs(core)[-1] == ["a"]


def test_waiting_input_can_be_withdrawn_by_anyone_and_its_sender_is_told() -> None:
    core = Core()
    core.send("first")
    core.send("second", ANN, BusyPolicy.ENQUEUE, await_end=True)
    core.say(WithdrawInput(core.state.facts.pending[0].id, "not needed"), BEN)
    assert core.answer(BEN) == Done()
    assert isinstance(core.answer(ANN), Cancelled)
    core.end()
    assert runs(core) == [["first"]]


def test_input_that_does_not_wait_cannot_be_withdrawn() -> None:
    core = Core()
    core.send("first")
    core.say(WithdrawInput(core.runs[0].inputs[0].id), ANN)
    core.say(WithdrawInput(InputId("unheard-of")), BEN)
    assert isinstance(core.answer(ANN), InvalidInput)
    assert isinstance(core.answer(BEN), InvalidInput)


def test_a_caller_waiting_for_queued_input_is_answered_when_the_conversation_is_archived() -> None:
    core = with_queue("kept")
    core.send("awaited", ANN, BusyPolicy.ENQUEUE, await_end=True)
    core.interrupt()
    core.stopped()
    core.say(Archive(), BEN)
    assert isinstance(core.answer(ANN), Cancelled)
    assert core.answer(BEN) == Done()
    assert w.words_of(core.state.facts.pending) == ["kept"]


def test_the_queue_of_an_archived_conversation_does_not_go_on() -> None:
    core = with_queue("a")
    core.interrupt()
    core.stopped()
    core.say(Archive())
    core.say(ResumeQueue(), ANN)
    assert isinstance(core.answer(ANN), WrongState)
    assert len(core.runs) == 1


# --- interrupts of what was to come next ----------------------------------------------------------------------------


def test_an_interrupt_of_a_turn_that_is_being_replaced_holds_the_replacement_too() -> None:
    core = Core()
    core.send("first")
    core.send("instead", policy=BusyPolicy.INTERRUPT)
    core.interrupt(ANN)
    core.stopped()
    assert runs(core) == [["first"]]
    assert core.answer(ANN) == interrupted(core.runs[0].turn, Ending.REPLACED, core.state.facts.pending)
    assert len(core.state.facts.pending) == 1
    core.send("again")
    core.end()
    assert runs(core) == [["first"], ["again"]]
    core.say(ResumeQueue())
    assert runs(core) == [["first"], ["again"], ["instead"]]


def test_a_message_after_the_interrupt_of_a_replaced_turn_runs_at_once() -> None:
    core = Core()
    core.send("first")
    core.send("instead", policy=BusyPolicy.INTERRUPT)
    core.interrupt(ANN)
    core.send("now")
    core.stopped()
    assert runs(core) == [["first"], ["now"]]
    assert core.state.facts.paused


def test_a_replacement_that_is_held_is_still_held_after_a_crash() -> None:
    core = Core()
    core.send("first")
    core.send("instead", policy=BusyPolicy.INTERRUPT)
    core.interrupt()
    core.crash()
    assert runs(core) == [["first"]]
    assert [waiting.policy for waiting in core.state.facts.pending] == [BusyPolicy.ENQUEUE]


def test_an_interrupt_that_clears_withdraws_everything_that_waits() -> None:
    core = with_queue("a", "b")
    core.send("c", BEN, await_end=True, policy=BusyPolicy.ENQUEUE)
    core.interrupt(ANN, clear=True)
    core.stopped()
    answer = core.answer(ANN)
    assert isinstance(answer, InterruptedTurn)
    assert answer.queued == 0
    assert isinstance(core.answer(BEN), Cancelled)
    core.send("next")
    core.end()
    assert runs(core) == [["first"], ["next"]]


def test_an_interrupt_clears_a_paused_queue_where_nothing_runs() -> None:
    core = with_queue("a")
    core.interrupt()
    core.stopped()
    core.interrupt(ANN, clear=True)
    assert core.answer(ANN) == InterruptedTurn(None, None)
    assert core.state.facts.pending == ()
