"""Permissions that the scripted agent asks for: which are approvals, and how they are answered."""

from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agents.acp.permissions import CANCELLED, options_of, outcome
from supervisor.agents.turn import ApprovalAnswer
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from tests.supervisor.agents.acp.scripted import agent_table, scripted, talk_with
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
        (Decision.APPROVED, (NO, EVER), None),
        (Decision.APPROVED_FOR_SESSION, (EVER, ONCE, NO), "once"),
        (Decision.APPROVED_FOR_SESSION, (EVER, NO), None),
        (Decision.DENIED, (NEVER, NO, ONCE), "no"),
        (Decision.DENIED, (ONCE, NEVER), None),
        (Decision.DENIED, (ONCE,), None),
        (Decision.WITHDRAWN, (ONCE, NO), None),
    ],
)
def test_an_answer_is_the_option_that_means_it_and_never_a_rule_of_the_agents_own(
    decision: Decision, offered: tuple[dict[str, str], ...], chosen: str | None
) -> None:
    answer = outcome(ApprovalAnswer(decision), options_of(list(offered), "them"))
    meant = {"outcome": {"outcome": "selected", "optionId": chosen}}
    assert answer == (CANCELLED if chosen is None else meant)


def test_options_that_can_not_be_told_apart_or_that_nobody_knows_are_not_offered() -> None:
    odd = [None, 3, {}, {"optionId": "", "kind": "allow_once"}, {"optionId": "x", "kind": "maybe"}, ONCE, ONCE]
    assert [one.id for one in options_of(odd, "them")] == ["once"]
    assert list(options_of("no list", "them")) == []


def test_the_option_that_a_person_names_is_what_the_agent_gets(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask touch made")
        asked = talk.wait(ev.ApprovalRequested)
        assert [one.id for one in asked.options] == ["yes", "always", "no"]
        talk.decide(asked.approval_id, Decision.APPROVED, option="Yes, always")
        talk.result(turn)
        assert talk.all(ev.AgentMessage)[0].message.startswith("(always)")
        assert talk.all(ev.ApprovalResolved)[0].decision is Decision.APPROVED, "the agent keeps it, we don't"
        assert asked.options[1].rule.startswith("scripted's own rule: “Yes, always”")


# --- what is asked ------------------------------------------------------------------------------------------------


def test_the_same_question_is_answered_alike_when_it_is_asked_again(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask-again touch made")
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.DENIED)
        talk.result(turn)
        assert said(talk) == "(no no)"
        assert len(talk.all(ev.ApprovalRequested)) == 1


def test_two_questions_about_one_call_are_two(tmp_path: Path) -> None:
    """A yes to the directory is none to the command."""
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask-both touch made")
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.APPROVED)
        talk.decide(talk.wait(ev.ApprovalRequested, 2).approval_id, Decision.DENIED)
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
        assert talk.all(ev.ApprovalRequested) == []
        (notice,) = notices(talk)
        assert notice.endswith("allowed without a question: the approval policy is never")


@pytest.mark.parametrize("policy", [ApprovalPolicy.ON_REQUEST, ApprovalPolicy.ON_FAILURE])
def test_looking_is_not_asked_for(tmp_path: Path, policy: ApprovalPolicy) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, approval_policy=policy)
        talk.ask("ask-about read /etc/hostname")
        assert said(talk) == "(yes)"
        assert talk.all(ev.ApprovalRequested) == []


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
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.DENIED)
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
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.ABORT)
        talk.wait(ev.TurnAborted)
        assert not (harness.workspace / "made").exists()


def test_text_before_a_question_is_stored_before_it(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("say so I ask; then ask touch made")
        asked = talk.wait(ev.ApprovalRequested)
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["so I ask"]
        talk.decide(asked.approval_id, Decision.DENIED)
        talk.result(turn)


# --- always, and whose --------------------------------------------------------------------------------------------


def answer(talk: Talk, said: str, decision: Decision, number: int = 1, **how: Any) -> ev.ApprovalRequested:
    turn = talk.start(said)
    asked = talk.wait(ev.ApprovalRequested, number)
    talk.decide(asked.approval_id, decision, **how)
    talk.result(turn)
    return asked


def test_a_yes_for_the_conversation_is_kept_by_us_and_the_agent_is_told_once_each_time(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        first = answer(talk, "ask echo x >> made", Decision.APPROVED_FOR_SESSION)
        assert talk.all(ev.AgentMessage)[-1].message.startswith("(yes)")
        talk.ask("ask echo x >> made")
        harness.restart()
        talk.ask("ask echo x >> made")
        assert (harness.workspace / "made").read_text() == "x\n" * 3
        assert [one.message.split()[0] for one in talk.all(ev.AgentMessage) if one.message.startswith("(")] == [
            "(yes)"
        ] * 3
        assert [(one.approval_id, one.by) for one in talk.all(ev.KeptYesUsed)] == [(first.approval_id, "harness")] * 2
        answer(talk, "ask echo y >> made", Decision.DENIED, number=2)
        other = talk_with(harness)
        answer(other, "ask echo x >> made", Decision.DENIED)
        assert (harness.workspace / "made").read_text() == "x\n" * 3


def test_a_kept_yes_is_for_the_directory_and_for_the_agent_that_asked(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with scripted(tmp_path, table=agent_table(name="other")) as harness:
        talk = talk_with(harness)
        answer(talk, "ask touch made", Decision.APPROVED_FOR_SESSION)
        talk.change(talk.settings.model_copy(update={"agent": "other"}))
        answer(talk, "ask touch made", Decision.DENIED, number=2)
        talk.change(talk.settings.model_copy(update={"agent": "scripted", "cwd": tmp_path / "elsewhere"}))
        answer(talk, "ask touch made", Decision.DENIED, number=3)
        assert talk.all(ev.KeptYesUsed) == []


def test_the_agents_own_always_is_sent_by_its_own_word_alone_and_we_keep_nothing(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        answer(talk, "ask touch made", Decision.APPROVED, option="allow_always")
        assert talk.all(ev.AgentMessage)[-1].message.startswith("(always)")
        answer(talk, "ask touch made", Decision.DENIED, number=2)


def test_the_reason_of_a_no_reaches_the_agent(tmp_path: Path) -> None:
    """Its protocol has no room for one in the answer, so it is what the agent is told next."""
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        answer(talk, "ask rm -rf build", Decision.DENIED, reason="build is still needed")
        assert "[Refused: rm -rf build. The reason: build is still needed]" in said(talk)
        answer(talk, "ask rm -rf build", Decision.DENIED, number=2)
        assert said(talk) == "(no) "


PROJECT = "for the whole project, until you remove it from .claude/settings.local.json"
EVERYWHERE = "for every project, until you remove it from"
SESSION = "in its own session of this conversation, until that session ends"


@pytest.mark.parametrize(
    ("known", "option", "name", "lasts"),
    [
        ("claude", "allow-with-updates", "Yes, and don't ask again for sh commands", PROJECT),
        ("claude", "allow-with-updates", "Yes, allow all edits during this session", SESSION),
        (
            "codex",
            "accept_execpolicy_amendment",
            "Yes, for `sh`",
            f"{EVERYWHERE} ~/.codex/rules/default.rules",
        ),
        ("codex", "allow_for_session", "Yes, and don't ask again for this command in this session", SESSION),
        (
            "gemini",
            "proceed_always_and_save",
            "Always",
            f"{EVERYWHERE} ~/.gemini/policies/auto-saved.toml",
        ),
        ("gemini", "proceed_always", "Allow for this session", SESSION),
        ("opencode", "always", "Always allow", "for the whole project, until its program ends"),
        ("", "x", "Always", "where and until when is its own to say"),
    ],
)
def test_a_rule_of_an_agents_own_says_whose_it_is_for_what_where_and_until_when(
    known: str, option: str, name: str, lasts: str
) -> None:
    offered = [{"optionId": option, "name": name, "kind": "allow_always"}, ONCE]
    one, once = options_of(offered, "them", known)
    whose = KNOWN_AGENTS[known].title if known else "them"
    assert one.rule.startswith(f"{whose}'s own rule: “{name}”, {lasts}")
    assert once.rule == ""
