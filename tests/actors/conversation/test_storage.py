"""A disk that refuses: nobody has seen what was not kept, who waits is told, and it goes on when the disk does."""

import pytest

from actors.conversation import condition
from actors.messages.conversation import Begin, CancelRequest, Committed, Rename, ResumeQueue, TimerFired
from actors.messages.effects import SetTimer
from actors.messages.orders import AllStored, AnswerAgent, Completed, StopAgent, StorageAwaited, TakeMore
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.errors import StorageFull, UnknownConversation
from actors.vocabulary.settings import BusyPolicy, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import CONVERSATION, SETTINGS, Core, caller

ANN, BEN = caller("ann"), caller("ben")
FULL = StorageFull("the disk is full")


def running() -> Core:
    core = Core()
    core.send("hi", ANN, await_end=True)
    core.output(w.call(), w.begin())
    return core


def refuse(core: Core) -> None:
    core.disk.refuses = FULL


def recover(core: Core) -> None:
    core.disk.refuses = None


# --- at every point ---------------------------------------------------------------------------------------------


def test_a_conversation_whose_first_event_is_refused_never_was() -> None:
    core = Core(begin=False)
    refuse(core)
    core.say(Begin(SETTINGS), ANN)
    assert core.answer(ANN) == FULL
    core.send("hi", BEN)
    assert isinstance(core.answer(BEN), UnknownConversation)
    recover(core)
    again = caller("ann", 2)
    core.say(Begin(SETTINGS), again)
    assert core.answer(again) != FULL
    assert [record.type for record in core.disk.records] == ["session_configured"]


@pytest.mark.parametrize("await_end", [True, False])
def test_a_message_that_the_disk_refuses_is_answered_with_the_error_and_starts_nothing(*, await_end: bool) -> None:
    core = Core()
    reader = core.attach("r")
    refuse(core)
    core.send("hi", ANN, await_end=await_end)
    assert core.answer(ANN) == FULL
    assert core.settled(ANN) == 1
    assert core.orders == []
    assert condition(core.state) is Condition.IDLE
    assert reader.seqs == [1]


def test_steering_input_that_the_disk_refuses_is_answered_with_the_error_and_the_turn_is_stopped() -> None:
    core = running()
    refuse(core)
    core.send("more", BEN)
    assert core.answer(BEN) == FULL
    assert core.state.facts.pending == ()
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]


def test_a_turn_whose_output_the_disk_refuses_is_stopped_and_closed_as_failed_when_the_disk_recovers() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]
    core.stopped()
    assert core.answer(ANN) == FULL
    recover(core)
    core.say(TimerFired("storage"))
    assert core.types[4:] == ["work_ended", "tool_output", "error", "turn_aborted"]
    aborted = core.said_of(ev.TurnAborted)[0]
    assert (aborted.reason.value, aborted.message) == ("failed", "storage_full: the disk is full")


def test_a_turn_that_was_stopped_by_a_disk_which_recovered_meanwhile_says_why() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    recover(core)
    core.stopped()
    assert core.said_of(ev.TurnAborted)[0].message == "storage_full: the disk is full"
    result = core.answer(ANN)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.FAILED


def test_a_terminal_event_that_the_disk_refuses_leaves_its_caller_with_the_error_and_the_turn_to_be_closed() -> None:
    core = running()
    turn = core.turn
    refuse(core)
    core.end(Completed("done"))
    assert core.answer(ANN) == FULL
    assert core.turn == turn
    recover(core)
    core.send("next", BEN)
    assert core.types.count("turn_aborted") == 1
    assert core.types[-2:] == ["task_started", "user_message"]
    assert isinstance(core.answer(BEN), AcceptedInput)


def test_a_question_that_the_disk_refuses_was_never_asked() -> None:
    core = running()
    reader = core.attach("r", after=None)
    refuse(core)
    core.output(w.ask())
    core.stopped()
    assert reader.seqs == []
    assert condition(core.state) is not Condition.WAITING


def test_an_answer_that_the_disk_refuses_is_not_given_to_the_agent_and_its_sender_is_told() -> None:
    core = running()
    core.output(w.ask())
    refuse(core)
    core.answer_with(Decision.APPROVED, BEN)
    assert core.answer(BEN) == FULL
    assert core.orders_of(AnswerAgent) == []
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]


def test_an_answer_for_a_turn_on_paper_that_the_disk_refuses_can_be_given_again() -> None:
    core = Core()
    core.send()
    core.output(w.ask())
    core.crash()
    refuse(core)
    core.answer_with(Decision.APPROVED, ANN)
    assert core.answer(ANN) == FULL
    assert condition(core.state) is Condition.WAITING
    recover(core)
    core.answer_with(Decision.APPROVED, BEN)
    assert core.runs[-1].resume


def test_an_interrupt_is_answered_although_the_disk_refuses_the_end() -> None:
    core = running()
    turn = core.turn
    refuse(core)
    core.interrupt(BEN)
    core.stopped()
    assert core.answer(BEN) == InterruptedTurn(turn, Ending.INTERRUPTED)


def test_d33_every_caller_whose_input_waited_on_a_refused_write_is_told() -> None:
    core = Core()
    core.commits = False
    refuse(core)
    core.send("one", ANN, await_end=True)
    core.send("two", BEN, BusyPolicy.ENQUEUE)
    core.store()
    assert core.answer(ANN) == core.answer(BEN) == FULL


# --- afterwards -------------------------------------------------------------------------------------------------


def test_the_disk_is_looked_at_again_after_a_while() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    assert SetTimer("storage", 5.0) in core.effects
    core.stopped()
    before = core.effects.count(SetTimer("storage", 5.0))
    core.say(TimerFired("storage"))
    assert core.effects.count(SetTimer("storage", 5.0)) == before + 1


def test_reads_go_on_while_the_disk_refuses() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    reader = core.attach("r")
    assert reader.seqs == [record.seq for record in core.disk.records]


def test_output_of_a_turn_that_the_disk_refused_is_acknowledged_and_dropped() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    recover(core)
    before = core.types
    assert [type(one).__name__ for one in core.output(w.message("late"))] == ["TakeMore"]
    assert core.types == before


def test_numbers_stay_dense_over_a_refusal() -> None:
    core = running()
    refuse(core)
    core.output(w.message("lost"))
    recover(core)
    core.stopped()
    assert [record.seq for record in core.disk.records] == list(range(1, len(core.disk.records) + 1))


def test_writes_that_were_under_way_behind_a_refused_one_are_refused_too_and_the_turn_still_ends() -> None:
    core = running()
    core.commits = False
    core.output(w.message("one", "m1"))
    core.output(w.message("two", "m2"))
    refuse(core)
    core.store(1)
    recover(core)
    core.stopped()
    core.store()
    assert "agent_message" not in core.types
    assert core.types[-1] == "turn_aborted"


def test_news_of_an_older_epoch_means_nothing() -> None:
    core = Core()
    core.commits = False
    core.send("hi", ANN)
    core.say(Committed(99, core.state.epoch - 1))
    assert core.answers(ANN) == []


def test_a_refused_request_is_not_remembered_as_done() -> None:
    core = Core()
    refuse(core)
    core.say(Rename("lost"))
    core.send("hi", key="k")
    recover(core)
    assert core.state.facts.name is None
    core.send("hi", ANN, key="k")
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert not answer.duplicate


def test_a_refused_start_of_the_next_turn_leaves_its_input_waiting() -> None:
    core = Core()
    core.send("one")
    core.send("two", ANN, BusyPolicy.ENQUEUE)
    refuse(core)
    core.end()
    recover(core)
    core.say(TimerFired("storage"))
    assert core.state.facts.paused
    core.send("three")
    core.end()
    core.say(ResumeQueue())
    assert [w.words_of(run.inputs) for run in core.runs] == [["one"], ["three"], ["two"]]


def test_an_append_is_of_one_conversation_and_has_the_head_of_its_last_record() -> None:
    core = Core()
    core.send()
    core.output(w.message("hi"))
    core.end()
    assert {append.conversation for append in core.appends} == {CONVERSATION}
    for append in core.appends:
        assert append.head is None or append.head.last_seq == append.records[-1].seq


def test_messages_and_ends_of_turns_are_synced_and_repeatable_output_is_not() -> None:
    core = Core()
    core.send()
    core.output(w.message("words"))
    core.output(w.ask())
    core.answer_with(Decision.APPROVED)
    core.end()
    kept = {tuple(record.type for record in append.records): append.durable for append in core.appends}
    assert kept.pop(("agent_message",)) is False
    assert set(kept.values()) == {True}


def test_d14_an_interrupt_of_a_turn_on_paper_that_the_disk_refuses_is_answered_with_the_error() -> None:
    core = Core()
    core.send()
    core.output(w.ask())
    core.crash()
    refuse(core)
    core.interrupt(ANN)
    assert core.answer(ANN) == FULL
    assert condition(core.state) is Condition.WAITING


def test_input_that_was_taken_back_before_the_disk_refused_it_settles_its_request_once() -> None:
    core = running()
    core.commits = False
    core.send("two", BEN, BusyPolicy.ENQUEUE)
    core.say(CancelRequest(BEN))
    refuse(core)
    core.store()
    assert core.answer(BEN) == FULL
    assert core.settled(BEN) == 1


def test_a_repeated_stored_input_that_is_refused_with_earlier_appends_is_answered_once() -> None:
    core = running()
    core.send("steers", caller("ann", 2), key="k")
    core.commits = False
    core.output(w.message("said"))
    core.send("steers", BEN, key="k")
    refuse(core)
    core.store()
    assert core.answer(BEN) == FULL
    recover(core)
    core.commits = True
    core.stopped()
    core.send("more")
    core.end()
    assert core.settled(BEN) == 1


def test_the_refusal_of_a_write_that_followed_a_refused_one_takes_nothing_back_that_was_said_since() -> None:
    core = Core()
    core.commits = False
    core.say(Rename("one"))
    core.say(Rename("two"))
    refuse(core)
    core.store(1)
    core.send("hi", ANN)
    core.store(1)
    recover(core)
    core.store()
    assert isinstance(core.answer(ANN), AcceptedInput)
    assert [w.words_of(run.inputs) for run in core.runs] == [["hi"]]


def test_an_agent_that_is_faster_than_the_disk_waits_for_it() -> None:
    core = Core(commits=False)
    core.store()
    core.send("go")
    core.store()
    core.output(w.message("x" * (2 << 20)))
    assert core.orders_of(TakeMore) == []
    core.store()
    assert core.orders_of(TakeMore) == [TakeMore(core.turn)]


def test_an_agent_that_waits_until_its_words_are_stored_is_told_then_and_not_before() -> None:
    core = running()
    core.commits = False
    core.output(w.patch_begin(), StorageAwaited())
    assert core.orders_of(AllStored) == []
    core.store()
    assert core.orders_of(AllStored) == [AllStored(core.turn, core.state.facts.seq)]


def test_an_agent_whose_words_the_disk_refuses_is_stopped_and_never_told_that_they_are_stored() -> None:
    core = running()
    refuse(core)
    core.output(w.patch_begin(), StorageAwaited())
    assert core.orders_of(AllStored) == []
    assert core.orders_of(StopAgent)
