"""Questions whose asker is gone: the program that takes its place is told what was asked and what was answered."""

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.settings import Decision
from supervisor.agents.acp.catch_up import ANSWERS_CLOSING, ANSWERS_OPENING, AnsweredQuestions


def told(*events: ev.DurableEvent) -> list[str]:
    answered = AnsweredQuestions()
    for event in events:
        answered.take(event)
    if not (text := answered.text()):
        return []
    opening, *lines, closing = text.split("\n")
    assert (opening, closing) == (ANSWERS_OPENING, ANSWERS_CLOSING)
    return lines


def asked(name: str, *command: str) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId(name),
        item_id=ItemId(f"item-{name}"),
        approval_id=ApprovalId(name),
        subject=ev.CommandSubject(command=command) if command else ev.OtherSubject(),
        agent_call=ev.AgentCall(title=name),
    )


def answered(name: str, decision: Decision = Decision.APPROVED, reason: str = "") -> ev.ApprovalResolved:
    return ev.ApprovalResolved(approval_id=ApprovalId(name), decision=decision, reason=reason)


def test_each_question_is_told_with_its_answer_and_the_reason() -> None:
    lines = told(
        asked("a", "npm", "test"),
        asked("Write x"),
        answered("a"),
        answered("Write x", Decision.DENIED, "not\nthere"),
    )
    assert lines == ["- npm test: allowed", "- Write x: refused, because: not there"]


def test_an_approval_whose_action_was_carried_out_is_not_told() -> None:
    begun = ev.WorkBegan(
        call_id=CallId("a"), item_id=ItemId("item-a"), subject=ev.OtherSubject(), agent_call=ev.AgentCall()
    )
    assert told(asked("a"), answered("a"), begun, asked("b"), answered("b", Decision.APPROVED_FOR_SESSION)) == [
        "- b: allowed"
    ]


def test_questions_of_earlier_turns_are_not_told() -> None:
    assert told(asked("a"), answered("a"), ev.TaskStarted(), asked("b"), answered("b")) == ["- b: allowed"]


def test_a_program_that_was_told_already_is_not_told_again() -> None:
    begun = ev.AgentSession(agent="claude", session="s", how="resumed")
    assert told(asked("a"), answered("a"), begun, asked("b"), answered("b")) == ["- b: allowed"]


def test_nothing_is_told_where_nothing_was_asked() -> None:
    assert told(ev.TaskStarted()) == []
