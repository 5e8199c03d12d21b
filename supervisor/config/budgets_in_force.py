"""The budgets in force: a conversation's own, per turn and in total, and those that all share. Pure."""

from collections.abc import Iterable, Mapping

from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.errors import ConfigError
from actors.vocabulary.settings import Settings
from supervisor.config.budgets import BudgetsTable
from supervisor.config.load import LoadedConfig


def budgets_for(loaded: LoadedConfig, settings: Settings, raises: Iterable[Raise] = ()) -> BudgetsTable:
    """The budgets of a conversation. `raises`: those that are in force now."""
    shared = shared_budgets(loaded, raises)
    own = loaded.with_overrides(settings.overrides).config.greenroom.budget
    return own if own is shared else own.model_copy(update={"day": shared.day, "home": shared.home})


def shared_budgets(loaded: LoadedConfig, raises: Iterable[Raise]) -> BudgetsTable:
    """The budgets of the day and of the home: the configuration's, or larger by a raise."""
    budgets = loaded.config.greenroom.budget
    for step in counting(loaded, raises):
        table = getattr(budgets, step.scope).model_copy(update={step.unit: step.limit})
        budgets = budgets.model_copy(update={step.scope: table})
    return budgets


def counting(loaded: LoadedConfig, raises: Iterable[Raise]) -> list[Raise]:
    """The raises that still count: the configuration has such a limit, and it is smaller."""
    budgets = loaded.config.greenroom.budget
    limits = ((step, getattr(getattr(budgets, step.scope), step.unit)) for step in raises)
    return [step for step, configured in limits if configured is not None and step.limit > configured]


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
