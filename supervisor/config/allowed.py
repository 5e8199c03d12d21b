"""The budgets of a conversation: its own for turns and for all of them, everybody's for the day and the home."""

from collections.abc import Iterable, Mapping

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.raises import Raise
from actors.vocabulary.settings import Settings
from supervisor.config.budgets import BudgetsTable
from supervisor.config.load import LoadedConfig


def budgets_for(loaded: LoadedConfig, settings: Settings, raises: Iterable[Raise] = ()) -> BudgetsTable:
    """The budgets, with the raises that are in force now."""
    shared = shared_budgets(loaded, raises)
    own = loaded.relayered(settings.overrides).config.greenroom.budget
    return own if own is shared else own.model_copy(update={"day": shared.day, "home": shared.home})


def shared_budgets(loaded: LoadedConfig, raises: Iterable[Raise]) -> BudgetsTable:
    """The budgets of the day and of the home: what the configuration has is the least."""
    budgets = loaded.config.greenroom.budget
    for one in counting(loaded, raises):
        table = getattr(budgets, one.scope).model_copy(update={one.unit: one.limit})
        budgets = budgets.model_copy(update={one.scope: table})
    return budgets


def counting(loaded: LoadedConfig, raises: Iterable[Raise]) -> list[Raise]:
    """The raises of limits that there are, and that are not larger by now."""
    budgets = loaded.config.greenroom.budget
    limits = ((one, getattr(getattr(budgets, one.scope), one.unit)) for one in raises)
    return [one for one, configured in limits if configured is not None and one.limit > configured]


def insist_on_own_budgets(overrides: Mapping[str, object]) -> None:
    """Refuse budgets of the day and of the home for one conversation: they would have no effect."""
    ours = overrides.get("greenroom")
    budgets = ours.get("budget") if isinstance(ours, Mapping) else None
    for scope in ("day", "home"):
        if isinstance(budgets, Mapping) and scope in budgets:
            raise ConfigError(
                f"greenroom.budget.{scope} is for all conversations together: set it in the config file",
                key=f"greenroom.budget.{scope}",
            )
