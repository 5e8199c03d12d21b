"""The check for a budget that is used up, and the sentence that says so. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from actors.vocabulary import events as ev
from actors.vocabulary.spent_amounts import Spent
from supervisor.config.budgets import BudgetsTable

SCOPES: tuple[ev.BudgetScope, ...] = ("turn", "conversation", "day", "home")
OWN: tuple[ev.BudgetScope, ...] = ("turn", "conversation")  # other conversations are no part of these
BEFORE_A_REQUEST: tuple[ev.BudgetUnit, ...] = ("requests", "minutes", "tokens", "usd")
MEASURED: tuple[ev.BudgetUnit, ...] = ("tokens", "usd")  # known only from a model's server
WHOSE = {
    "turn": "this turn has",
    "conversation": "this conversation has",
    "day": "all conversations together have",
    "home": "all conversations together have",
}
WHEN = {"day": " today", "home": " since the first day"}
LEAST_OF_TWO_DECIMALS = 0.1  # smaller amounts are written with two significant digits
NAMES = {"tool_calls": "tool calls", "usd": "US dollars"}


def limits(budgets: BudgetsTable, unit: ev.BudgetUnit) -> Iterator[tuple[ev.BudgetScope, float]]:
    """Yield the limits in a unit, the narrowest scope first."""
    for scope in SCOPES:
        limit = getattr(getattr(budgets, scope), unit)
        if limit is not None:
            yield scope, limit


def any_limit(budgets: BudgetsTable) -> bool:
    return any(limit is not None for scope in SCOPES for limit in vars(getattr(budgets, scope)).values())


def first_used_up(
    budgets: BudgetsTable, spent: Mapping[ev.BudgetScope, Spent], units: Sequence[ev.BudgetUnit]
) -> ev.BudgetReached | None:
    """Return the first budget that has nothing left."""
    for unit in units:
        for scope, limit in limits(budgets, unit):
            used = getattr(spent[scope], unit)
            if used >= limit:
                return budget_reached(scope, unit, limit, used)
    return None


def budget_reached(scope: ev.BudgetScope, unit: ev.BudgetUnit, limit: float, used: float) -> ev.BudgetReached:
    name = NAMES.get(unit, unit)
    happened = f"{WHOSE[scope]} used {_format_amount(used)} of {_format_amount(limit)} {name}{WHEN.get(scope, '')}"
    return ev.BudgetReached(
        scope=scope, unit=unit, limit=limit, used=used, message=f"{happened}; {_way_on(scope, unit)}"
    )


def repetition_reached(times: int) -> ev.BudgetReached:
    message = (
        f"the model made the same calls with the same results {times} times in a row; the next message goes on, "
        "greenroom.budget.repetitions in the configuration raises the number"
    )
    return ev.BudgetReached(scope="turn", unit="repetitions", limit=times, used=times, message=message)


def budget_unknown(scope: ev.BudgetScope, unit: ev.BudgetUnit, limit: float, why: str) -> ev.BudgetReached:
    """Return a budget that can't be kept, because its use is not known."""
    message = f"greenroom.budget.{scope}.{unit} = {_format_amount(limit)} can't be kept: {why}, or remove the budget"
    return ev.BudgetReached(scope=scope, unit=unit, limit=limit, used=None, message=message)


def _way_on(scope: ev.BudgetScope, unit: ev.BudgetUnit) -> str:
    key = f"greenroom.budget.{scope}.{unit}"
    if scope == "turn":
        return f"the next message begins a turn with a budget of its own; {key} raises it"
    if scope == "conversation":
        return f"raise it with `greenroom budget CONVERSATION --raise {unit}=NUMBER`, or {key}, and send a message"
    for_today = " for today" if scope == "day" else ""
    return f"raise it{for_today} with `greenroom budget --raise {scope}.{unit}=NUMBER`, or {key}, and send a message"


def _format_amount(amount: float) -> str:
    """Write an amount with two decimals, or as many as tell it from 0."""
    if amount == int(amount):
        return f"{int(amount):,}"
    return f"{amount:,.2f}".rstrip("0").rstrip(".") if amount >= LEAST_OF_TWO_DECIMALS else f"{amount:.2g}"
