"""Questions to people: asked once, answered once, scoped, withdrawn, kept over a restart."""

import json

import pytest
from msgspec.structs import replace

from actors.conversation import condition, summary, visible
from actors.conversation.applying import apply
from actors.conversation.facts import empty_facts
from actors.conversation.restore import head_of, restore
from actors.messages.conversation import AnswerApproval, TimerFired
from actors.messages.effects import SetTimer
from actors.messages.orders import AgentStopped, AnswerAgent, Completed, StopAgent, SuspendAgent, Suspended
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AnsweredApproval, InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.errors import AlreadyAnswered, InvalidInput, UnknownApproval
from actors.vocabulary.ids import ApprovalId
from actors.vocabulary.settings import AbortReason, Decision
from tests.actors.conversation import words as w
from tests.support.core_driver import Core, caller

ANN, BEN, CEM = caller("ann"), caller("ben"), caller("cem")


def asked(*, deadline_s: float | None = None) -> Core:
    """A turn whose agent waits for the answer to `question`."""
    core = Core()
    core.send("hi", CEM, await_end=True)
    core.output(w.call(), w.ask(deadline_s=deadline_s))
    return core


def on_paper() -> Core:
    """Such a turn whose agent was suspended, too."""
    core = asked()
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.end(Suspended())
    return core


def decided(core: Core) -> list[tuple[str, Decision, str]]:
    return [(one.approval_id, one.decision, one.by) for one in core.said_of(ev.ApprovalResolved)]


# --- who answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", [Decision.APPROVED, Decision.APPROVED_FOR_SESSION, Decision.DENIED])
def test_the_agent_gets_the_answer_when_it_is_on_disk(decision: Decision) -> None:
    core = asked()
    core.commits = False
    core.answer_with(decision, ANN)
    assert core.orders_of(AnswerAgent) == []
    core.store()
    assert [one.decision for one in core.orders_of(AnswerAgent)] == [decision]
    assert isinstance(core.answer(ANN), AnsweredApproval)


def test_the_first_answer_wins_and_a_later_one_is_told_who_won() -> None:
    core = asked()
    core.answer_with(Decision.DENIED, ANN)
    core.answer_with(Decision.APPROVED, BEN)
    late = core.answer(BEN)
    assert isinstance(late, AlreadyAnswered)
    assert late.details == {"decision": "denied", "by": "ann"}
    assert decided(core) == [("question", Decision.DENIED, "ann")]
    assert len(core.orders_of(AnswerAgent)) == 1


def test_the_first_answer_wins_even_before_it_is_on_disk() -> None:
    core = asked()
    core.commits = False
    core.answer_with(Decision.DENIED, ANN)
    core.answer_with(Decision.APPROVED, BEN)
    assert isinstance(core.answer(BEN), AlreadyAnswered)


def test_d19_an_answer_that_comes_before_the_question_is_on_disk_is_not_lost() -> None:
    core = Core()
    core.send()
    core.commits = False
    core.output(w.call(), w.ask())
    core.answer_with(Decision.APPROVED, ANN)
    core.store()
    assert [one.decision for one in core.orders_of(AnswerAgent)] == [Decision.APPROVED]


def test_d19_a_late_abort_of_an_answered_question_leaves_the_turn_alone() -> None:
    core = asked()
    core.answer_with(Decision.APPROVED, ANN)
    core.answer_with(Decision.ABORT, BEN)
    assert isinstance(core.answer(BEN), AlreadyAnswered)
    assert core.orders_of(StopAgent) == []


def test_d19_a_late_abort_of_a_question_of_an_older_turn_leaves_the_running_one_alone() -> None:
    core = asked()
    core.interrupt()
    core.stopped()
    core.send("next")
    core.answer_with(Decision.ABORT, BEN)
    late = core.answer(BEN)
    assert isinstance(late, AlreadyAnswered)
    assert late.details["decision"] == "withdrawn"
    assert core.orders_of(StopAgent) == [StopAgent(core.runs[0].turn)]


def test_an_unknown_question_cannot_be_answered() -> None:
    core = asked()
    core.answer_with(Decision.APPROVED, ANN, "somewhere-else")
    assert isinstance(core.answer(ANN), UnknownApproval)
    assert decided(core) == []


def test_nobody_can_withdraw_a_question() -> None:
    core = asked()
    core.answer_with(Decision.WITHDRAWN, ANN)
    assert isinstance(core.answer(ANN), InvalidInput)
    assert decided(core) == []


def test_d16_two_questions_of_one_call_are_answered_each_for_itself() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask("q1"), w.ask("q2"))
    core.answer_with(Decision.DENIED, ANN, "q2")
    assert [(one.approval, one.decision) for one in core.orders_of(AnswerAgent)] == [("q2", Decision.DENIED)]
    assert [one.approval_id for one in summary(core.state).pending] == ["q1"]


def test_the_activity_shown_is_that_of_the_stored_events() -> None:
    """A client that hears that a conversation waits, or has ended, and looks, finds the question, or the end."""
    core = Core()
    core.send()
    core.commits = False
    core.output(w.call(), w.ask())
    assert (visible(core.state), summary(core.state).pending) == (Condition.RUNNING, ())
    core.store()
    assert visible(core.state) is summary(core.state).state is Condition.WAITING
    assert [one.approval_id for one in summary(core.state).pending] == ["question"]
    core.answer_with(Decision.DENIED, ANN)
    assert visible(core.state) is Condition.WAITING
    core.store()
    core.output(w.output())
    core.end()
    assert visible(core.state) is Condition.RUNNING
    core.store()
    assert visible(core.state) is Condition.DENIED


def test_d28_a_question_waits_although_nobody_is_attached() -> None:
    core = asked()
    assert condition(core.state) is Condition.WAITING
    reader = core.attach("late", after=None)
    assert [one.approval_id for one in reader.slices[0].pending or ()] == ["question"]


# --- abort, withdrawal ------------------------------------------------------------------------------------------


def test_the_decision_to_abort_interrupts_the_turn_once() -> None:
    core = asked()
    core.answer_with(Decision.ABORT, ANN)
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]
    assert core.orders_of(AnswerAgent) == []
    core.stopped()
    assert decided(core) == [("question", Decision.ABORT, "ann")]
    assert core.said_of(ev.TurnAborted) == [ev.TurnAborted(reason=AbortReason.INTERRUPTED, by=("ann",))]


def test_d1_the_caller_of_a_turn_that_an_answer_aborted_is_answered() -> None:
    core = asked()
    core.answer_with(Decision.ABORT, ANN)
    core.stopped()
    result = core.answer(CEM)
    assert isinstance(result, TurnResult)
    assert result.ending is Ending.INTERRUPTED


def test_no_question_outlives_its_turn() -> None:
    core = asked()
    core.output(w.ask("q2"))
    core.interrupt()
    core.stopped()
    assert decided(core) == [("question", Decision.WITHDRAWN, ""), ("q2", Decision.WITHDRAWN, "")]
    assert summary(core.state).pending == ()


def test_d25_a_withdrawn_question_is_not_shown_to_those_who_attach_later() -> None:
    core = asked()
    core.interrupt()
    core.stopped()
    assert not core.attach("late").slices[-1].pending


def test_an_answer_while_the_turn_is_being_stopped_does_not_reach_the_agent() -> None:
    core = asked()
    core.interrupt()
    core.answer_with(Decision.APPROVED, ANN)
    core.stopped()
    assert core.orders_of(AnswerAgent) == []
    assert decided(core) == [("question", Decision.APPROVED, "ann")]


# --- for the session --------------------------------------------------------------------------------------------


def test_d40_approved_for_the_session_holds_for_the_same_command_in_the_same_directory_only() -> None:
    core = asked()
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN)
    core.output(w.ask("same"), w.ask("elsewhere", cwd="/other"), w.ask("longer", words=("rm", "x", "y")))
    assert [one.approval for one in core.orders_of(AnswerAgent)] == ["question", "same"]
    assert [one.approval_id for one in summary(core.state).pending] == ["elsewhere", "longer"]


def test_d40_a_plain_approval_is_not_remembered() -> None:
    core = asked()
    core.answer_with(Decision.APPROVED, ANN)
    core.output(w.ask("again"))
    assert [one.approval_id for one in summary(core.state).pending] == ["again"]


def test_a_patch_is_never_approved_for_the_session() -> None:
    core = Core()
    core.send()
    core.output(w.ask_patch("p1"))
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN, "p1")
    core.output(w.ask_patch("p2"))
    assert [one.approval_id for one in summary(core.state).pending] == ["p2"]


def test_approved_for_the_session_holds_in_later_turns_and_after_a_restart() -> None:
    core = asked()
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN)
    core.end()
    core.crash()
    core.send()
    core.output(w.ask("again"))
    assert [one.approval for one in core.orders_of(AnswerAgent)] == ["question", "again"]


# --- deadline ---------------------------------------------------------------------------------------------------


def test_a_question_with_a_deadline_is_denied_when_nobody_answered_in_time() -> None:
    core = asked(deadline_s=30)
    assert SetTimer("approval:question", 30) in core.effects
    core.say(TimerFired("approval:question"))
    assert [one.decision for one in core.orders_of(AnswerAgent)] == [Decision.DENIED]
    assert decided(core) == [("question", Decision.DENIED, "deadline")]


def test_a_deadline_after_the_answer_changes_nothing() -> None:
    core = asked(deadline_s=30)
    core.answer_with(Decision.APPROVED, ANN)
    core.say(TimerFired("approval:question"))
    assert decided(core) == [("question", Decision.APPROVED, "ann")]


def test_a_deadline_is_set_again_after_a_restart() -> None:
    core = asked(deadline_s=30)
    assert SetTimer("approval:question", 30) in core.crash()


def test_a_question_without_a_deadline_waits_for_ever() -> None:
    core = asked()
    assert not [one for one in core.effects if isinstance(one, SetTimer) and one.name.startswith("approval")]


# --- on paper ---------------------------------------------------------------------------------------------------


def test_a_turn_that_only_waits_is_put_on_paper_when_nobody_looks() -> None:
    core = on_paper()
    assert core.orders_of(SuspendAgent) == [SuspendAgent(core.turn)]
    assert core.state.run is None
    assert condition(core.state) is Condition.WAITING


def test_a_turn_is_not_put_on_paper_under_the_eyes_of_a_reader() -> None:
    core = asked()
    core.attach("r")
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    assert core.orders_of(SuspendAgent) == []


def test_the_answer_resumes_a_turn_that_is_on_paper_and_its_caller_gets_its_end() -> None:
    core = on_paper()
    core.answer_with(Decision.APPROVED, ANN)
    resumed = core.runs[-1]
    assert (resumed.turn, resumed.resume, resumed.inputs) == (core.turn, True, ())
    core.output(w.begin(), w.end(), w.output())
    core.end(Completed("did it"))
    result = core.answer(CEM)
    assert isinstance(result, TurnResult)
    assert result.message == "did it"
    assert core.types.count("task_started") == core.types.count("task_complete") == 1


def test_a_turn_on_paper_goes_on_when_its_last_question_is_answered() -> None:
    core = Core()
    core.send()
    core.output(w.ask("q1"), w.ask("q2"))
    core.crash()
    core.answer_with(Decision.DENIED, ANN, "q2")
    assert len(core.runs) == 1
    core.answer_with(Decision.APPROVED, ANN, "q1")
    assert [run.resume for run in core.runs] == [False, True]


def test_an_answer_that_meets_the_suspension_half_way_resumes_the_turn() -> None:
    core = asked()
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.answer_with(Decision.APPROVED, ANN)
    core.end(Suspended())
    assert [run.resume for run in core.runs] == [False, True]


def test_an_interrupt_of_a_turn_on_paper_is_answered_at_once() -> None:
    core = on_paper()
    turn = core.turn
    core.interrupt(ANN)
    assert core.answer(ANN) == InterruptedTurn(turn, Ending.INTERRUPTED)
    assert core.orders_of(StopAgent) == []
    assert core.types[-3:] == ["tool_output", "approval_resolved", "turn_aborted"]


def test_an_interrupt_that_meets_the_suspension_half_way_wins() -> None:
    core = asked()
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.interrupt(ANN)
    core.end(Suspended())
    assert core.types[-1] == "turn_aborted"


def test_an_interrupt_of_a_turn_that_is_being_resumed_takes_the_resumption_back() -> None:
    core = on_paper()
    core.commits = False
    core.answer_with(Decision.APPROVED, ANN)
    core.interrupt(BEN)
    core.store()
    assert len(core.runs) == 1
    assert core.types[-1] == "turn_aborted"


def test_a_waiting_turn_survives_a_restart_and_is_continued_by_the_answer() -> None:
    core = asked()
    core.crash()
    assert core.types[-1] == "approval_requested"
    assert condition(core.state) is Condition.WAITING
    core.answer_with(Decision.APPROVED, ANN)
    assert core.runs[-1].resume


def test_a_waiting_turn_survives_the_failure_of_its_actor() -> None:
    core = asked()
    core.crash(AbortReason.FAILED)
    assert "turn_aborted" not in core.types
    core.answer_with(Decision.DENIED, ANN)
    assert core.runs[-1].resume


def test_a_restart_ends_a_turn_that_waits_while_a_command_of_it_runs() -> None:
    core = Core()
    core.send()
    core.output(w.begin("other"), w.ask())
    core.crash()
    assert decided(core) == [("question", Decision.WITHDRAWN, "")]
    assert core.said_of(ev.TurnAborted)[0].reason is AbortReason.LOST


def test_the_winner_is_known_after_a_restart() -> None:
    core = asked()
    core.answer_with(Decision.DENIED, ANN)
    core.end(AgentStopped())
    core.crash()
    core.answer_with(Decision.APPROVED, BEN)
    late = core.answer(BEN)
    assert isinstance(late, AlreadyAnswered)
    assert late.details["by"] == "ann"


def test_a_resumed_turn_is_interrupted_through_its_agent() -> None:
    core = asked()
    core.now += core.limits.idle_park_s
    core.say(TimerFired("idle"))
    core.answer_with(Decision.APPROVED, ANN)
    core.end(Suspended())
    assert core.interrupt(BEN) == [StopAgent(core.turn)]
    assert core.answers(BEN) == []
    core.stopped()
    assert core.types[-1] == "turn_aborted"


def test_a_question_nobody_answers_in_time_is_answered_as_it_says_itself() -> None:
    core = Core()
    core.send("go")
    core.output(w.call(), w.ask(deadline_s=5.0).model_copy(update={"default": Decision.ABORT}))
    core.say(TimerFired("approval:question"))
    assert core.orders_of(StopAgent) == [StopAgent(core.turn)]


def test_a_tool_approved_for_the_session_is_not_asked_for_again_but_another_tool_of_its_server_is() -> None:
    core = Core()
    core.send()
    core.output(w.call(), w.ask_tool("q1", "write"))
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN, "q1")
    core.output(w.ask_tool("q2", "write"), w.ask_tool("q3", "delete"))
    assert [one.approval_id for one in summary(core.state).pending] == ["q3"]
    answers = [(one.approval, one.decision) for one in core.orders_of(AnswerAgent)]
    assert answers == [("q1", Decision.APPROVED_FOR_SESSION), ("q2", Decision.APPROVED_FOR_SESSION)]


# --- kept yeses of before, and of others ------------------------------------------------------------------------


def test_a_yes_in_a_checkpoint_of_before_holds_for_what_it_meant_and_for_no_tool_or_inside_question() -> None:
    """Then a yes meant outside; and of a server's tool nobody had kept what it was."""
    old = (("rm", "x"), "/work"), (("mcp", "files", "write"), "")
    checkpoint = json.loads(head_of(asked().state).checkpoint)
    del checkpoint["kept"]
    body = json.dumps({**checkpoint, "standing": old}).encode()
    facts = restore(checkpoint["conversation"], replace(head_of(asked().state), checkpoint=body), ()).facts
    kept = facts.kept_yes(w.ask())
    assert kept is not None
    assert kept.approval == ""
    inside = w.ask().model_copy(update={"outside_sandbox": False, "inside_or_outside": True})
    for request in (inside, w.ask_tool("q", "write"), w.ask_tool("q", "write", fingerprint="")):
        assert facts.kept_yes(request) is None


def test_a_yes_for_the_session_of_before_to_an_agent_is_not_taken_for_ours() -> None:
    """It was sent to the agent as a rule of its own; what it was for stands nowhere."""
    core = Core()
    core.send()
    core.output(w.ask_use(w.option("ever", "allow_always", "Ever")))
    core.say(AnswerApproval(ApprovalId("question"), Decision.APPROVED, "ann", option="ever"))
    old = core.said_of(ev.ApprovalResolved)[0].model_copy(update={"decision": Decision.APPROVED_FOR_SESSION})
    asked_again = apply(core.state.facts, w.ask_use(approval="question"), 1.0, core.turn)
    assert apply(asked_again, old, 2.0, core.turn).kept == ()


@pytest.mark.parametrize("forked", [False, True])
def test_a_yes_holds_in_its_own_conversation_and_in_no_copy_of_it(forked: bool) -> None:
    core = asked()
    core.answer_with(Decision.APPROVED_FOR_SESSION, ANN)
    core.end()
    facts = empty_facts(core.state.facts.conversation)
    for record in core.disk.records:
        event = ev.durable_adapter.validate_json(record.body)
        if forked and isinstance(event, ev.SessionConfigured):
            event = event.model_copy(update={"forked_from": f"other@{len(core.disk.records)}"})
        facts = apply(facts, event, record.ts, record.turn)
    assert (facts.kept_yes(w.ask()) is None) == forked
