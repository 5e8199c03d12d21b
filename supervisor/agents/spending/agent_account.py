"""The account of a turn whose agent asks its model by itself. Loop thread; lives as long as its task.

The agent does not ask before a request or a call. So the budgets are checked before each prompt and while it is open,
and one that is used up stops the turn. A budget on a number that the agent does not report can't be kept, and the
turn says so.
"""

from actors.vocabulary import events as ev
from supervisor.agents.spending.account import Account
from supervisor.agents.spending.budget_checks import (
    BEFORE_A_REQUEST,
    MEASURED,
    any_limit,
    budget_reached,
    budget_unknown,
    first_used_up,
    limits,
)
from supervisor.config.budgets import BudgetsTable

SAYS = {"tokens": "how many tokens it takes", "usd": "what it costs"}


class AgentAccount(Account):
    _counted = True  # the last prompt's use was reported, or there was no prompt

    def take(self, event: ev.DurableEvent) -> None:
        super().take(event)
        if isinstance(event, ev.TokenCount):
            self._counted = True
            reported: dict[ev.BudgetUnit, float | None] = {"tokens": event.total_tokens, "usd": event.cost_usd}
            for unit, number in reported.items():
                if number is None or number <= 0:  # a reported 0 is no report: it would never use a budget up
                    self._note(unit)

    def note_prompt(self) -> None:
        self._counted = False

    def note_answer(self) -> None:
        """Note the end of a prompt, whose use is reported by now, or never."""
        if not self._counted:
            for unit in MEASURED:
                self._note(unit)
        self._counted = True

    def look(self) -> None:
        """Check the budgets. Raises OverBudget. A call is seen when it has begun, so one too many can begin."""
        budgets = self._budgets(self._turn.settings)
        if any_limit(budgets):
            trouble = self._unreadable_ledger(budgets, (*BEFORE_A_REQUEST, "tool_calls")) or self._unreported_budget(
                budgets
            )
            self._insist(
                trouble
                or first_used_up(budgets, self._spent_by_scope(), BEFORE_A_REQUEST)
                or self._too_many_calls(budgets)
            )

    def _too_many_calls(self, budgets: BudgetsTable) -> ev.BudgetReached | None:
        spent = self._spent_by_scope()
        for scope, limit in limits(budgets, "tool_calls"):
            if spent[scope].tool_calls > limit:
                return budget_reached(scope, "tool_calls", limit, spent[scope].tool_calls)
        return None

    def _note(self, unit: ev.BudgetUnit) -> None:
        self._ledger.note_uncounted(self._turn.order.settings.agent, unit)

    def _unreported_budget(self, budgets: BudgetsTable) -> ev.BudgetReached | None:
        agent = self._turn.order.settings.agent
        for unit in MEASURED:
            for scope, limit in limits(budgets, unit):
                if self._ledger.is_uncounted(agent, unit):
                    why = f"{agent} does not say {SAYS[unit]}; set `minutes` or `tool_calls` in place of it"
                    return budget_unknown(scope, unit, limit, why)
        return None
