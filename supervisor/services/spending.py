"""Answers about costs and budgets, from the ledger and the config. Blocking: reads the disk."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.settings import Settings
from actors.vocabulary.spent_amounts import AMOUNTS, Spent
from supervisor.config.budgets import BudgetsTable
from supervisor.config.budgets_in_force import budgets_for, counting
from supervisor.config.load import LoadedConfig
from supervisor.journal.ledger import day_of
from supervisor.journal.store import SqliteJournal
from supervisor.services.new_limits import UNITS, limit_of, new_limit, overrides_with, own_budget
from transports import supervisor_requests as ask
from transports.supervisor_answers import BudgetRead, BudgetRow, Budgets, Scope, Usage, UsageRow, UsageSums

TOKENS = tuple(name for name in AMOUNTS if name.endswith("tokens"))


def usage(journal: SqliteJournal, request: ask.ReadUsage) -> Usage:
    from supervisor.agents.spending.prices import price_list  # an idle daemon has no use for it

    since = "" if request.since is None else day_of(request.since)
    rows = journal.spent_by(request.by, since, request.limit)
    return Usage(
        tuple(UsageRow(group=row.group, **sums(row.amounts)) for row in rows),
        UsageSums(**sums(journal.total_spent(since))),
        price_list().date.isoformat(),
    )


def sums(spent: Spent) -> dict[str, Any]:
    """The sums by name; None if one is unknown."""
    unknown = {*(TOKENS if spent.uncounted and not spent.tokens else ())}
    unknown |= {"usd"} if spent.unpriced and not spent.usd else set()
    return {name: None if name in unknown else getattr(spent, name) for name in AMOUNTS}


def budget(
    journal: SqliteJournal, loaded: LoadedConfig, request: ask.ReadBudget, raises: Sequence[Raise], now: float
) -> BudgetRead:
    """The budgets of a conversation with the amounts used; with new limits, also the settings that have them."""
    settings = request.settings
    if request.limits:
        settings = _with_limits(loaded, settings, request.limits)
    own: Mapping[Scope, Spent] = {"turn": request.turn_spent, "conversation": request.spent}
    budgets = budgets_for(loaded, settings, raises)
    return BudgetRead(
        settings, Budgets(tuple(rows(budgets, {**own, **used_by_all(journal, now)}, counting(loaded, raises))))
    )


def used_by_all(journal: SqliteJournal, now: float) -> Mapping[Scope, Spent]:
    return {"day": journal.total_spent(day_of(now)), "home": journal.total_spent()}


def rows(budgets: BudgetsTable, used: Mapping[Scope, Spent], raises: Sequence[Raise]) -> Iterator[BudgetRow]:
    """A row for each budget of the scopes in `used`. `raises`: those that count."""
    raised: Mapping[tuple[str, str], Raise] = {(counted.scope, counted.unit): counted for counted in raises}
    for scope in used:
        for unit in UNITS:
            step = raised.get((scope, unit))
            limit = getattr(getattr(budgets, scope), unit)
            yield BudgetRow(
                scope, unit, getattr(used[scope], unit), limit, step.by if step else None, step.ts if step else None
            )


def _with_limits(loaded: LoadedConfig, settings: Settings, limits: ask.NewLimits) -> Settings:
    """The settings with these limits in their overrides."""
    budgets, overrides = budgets_for(loaded, settings), settings.overrides
    for key, wanted in limits.items():
        scope, unit = own_budget(key)
        limit = None if wanted is None else new_limit(key, unit, wanted, limit_of(budgets, scope, unit))
        overrides = overrides_with(overrides, scope, unit, limit)
    loaded.with_overrides(overrides)  # raises for a value that can't be
    return settings.model_copy(update={"overrides": overrides})
