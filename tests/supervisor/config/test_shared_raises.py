"""Raises of the budgets that all conversations share: when one counts."""

from pathlib import Path

import pytest

from actors.vocabulary.budget_raises import Raise, SharedScope, in_force
from actors.vocabulary.settings import Settings
from supervisor.config.budgets_in_force import budgets_for
from supervisor.config.load import ConfigFile, LoadedConfig, layer
from supervisor.config.overrides import parse_overrides

TODAY, YESTERDAY = "2026-03-02", "2026-03-01"


def configured(*overrides: str) -> LoadedConfig:
    return layer(ConfigFile(), parse_overrides(overrides))


def limit(loaded: LoadedConfig, scope: SharedScope, raised: Raise, **overrides: object) -> float | None:
    settings = Settings(model="m", cwd=Path("/"), overrides=overrides)
    limit: float | None = getattr(budgets_for(loaded, settings, in_force([raised], TODAY)), scope).requests
    return limit


def a_raise(scope: SharedScope, day: str, most: float = 9) -> Raise:
    return Raise(scope, "requests", day, most, 1.0, "ada")


@pytest.mark.parametrize(("day", "expected"), [(TODAY, 9), (YESTERDAY, 2)])
def test_a_raise_of_the_day_counts_on_that_day_only(day: str, expected: float) -> None:
    assert limit(configured("greenroom.budget.day.requests=2"), "day", a_raise("day", day)) == expected


def test_a_raise_of_the_home_counts_on_every_day_and_for_a_conversation_with_overrides() -> None:
    loaded = configured("greenroom.budget.home.requests=2")
    own = {"budget": {"turn": {"requests": 3}}}
    assert limit(loaded, "home", a_raise("home", "")) == 9
    assert limit(loaded, "home", a_raise("home", ""), greenroom=own) == 9


def test_a_configuration_that_allows_more_than_was_raised_counts() -> None:
    assert limit(configured("greenroom.budget.home.requests=20"), "home", a_raise("home", "")) == 20


def test_a_raise_of_a_limit_that_is_gone_makes_none() -> None:
    assert limit(configured(), "home", a_raise("home", "")) is None
