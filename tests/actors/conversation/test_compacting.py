"""A request to sum up the history: a turn of its own, which takes no message and leaves the queue alone."""

import pytest

from actors.messages.conversation import ChangeSettings, Send
from actors.messages.orders import AgentStopped, Completed
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import WrongState
from actors.vocabulary.settings import AbortReason, BusyPolicy, Task
from tests.support.core_driver import Core, caller

ANN = caller("ann")
SUMMED = ev.Compacted(why="asked", summary="s", first_seq=1, last_seq=3, tokens_after=7, context_window=16)


def compact(*, await_end: bool = False, key: str | None = None, policy: BusyPolicy = BusyPolicy.STEER) -> Send:
    return Send((), policy, task=Task.COMPACT, await_end=await_end, key=key)


def answered() -> Core:
    core = Core()
    core.send("first")
    core.output(ev.AgentMessage(message="answer"))
    core.end()
    return core


def test_it_has_a_turn_of_its_own_without_a_message() -> None:
    core = answered()
    core.say(compact(), ANN)
    run, started = core.runs[-1], core.said_of(ev.TaskStarted)[-1]
    assert (run.task, run.inputs, run.first) == (Task.COMPACT, (), False)
    assert (started.task, len(core.said_of(ev.UserMessage))) == (Task.COMPACT, 1)
    answer = core.answer(ANN)
    assert isinstance(answer, AcceptedInput)
    assert (answer.input, answer.turn) == (started.input_id, core.turn)


def test_while_a_turn_runs_it_waits_whatever_the_policy() -> None:
    core = Core()
    core.send("first")
    core.say(compact(await_end=True, policy=BusyPolicy.INTERRUPT), ANN)
    core.send("steered")
    assert [one.task for one in core.said_of(ev.InputQueued)] == [Task.COMPACT, Task.ANSWER]
    core.end()
    assert [run.task for run in core.runs] == [Task.ANSWER, Task.ANSWER]
    core.end()
    assert core.runs[-1].task is Task.COMPACT
    assert core.state.facts.pending == ()
    core.output(SUMMED)
    core.end(Completed("done"))
    answer = core.answer(ANN)
    assert isinstance(answer, TurnResult)
    assert (answer.ending, answer.message) == (Ending.COMPLETED, "done")


def test_of_one_key_it_runs_once() -> None:
    core = answered()
    core.say(compact(key="k"), ANN)
    core.output(SUMMED)
    core.end()
    core.send("more")
    core.output(ev.AgentMessage(message="more"))
    core.end()
    core.say(compact(key="k"), caller("ben"))
    answer = core.answer(caller("ben"))
    assert isinstance(answer, AcceptedInput)
    assert answer.duplicate
    assert len(core.said_of(ev.TaskStarted)) == 3


def test_with_nothing_said_since_the_last_time_it_is_refused() -> None:
    fresh = Core()
    fresh.say(compact(), ANN)
    assert isinstance(fresh.answer(ANN), WrongState)
    core = answered()
    core.say(compact(), caller("ben"))
    core.output(SUMMED)
    core.end()
    core.say(compact(), ANN)
    refusal = core.answer(ANN)
    assert isinstance(refusal, WrongState)
    assert "nothing to sum up" in refusal.message


def test_a_paused_queue_stays_paused() -> None:
    core = answered()
    core.send("second")
    core.output(ev.AgentMessage(message="half"))
    core.send("queued", policy=BusyPolicy.ENQUEUE)
    core.interrupt()
    core.stopped()
    core.say(compact(), ANN)
    core.end()
    assert core.state.facts.paused
    assert [run.task for run in core.runs] == [Task.ANSWER, Task.ANSWER, Task.COMPACT]


@pytest.mark.parametrize("lost", [False, True], ids=["interrupted", "lost"])
def test_a_turn_that_does_not_end_well_leaves_the_history_as_it_was(lost: bool) -> None:  # a parameter
    core = answered()
    core.say(compact(), ANN)
    if lost:
        core.crash()
    else:
        core.interrupt()
        core.end(AgentStopped())
    [end] = core.said_of(ev.TurnAborted)
    assert end.reason is (AbortReason.LOST if lost else AbortReason.INTERRUPTED)
    assert (core.state.facts.compacted, core.state.facts.unsummed) == (0, True)
    core.send("on")
    assert core.runs[-1].compacted == 0


def test_later_turns_are_told_which_event_says_what_was_summed_up() -> None:
    core = answered()
    core.say(compact(), ANN)
    core.output(SUMMED)
    seq = core.state.facts.seq
    core.end()
    core.send("on")
    assert core.runs[-1].compacted == seq
    assert core.said_of(ev.TaskStarted)[-1].model_context_window == 16
    facts = core.state.facts
    assert (facts.context_tokens, facts.context_window) == (7, 16)


def test_the_window_of_another_model_is_not_known_before_it_has_answered() -> None:
    core = answered()
    core.send("on")
    core.output(ev.TokenCount(input_tokens=9, output_tokens=1, total_tokens=10, context_tokens=10, context_window=16))
    core.end()
    assert (core.state.facts.context_tokens, core.state.facts.context_window) == (10, 16)
    other = core.state.facts.settings.model_copy(update={"model": "other"})
    core.say(ChangeSettings(other), ANN)
    assert (core.state.facts.context_tokens, core.state.facts.context_window) == (10, None)
