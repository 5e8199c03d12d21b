"""New limits of budgets as clients write them: a number, an increase (+NUMBER), or as in the config. Pure."""

from collections.abc import Mapping

from actors.vocabulary.budget_raises import SharedScope, Unit
from actors.vocabulary.errors import InvalidInput
from supervisor.config.budgets import BudgetsTable
from supervisor.config.load import LoadedConfig
from supervisor.config.overrides import Tree, merge

UNITS: tuple[Unit, ...] = ("requests", "tool_calls", "minutes", "tokens", "usd")
OWN_SCOPES = ("turn", "conversation")  # the scopes that a conversation may have of its own
SHARED_SCOPES: tuple[SharedScope, ...] = ("day", "home")
WHOLE_UNITS = ("requests", "tool_calls", "tokens")


def own_budget(key: str) -> tuple[str, str]:
    """The scope and the unit of a key; a unit alone is the conversation's."""
    scope, dot, unit = key.partition(".")
    scope, unit = (scope, unit) if dot else ("conversation", scope)
    if scope in SHARED_SCOPES and unit in UNITS:
        raise InvalidInput(
            f"{key} is for all conversations together: name no conversation, as in `greenroom budget --raise "
            f"{key}=NUMBER`"
        )
    if scope not in OWN_SCOPES or unit not in UNITS:
        raise InvalidInput(
            f"{key!r} is not a budget of a conversation: write turn.UNIT or conversation.UNIT, with a unit of "
            f"{', '.join(UNITS)}"
        )
    return scope, unit


def shared_budget(key: str) -> tuple[SharedScope, Unit]:
    for scope in SHARED_SCOPES:
        for unit in UNITS:
            if key == f"{scope}.{unit}":
                return scope, unit
    raise InvalidInput(
        f"{key!r} is not a budget of all conversations together: write day.UNIT or home.UNIT, with a unit of "
        f"{', '.join(UNITS)}; a turn's and a conversation's need the conversation"
    )


def overrides_with(overrides: Mapping[str, object], scope: str, unit: str, limit: float | None) -> Tree:
    """The overrides with this limit; None: without the limit."""
    changed: Tree = {"greenroom": {"budget": {scope: {unit: limit}}}}
    merged = merge(overrides, changed)
    if limit is None:
        greenroom: dict[str, dict[str, dict[str, object]]] = merged["greenroom"]  # type: ignore[assignment]  # see above
        del greenroom["budget"][scope][unit]
    return merged


def limit_of(budgets: BudgetsTable, scope: str, unit: str) -> float | None:
    limit: float | None = getattr(getattr(budgets, scope), unit)
    return limit


def new_limit(key: str, unit: str, wanted: str | float, now: float | None) -> float:
    """Work out the number. `now`: the present limit."""
    words = str(wanted)
    try:
        number = float(words)
    except ValueError:
        raise InvalidInput(f"{key}: {words!r} is not a number; write 50, or +50 for so much more than now") from None
    if words.startswith("+"):
        if now is None:
            raise InvalidInput(f"{key} has no limit that could be raised; write {key}=NUMBER for one")
        number += now
    return int(number) if unit in WHOLE_UNITS and number.is_integer() else number


def larger_limit(loaded: LoadedConfig, scope: str, unit: str, wanted: str | float, now: float | None) -> float:
    """Work out a shared limit, which must be larger than the config's."""
    key = f"{scope}.{unit}"
    configured = limit_of(loaded.config.greenroom.budget, scope, unit)
    if configured is None:
        raise InvalidInput(
            f"{key} has no limit that could be raised; greenroom.budget.{key} in the configuration sets one"
        )
    limit = new_limit(key, unit, wanted, now)
    loaded.with_overrides(overrides_with({}, scope, unit, limit))  # raises for a value that can't be
    if limit <= configured:
        raise InvalidInput(
            f"{key}={wanted} is no more than the {configured:,g} of the configuration, which is the least; "
            f"write a larger number, or change greenroom.budget.{key} there"
        )
    return limit
