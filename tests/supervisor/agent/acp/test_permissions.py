"""Permissions that the scripted agent asks for: which are approvals, and how they are answered."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agent.acp.permissions import CANCELLED, options_of, outcome
from supervisor.agent.turn import ApprovalAnswer
from tests.supervisor.agent.acp.scripted import scripted, talk_with
from tests.support.engine_harness import Talk

ONCE = {"optionId": "once", "name": "Once", "kind": "allow_once"}
EVER = {"optionId": "ever", "name": "Ever", "kind": "allow_always"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}
NEVER = {"optionId": "never", "name": "Never", "kind": "reject_always"}


def said(talk: Talk) -> str:
    return talk.all(ev.AgentMessage)[-1].message


def notices(talk: Talk) -> list[str]:
    return [one.message for one in talk.all(ev.BackgroundEvent)]


# --- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "offered", "chosen"),
    [
        (Decision.APPROVED, (EVER, ONCE, NO), "once"),
        (Decision.APPROVED, (NO, EVER), "ever"),
        (Decision.APPROVED_FOR_SESSION, (ONCE, EVER, NO), "ever"),
        (Decision.APPROVED_FOR_SESSION, (ONCE, NO), "once"),
        (Decision.DENIED, (NEVER, NO, ONCE), "no"),
        (Decision.DENIED, (ONCE, NEVER), "never"),
        (Decision.DENIED, (ONCE,), None),
        (Decision.WITHDRAWN, (ONCE, NO), None),
    ],
)
def test_an_answer_is_the_option_that_means_it(
    decision: Decision, offered: tuple[dict[str, str], ...], chosen: str | None
) -> None:
    answer = outcome(ApprovalAnswer(decision), options_of(list(offered)))
    meant = {"outcome": {"outcome": "selected", "optionId": chosen}}
    assert answer == (CANCELLED if chosen is None else meant)


def test_options_that_can_not_be_told_apart_or_that_nobody_knows_are_not_offered() -> None:
    odd = [None, 3, {}, {"optionId": "", "kind": "allow_once"}, {"optionId": "x", "kind": "maybe"}, ONCE, ONCE]
    assert [one.id for one in options_of(odd)] == ["once"]
    assert list(options_of("no list")) == []


def test_the_option_that_a_person_names_is_what_the_agent_gets(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask touch made")
        asked = talk.wait(ev.ToolUseApprovalRequest)
        assert [one.id for one in asked.options] == ["yes", "always", "no"]
        talk.decide(asked.approval_id, Decision.APPROVED, option="Yes, always")
        talk.result(turn)
        assert talk.all(ev.AgentMessage)[0].message.startswith("(always)")
        assert talk.all(ev.ApprovalResolved)[0].decision is Decision.APPROVED_FOR_SESSION


# --- what is asked ------------------------------------------------------------------------------------------------


def test_the_same_question_is_answered_alike_when_it_is_asked_again(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask-again touch made")
        talk.decide(talk.wait(ev.ToolUseApprovalRequest).approval_id, Decision.DENIED)
        talk.result(turn)
        assert said(talk) == "(no no)"
        assert len(talk.all(ev.ToolUseApprovalRequest)) == 1


def test_two_questions_about_one_call_are_two(tmp_path: Path) -> None:
    """A yes to the directory is none to the command."""
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask-both touch made")
        talk.decide(talk.wait(ev.ToolUseApprovalRequest).approval_id, Decision.APPROVED)
        talk.decide(talk.wait(ev.ToolUseApprovalRequest, 2).approval_id, Decision.DENIED)
        talk.result(turn)
        assert said(talk) == "(yes no)"


def test_a_question_without_a_yes_is_not_asked(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("ask-odd touch made")
        assert said(talk) == "(cancelled)"
        assert notices(talk) == ["scripted asked for a permission and offered no yes, so nobody was asked"]


def test_with_the_policy_never_nobody_is_asked_and_that_is_said_once_a_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, approval_policy=ApprovalPolicy.NEVER)
        talk.ask("ask touch made; then ask touch more")
        assert (harness.workspace / "more").exists()
        assert talk.all(ev.ToolUseApprovalRequest) == []
        (notice,) = notices(talk)
        assert notice.endswith("allowed without a question: the approval policy is never")


@pytest.mark.parametrize("policy", [ApprovalPolicy.ON_REQUEST, ApprovalPolicy.ON_FAILURE])
def test_looking_is_not_asked_for(tmp_path: Path, policy: ApprovalPolicy) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, approval_policy=policy)
        talk.ask("ask-about read /etc/hostname")
        assert said(talk) == "(yes)"
        assert talk.all(ev.ToolUseApprovalRequest) == []


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (ApprovalPolicy.UNTRUSTED, "ask-about read /etc/hostname"),
        (ApprovalPolicy.ON_REQUEST, "ask-about fetch /etc/hostname"),
        (ApprovalPolicy.ON_REQUEST, "ask-about switch_mode plan"),
    ],
)
def test_everything_else_is_asked(tmp_path: Path, policy: ApprovalPolicy, asked: str) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, approval_policy=policy)
        turn = talk.start(asked)
        talk.decide(talk.wait(ev.ToolUseApprovalRequest).approval_id, Decision.DENIED)
        talk.result(turn)
        assert said(talk) == "(no)"


def test_a_question_has_the_deadline_of_the_config(tmp_path: Path) -> None:
    with scripted(tmp_path, greenroom="approval_deadline_seconds = 0.05") as harness:
        talk = talk_with(harness)
        talk.ask("ask touch made")
        assert talk.all(ev.AgentMessage)[0].message.startswith("(no)")
        assert talk.all(ev.ApprovalResolved)[0].by == "deadline"


def test_an_abort_ends_the_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.start("ask touch made")
        talk.decide(talk.wait(ev.ToolUseApprovalRequest).approval_id, Decision.ABORT)
        talk.wait(ev.TurnAborted)
        assert not (harness.workspace / "made").exists()


def test_what_was_said_before_a_question_is_stored_before_it(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("say so I ask; then ask touch made")
        asked = talk.wait(ev.ToolUseApprovalRequest)
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["so I ask"]
        talk.decide(asked.approval_id, Decision.DENIED)
        talk.result(turn)
