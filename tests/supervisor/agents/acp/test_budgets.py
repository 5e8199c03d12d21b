"""Budgets of turns that another agent carries out: what it tells counts, and what is used up ends the turn."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from tests.supervisor.agents.acp.scripted import scripted, talk_with


def reached(kind: list[ev.BudgetReached]) -> list[tuple[str, str]]:
    return [(one.scope, one.unit) for one in kind]


@pytest.mark.parametrize(
    ("budget", "said", "unit"),
    [
        ("usd = 0.5", "usage 100 1000 0.75", "usd"),
        ("tool_calls = 1", "run true; then run true", "tool_calls"),
    ],
)
def test_a_budget_that_is_used_up_refuses_the_next_prompt(tmp_path: Path, budget: str, said: str, unit: str) -> None:
    with scripted(tmp_path, greenroom=f"budget.conversation.{budget}") as harness:
        talk = talk_with(harness)
        talk.ask(said)
        assert talk.result(talk.start("say more")).ending is Ending.BUDGET
        assert reached(talk.all(ev.BudgetReached)) == [("conversation", unit)]
        assert "more" not in [one.message for one in talk.all(ev.AgentMessage)]


def test_minutes_that_are_used_up_in_the_middle_cancel_the_prompt(tmp_path: Path) -> None:
    with scripted(tmp_path, greenroom="budget.turn.minutes = 0.005") as harness:
        talk = talk_with(harness)
        result = talk.result(talk.start("slow 30"))
        assert (result.ending, reached(talk.all(ev.BudgetReached))) == (Ending.BUDGET, [("turn", "minutes")])
        talk.ask("say hello")
        assert talk.all(ev.AgentMessage)[-1].message == "hello"


def test_a_budget_for_what_the_agent_does_not_tell_can_not_be_kept_and_that_is_said(tmp_path: Path) -> None:
    with scripted(tmp_path, greenroom="budget.conversation.usd = 5.0") as harness:
        talk = talk_with(harness)
        talk.ask("say hello")
        result = talk.result(talk.start("say more"))
        assert result.ending is Ending.BUDGET
        assert "scripted does not say what it costs" in talk.all(ev.BudgetReached)[-1].message


def test_without_a_budget_nothing_is_asked_of_it(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        talk.ask("say two")
        assert talk.all(ev.BudgetReached) == []


@pytest.mark.parametrize("unit", ["tokens = 100", "usd = 5.0"])
@pytest.mark.parametrize("told", ["0", "-100000", "-1e300", '"many"', "null", "[1]", "true"])
def test_usage_that_is_not_positive_is_not_told_so_the_budget_holds(tmp_path: Path, unit: str, told: str) -> None:
    with scripted(tmp_path, greenroom=f"budget.conversation.{unit}") as harness:
        talk = talk_with(harness)
        talk.ask(f"spent {told}")
        result = talk.result(talk.start("say more"))
        assert result.ending is Ending.BUDGET
        assert "scripted does not say" in talk.all(ev.BudgetReached)[-1].message
        assert "more" not in [one.message for one in talk.all(ev.AgentMessage)]


def test_usage_that_is_positive_is_told(tmp_path: Path) -> None:
    with scripted(tmp_path, greenroom="budget.conversation.tokens = 100\nbudget.conversation.usd = 5.0") as harness:
        talk = talk_with(harness)
        for _ in range(3):
            talk.ask("spent 20")
        assert talk.all(ev.BudgetReached) == []
        talk.ask("spent 50")
        assert talk.result(talk.start("say more")).ending is Ending.BUDGET
