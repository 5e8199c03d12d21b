"""Words behind `greenroom approve`: approvals, and what the form of one is told."""

import pytest

from supervisor.cli.approvals import _said, _words_of
from supervisor.cli.problems import Problem

USE = {"type": "tool_use_approval_request", "places": [], "options": [{"id": "always", "name": "Yes, always"}]}


def test_a_word_with_an_equals_sign_fills_in_a_field() -> None:
    assert _words_of(["3f2a", "name=Ann B=C", "count=3"]) == (["3f2a"], {"name": "Ann B=C", "count": "3"})
    assert _words_of(["3f2a", "4b"]) == (["3f2a", "4b"], {})


@pytest.mark.parametrize("words", [["name=Ann"], ["3f2a", "4b", "name=Ann"]])
def test_a_form_belongs_to_one_approval(words: list[str]) -> None:
    with pytest.raises(Problem, match="a form is filled in"):
        _words_of(words)


def test_an_answer_to_an_agent_is_said_in_its_own_words() -> None:
    result = {"decision": "approved_for_session", "option": "always"}
    assert _said(result, [USE]) == "approved, also for what the agent takes for the same: Yes, always"
