"""Words behind `greenroom approve`: approvals, and what the form of one is told."""

from typing import Any

import pytest

from supervisor.cli.approvals import _answer_text, _reason_in, _words_of
from supervisor.cli.kit.approval_answers import OUR_ANSWERS, ApprovalAnswer, parse_answer
from supervisor.cli.kit.problems import Problem
from transports.question_text import question_lines

RULE = "scripted's own rule: “Yes, always”, where and until when is its own to say"
USE = {
    "type": "approval_requested",
    "subject": {"kind": "other"},
    "agent_call": {"title": "x", "sort": "other", "places": [], "arguments": ""},
    "options": [{"id": "always", "name": "Yes, always", "kind": "allow_always", "rule": RULE}],
}
BLANK: dict[str, Any] = {"beyond": None, "agent": "them"}


def test_a_word_with_an_equals_sign_fills_in_a_field() -> None:
    assert _words_of(["3f2a", "name=Ann B=C", "count=3"]) == (["3f2a"], {"name": "Ann B=C", "count": "3"})
    assert _words_of(["3f2a", "4b"]) == (["3f2a", "4b"], {})


@pytest.mark.parametrize("words", [["name=Ann"], ["3f2a", "4b", "name=Ann"]])
def test_a_form_belongs_to_one_approval(words: list[str]) -> None:
    with pytest.raises(Problem, match="a form is filled in"):
        _words_of(words)


def test_an_answer_to_an_agent_says_whose_rule_it_makes_and_ours_says_that_it_is_ours() -> None:
    own = {"decision": "approved", "option": "always", "outside": False}
    assert _answer_text(own, [USE]) == f"approved: {RULE}"
    ours = {"decision": "approved_for_session", "option": "", "outside": False}
    assert _answer_text(ours, [USE]) == "approved, also for the same later in this conversation"


def test_outside_is_said() -> None:
    result = {"decision": "approved_for_session", "option": "", "outside": True}
    told = "approved outside the sandbox, also for the same command later in this conversation"
    assert _answer_text(result, [{"subject": {"kind": "command", "command": ["make"]}}]) == told


@pytest.mark.parametrize(
    ("words", "before", "reason"),
    [
        (["3f2a", "because", "it's", "wrong"], ["3f2a"], "it's wrong"),
        (["3f2a", "Because:", "a=b", "because"], ["3f2a"], "a=b because"),
        (["3f2a", "some", "words"], ["3f2a", "some", "words"], ""),
        (["because"], ["because"], ""),
    ],
)
def test_a_reason_follows_the_word_because(words: list[str], before: list[str], reason: str) -> None:
    assert _reason_in(words) == (before, reason)


# --- the words of options -----------------------------------------------------------------------------------------

OPENCODE = (
    ("once", "Allow once", "allow_once"),
    ("always", "Always allow", "allow_always"),
    ("reject", "Reject", "reject_once"),
)
CLAUDE = (
    ("allow-once", "Yes", "allow_once"),
    ("allow-with-updates", "Yes, and don't ask again for sh commands", "allow_always"),
    ("reject", "No", "reject_once"),
)
CODEX = (
    ("allow_once", "Yes, proceed", "allow_once"),
    ("allow_for_session", "Yes, and don't ask again for this command in this session", "allow_always"),
    ("accept_execpolicy_amendment", "Yes, and don't ask again for commands that start with `x`", "allow_always"),
    ("cancel", "No, and tell Codex what to do differently", "reject_once"),
)
LIES = (
    ("no", "No", "allow_always"),
    ("deny", "Deny", "allow_once"),
    ("yes", "Yes", "reject_once"),
    ("x", "X", "allow_once"),
)
AGENTS = {"opencode": OPENCODE, "claude": CLAUDE, "codex": CODEX, "lies": LIES}
Options = tuple[tuple[str, str, str], ...]


def use(options: Options, fingerprint: str = "f") -> dict[str, Any]:
    named = [dict(zip(("id", "name", "kind"), one, strict=True)) for one in options]
    return {**USE, "options": named, "fingerprint": fingerprint}


@pytest.mark.parametrize("agent", AGENTS)
def test_words_of_ours_mean_ours_whatever_an_agent_calls_its_options(agent: str) -> None:
    asked = use(AGENTS[agent])
    for word, answer in OUR_ANSWERS.items():
        if not answer.outside:
            assert parse_answer(word, asked) == answer
            assert parse_answer(f" {word.upper()} ", asked) == answer
    assert parse_answer("always", use(AGENTS[agent], fingerprint="")) is None, "nothing would know the same again"


@pytest.mark.parametrize("agent", AGENTS)
def test_the_word_that_is_shown_for_an_option_is_the_word_that_answers_with_it(agent: str) -> None:
    asked = use(AGENTS[agent])
    shown = [line.strip() for line in question_lines({**asked, **BLANK}).text.split("\n") if "it offers" in line]
    assert len(shown) == len(AGENTS[agent])
    for line, (option, _, kind) in zip(shown, AGENTS[agent], strict=True):
        word = line.removeprefix("it offers ").partition(": ")[0]
        answer = parse_answer(word, asked)
        if agent == "lies" and option in {"no", "deny"}:
            assert answer is None or (answer.option, answer.decision) == (option, "approved")
            assert parse_answer(option, asked) in {None, ApprovalAnswer("denied")}, "a no of everybody's is no yes"
        else:
            meant = ApprovalAnswer("denied" if kind.startswith("reject") else "approved", option=option)
            assert answer in {meant, OUR_ANSWERS.get(word)}
            assert answer is not None
            assert answer.decision == meant.decision


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("reject", "reject"),
        ("allow_always", "always"),
        ("ALWAYS ALLOW", "always"),
        ("once", "once"),
        ("allow once", "once"),
    ],
)
def test_options_answer_by_id_name_and_kind(said: str, option: str) -> None:
    answer = parse_answer(said, use(OPENCODE))
    assert answer is not None
    assert answer.option == option


def test_a_kind_that_two_options_have_is_the_word_of_none() -> None:
    assert parse_answer("allow_always", use(CODEX)) is None
