"""The account of a turn whose agent asks its model by itself. Loop thread; lives as long as its task.

It can't be asked before a request or a call. So it is looked at before each prompt and while one is open: what is
used up then stops the turn. What an agent does not tell can't be kept a budget for, and that is said.
"""

from actors.vocabulary import events as ev
from supervisor.agents.spending.account import Account
from supervisor.agents.spending.reached import (
    BEFORE_A_REQUEST,
    MEASURED,
    any_limit,
    limits,
    reached,
    unknown,
    used_up,
)
from supervisor.config.budgets import BudgetsTable

SAYS = {"tokens": "how many tokens it takes", "usd": "what it costs"}


class AgentAccount(Account):
    _counted = True  # the last prompt's use was told, or there was none

    def take(self, event: ev.DurableEvent) -> None:
        super().take(event)
        if isinstance(event, ev.TokenCount):
            self._counted = True
            told: dict[ev.BudgetUnit, float | None] = {"tokens": event.total_tokens, "usd": event.cost_usd}
            for unit, number in told.items():
                if number is None or number <= 0:  # nothing is for nothing: who says so would go on for ever
                    self._note(unit)

    def prompted(self) -> None:
        self._counted = False

    def answered(self) -> None:
        """The prompt is answered, and what it took is told by now, or never will be."""
        if not self._counted:
            for unit in MEASURED:
                self._note(unit)
        self._counted = True

    def look(self) -> None:
        """Raises OverBudget. Of calls, one more than the budget has is the first that shows."""
        budgets = self._budgets(self._turn.settings)
        if any_limit(budgets):
            trouble = self._unread(budgets, (*BEFORE_A_REQUEST, "tool_calls")) or self._untold_of(budgets)
            self._insist(
                trouble or used_up(budgets, self._spent(), BEFORE_A_REQUEST) or self._too_many_calls(budgets)
            )

    def _too_many_calls(self, budgets: BudgetsTable) -> ev.BudgetReached | None:
        spent = self._spent()
        for scope, limit in limits(budgets, "tool_calls"):
            if spent[scope].tool_calls > limit:
                return reached(scope, "tool_calls", limit, spent[scope].tool_calls)
        return None

    def _note(self, unit: ev.BudgetUnit) -> None:
        self._ledger.note_uncounted(self._turn.order.settings.agent, unit)

    def _untold_of(self, budgets: BudgetsTable) -> ev.BudgetReached | None:
        agent = self._turn.order.settings.agent
        for unit in MEASURED:
            for scope, limit in limits(budgets, unit):
                if self._ledger.is_uncounted(agent, unit):
                    why = f"{agent} does not say {SAYS[unit]}; set `minutes` or `tool_calls` in place of it"
                    return unknown(scope, unit, limit, why)
        return None
