"""Costs that an agent tells as a sum: each amount is counted once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.recorded import Taken


def cost(total: float) -> dict[str, Any]:
    return {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": total, "currency": "USD"}}


def spent(sums: list[float], before: float) -> float:
    taken = Taken(sum_usd=before)
    for total in sums:
        taken.hear(cost(total))
        taken.note(taken.updates.finish())
    return sum(one.cost_usd or 0.0 for one in taken.said_of(ev.TokenCount))


def test_a_sum_of_the_session_goes_on_in_its_next_process() -> None:
    assert spent([0.5, 0.7], before=0.4) == pytest.approx(0.3)


def test_a_sum_of_the_process_begins_anew_in_the_next() -> None:
    assert spent([0.1, 0.3], before=0.4) == pytest.approx(0.3)


def test_a_sum_that_falls_back_with_a_killed_process_is_not_counted_again() -> None:
    """Claude Code keeps its sum when it ends, so one that is killed begins the next time where it began."""
    taken = Taken(sum_usd=0.16, from_usd=0.145)
    taken.hear(cost(0.155))
    taken.note(taken.updates.finish())
    (told,) = taken.said_of(ev.TokenCount)
    assert told.cost_usd == pytest.approx(0.01)
    assert told.agent_sum_from_usd == 0.145


def test_the_sum_with_which_a_process_began_is_told() -> None:
    taken = Taken(sum_usd=0.4)
    for total in (0.5, 0.7):
        taken.hear(cost(total))
        taken.note(taken.updates.finish())
    assert [one.agent_sum_from_usd for one in taken.said_of(ev.TokenCount)] == [0.4, 0.4]


@given(st.lists(st.floats(0, 5), max_size=20))
def test_all_that_was_added_to_a_sum_is_counted_and_nothing_twice(added: list[float]) -> None:
    sums = [sum(added[: end + 1]) for end in range(len(added))]
    assert spent(sums, before=0.0) == pytest.approx(sum(added), abs=1e-4)


def test_another_session_has_a_sum_of_its_own() -> None:
    taken = Taken(sum_usd=0.4)
    taken.note(taken.updates.initial_news({}, anew=True))
    taken.hear(cost(0.5))
    taken.note(taken.updates.finish())
    assert [one.cost_usd for one in taken.said_of(ev.TokenCount)] == [0.5]


def test_a_cost_in_another_currency_is_not_known() -> None:
    taken = Taken()
    taken.hear({"sessionUpdate": "usage_update", "cost": {"amount": 3, "currency": "EUR"}})
    taken.note(taken.updates.finish({"usage": {"inputTokens": 1}}))
    assert [one.cost_usd for one in taken.said_of(ev.TokenCount)] == [None]
