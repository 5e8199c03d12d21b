"""Answers about costs and budgets, from the ledger and the config. Blocking: reads the disk."""

from collections.abc import Iterator, Mapping, Sequence

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
from transports.jsonrpc import JsonObject

TOKENS = tuple(name for name in AMOUNTS if name.endswith("tokens"))


def usage(journal: SqliteJournal, request: ask.ReadUsage) -> ask.PlainAnswer:
    from supervisor.agents.spending.prices import price_list  # an idle daemon has no use for it

    since = "" if request.since is None else day_of(request.since)
    rows = journal.spent_by(request.by, since, request.limit)
    return ask.PlainAnswer(
        {
            "rows": [{"group": row.group, **amounts(row.amounts)} for row in rows],
            "total": amounts(journal.total_spent(since)),
            "prices_of": price_list().date.isoformat(),
        }
    )


def amounts(spent: Spent) -> JsonObject:
    """The amounts by name; null if an amount is unknown."""
    unknown = {*(TOKENS if spent.uncounted and not spent.tokens else ())}
    unknown |= {"usd"} if spent.unpriced and not spent.usd else set()
    return {name: None if name in unknown else getattr(spent, name) for name in AMOUNTS}


def budget(
    journal: SqliteJournal, loaded: LoadedConfig, request: ask.ReadBudget, raises: Sequence[Raise], now: float
) -> ask.BudgetRead:
    """The budgets of a conversation with the amounts used; with new limits, also the settings that have them."""
    settings = request.settings
    if request.limits:
        settings = _with_limits(loaded, settings, request.limits)
    used = {"turn": request.turn_spent, "conversation": request.spent, **used_by_all(journal, now)}
    budgets = budgets_for(loaded, settings, raises)
    return ask.BudgetRead(settings, tuple(rows(budgets, used, counting(loaded, raises))))


def used_by_all(journal: SqliteJournal, now: float) -> Mapping[str, Spent]:
    return {"day": journal.total_spent(day_of(now)), "home": journal.total_spent()}


def rows(budgets: BudgetsTable, used: Mapping[str, Spent], raises: Sequence[Raise]) -> Iterator[JsonObject]:
    """A row for each budget of the scopes in `used`. `raises`: those that count."""
    raised: Mapping[tuple[str, str], Raise] = {(counted.scope, counted.unit): counted for counted in raises}
    for scope in used:
        for unit in UNITS:
            step = raised.get((scope, unit))
            yield {
                "scope": scope,
                "unit": unit,
                "used": getattr(used[scope], unit),
                "limit": getattr(getattr(budgets, scope), unit),
                "raised_by": step and step.by,
                "raised_at": step and step.ts,
            }


def _with_limits(loaded: LoadedConfig, settings: Settings, limits: ask.NewLimits) -> Settings:
    """The settings with these limits in their overrides."""
    budgets, overrides = budgets_for(loaded, settings), settings.overrides
    for key, wanted in limits.items():
        scope, unit = own_budget(key)
        limit = None if wanted is None else new_limit(key, unit, wanted, limit_of(budgets, scope, unit))
        overrides = overrides_with(overrides, scope, unit, limit)
    loaded.with_overrides(overrides)  # raises for a value that can't be
    return settings.model_copy(update={"overrides": overrides})
