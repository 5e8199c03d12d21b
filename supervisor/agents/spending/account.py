"""The account of one turn: its budgets and its use. Loop thread; lives as long as the turn's task.

Where a budget is set, a request is counted on disk before it is sent, so that no crash makes it free.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings
from actors.vocabulary.spent_amounts import NOTHING, Spent, spent_on
from supervisor.agents.spending.budget_checks import (
    BEFORE_A_REQUEST,
    MEASURED,
    OWN,
    any_limit,
    budget_unknown,
    first_used_up,
    limits,
    repetition_reached,
)
from supervisor.agents.spending.ledger import Ledger
from supervisor.agents.spending.over_budget import OverBudget
from supervisor.agents.spending.prices import Price
from supervisor.agents.spending.usage import TokenUsage
from supervisor.agents.turn import Turn
from supervisor.config.budgets import BudgetsTable

NO_USAGE = TokenUsage(0, 0, 0)
NO_COUNT = ev.TokenCount(input_tokens=0, output_tokens=0, total_tokens=0)
HOW_TO_PRICE = 'give it under [greenroom.prices."{model}"] (input, output)'


class BilledModel(Struct, frozen=True):
    """The model of a request: its name, its provider and its price, if that is known."""

    model: str
    provider: str = ""
    price: Price | None = None


Budgets = Callable[[Settings], BudgetsTable]


class Account:
    def __init__(
        self,
        turn: Turn,
        budgets: Budgets = lambda _: BudgetsTable(),
        ledger: Ledger | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turn = turn
        self._budgets = budgets
        self._ledger = ledger or Ledger()
        self._now = now
        self._began = now()
        self._waited_s = 0.0
        self._waits = 0
        self._waits_since = 0.0
        self._used = NOTHING  # by this task; the order has the use before it
        self._asked: BilledModel | None = None
        self._untold = 0  # requests that no event has counted yet
        self._uncounted: BilledModel | None = None  # whose answer has reported no tokens so far
        self._unmentioned = False  # no event has counted the answer that is under way
        self.unbegun = 0  # calls that the model has made and that were not begun

    # --- time -----------------------------------------------------------------------------------------------------

    @property
    def worked_s(self) -> float:
        waits = self._now() - self._waits_since if self._waits else 0.0
        return max(0.0, self._now() - self._began - self._waited_s - waits)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside as a person's, not the turn's."""
        if not self._waits:
            self._waits_since = self._now()
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._waited_s += self._now() - self._waits_since

    @contextmanager
    def open(self) -> Iterator[None]:
        """Hold the account open for the turn's task. Its time is entered at the end, as the journal does."""
        self._ledger.running.add(self)
        try:
            yield
        finally:
            self._tell_the_rest()
            self._ledger.running.discard(self)
            self._ledger.add(Spent(turns=1, seconds=self.worked_s))

    # --- use ------------------------------------------------------------------------------------------------------

    def take(self, event: ev.DurableEvent) -> None:
        spent = spent_on(event)
        self.unbegun += isinstance(event, ev.ToolCall)
        if spent is not None:
            self._used = self._used.plus(spent)
            self._ledger.add(spent)

    def say(self, event: ev.AgentEvent) -> None:
        """Emit the event. The count of an answer without calls goes with the next event, often the turn's end."""
        self.take(event)
        if isinstance(event, ev.TokenCount) and not self.unbegun:
            self._turn.hold(event)
        else:
            self._turn.emit(event)

    def bill_response(self, count: ev.TokenCount, usage: TokenUsage) -> ev.TokenCount:
        """Return the count of a response with its model, its price and the requests that it took."""
        counted = bool(usage.input or usage.output or usage.total)  # servers that don't count send 0
        if counted:
            self._uncounted = None
        return self._bill(count, usage, counted=counted)

    def _bill(self, count: ev.TokenCount, usage: TokenUsage = NO_USAGE, *, counted: bool) -> ev.TokenCount:
        asked, untold = self._asked or BilledModel(self._turn.settings.model), self._untold
        self._untold, self._unmentioned = 0, False
        known = asked.price if counted or (asked.price and asked.price.is_free) else None
        cost = usage.cost if known is None else known.cost_of(usage)
        bill = {"model": asked.model, "provider": asked.provider, "cost_usd": cost, "requests": untold}
        return count.model_copy(update={**bill, "counted": counted})

    # --- budgets --------------------------------------------------------------------------------------------------

    async def begin_request(self, asked: BilledModel) -> None:
        """Count a request that is about to be sent. Raises OverBudget if nothing is left for it."""
        budgets = self._budgets(self._turn.settings)
        limited = any_limit(budgets)
        if limited:
            self._insist(
                self._unkeepable_budget(budgets, asked)
                or first_used_up(budgets, self._spent_by_scope(), BEFORE_A_REQUEST)
            )
        self._asked = self._uncounted = asked
        self._unmentioned = True
        if not limited:
            self._untold += 1
            return
        requested = ev.ModelRequested(model=asked.model, provider=asked.provider)
        self.take(requested)  # before any wait: other turns look at the same budgets
        self._turn.emit(requested)
        await self._turn.wait_until_stored()

    def note_answer(self) -> None:
        """Note a whole answer. A missing count is remembered beyond this turn, as many turns are one request long."""
        if self._uncounted is not None:
            self._ledger.note_uncounted(self._uncounted.provider, self._uncounted.model)
        self.note_cut_off()

    def note_cut_off(self) -> None:
        """Note that no more of an answer comes. Without a count so far, its tokens are not known."""
        self._uncounted = None
        if self._unmentioned:
            self.say(self._bill(NO_COUNT, counted=False))

    def note_retry(self) -> None:
        """Note that an answer is asked for again. The next answer's count covers both requests."""
        self._uncounted, self._unmentioned = None, False

    def begin_calls(self, unbegun: int, wanted: int) -> int:
        """Return how many of the calls may begin now, side by side. Raises OverBudget if none may.

        They take their places without a wait, so that no other turn gets the same place.
        """
        self.unbegun = unbegun  # also those of before this turn was resumed
        budgets = self._budgets(self._turn.settings)
        self._insist(self._unreadable_ledger(budgets, ("tool_calls",)))
        spent = self._spent_on_begun()
        self._insist(first_used_up(budgets, spent, ("tool_calls",)))
        left = (limit - spent[scope].tool_calls for scope, limit in limits(budgets, "tool_calls"))
        places = min(wanted, *map(int, left), wanted)
        self.unbegun -= places
        return places

    def _spent_on_begun(self) -> Mapping[ev.BudgetScope, Spent]:
        """Return the amounts that were spent, without the calls that models have made and that were not begun."""
        own, everybody = self.unbegun, self._ledger.unbegun
        return {
            scope: replace(spent, tool_calls=spent.tool_calls - (own if scope in OWN else everybody))
            for scope, spent in self._spent_by_scope().items()
        }

    def _tell_the_rest(self) -> None:
        """Tell of requests that got no answer, and of calls that will not be begun, at the end of the turn."""
        asked = self._asked or BilledModel(self._turn.settings.model)
        for _ in range(self._untold):
            self.say(ev.ModelRequested(model=asked.model, provider=asked.provider))
        if self.unbegun and not self._turn.suspending:
            self.say(ev.CallsLeft(count=self.unbegun))
        self._untold = self.unbegun = 0

    def look_at_repetitions(self, times: int) -> None:
        most = self._budgets(self._turn.settings).repetitions
        if most and times >= most:
            self._insist(repetition_reached(times))

    def _spent_by_scope(self) -> Mapping[ev.BudgetScope, Spent]:
        used, order = self._used.plus(Spent(seconds=self.worked_s)), self._turn.order
        return {
            "turn": order.turn_spent.plus(used),
            "conversation": order.spent.plus(used),
            "day": self._ledger.day,
            "home": self._ledger.home,
        }

    def _unkeepable_budget(self, budgets: BudgetsTable, asked: BilledModel) -> ev.BudgetReached | None:
        """Return a budget that can't be kept: its ledger is unreadable, or an answer's tokens or price unknown."""
        if (unread := self._unreadable_ledger(budgets, BEFORE_A_REQUEST)) is not None:
            return unread
        if asked.price is None:
            for scope, limit in limits(budgets, "usd"):
                why = f"the price of {asked.model} at this provider is not known"
                return budget_unknown(scope, "usd", limit, f"{why}; {HOW_TO_PRICE.format(model=asked.model)}")
        if self._ledger.is_uncounted(asked.provider, asked.model):
            for unit in MEASURED:
                for scope, limit in limits(budgets, unit):
                    why = f"the server of {asked.model} did not say how many tokens its last answer took"
                    way = "set include_usage for its provider and run `greenroom reload`, use `requests`"
                    return budget_unknown(scope, unit, limit, f"{why}; {way}")
        return None

    def _unreadable_ledger(self, budgets: BudgetsTable, units: tuple[ev.BudgetUnit, ...]) -> ev.BudgetReached | None:
        if self._ledger.trouble is None:
            return None
        for unit in units:
            for scope, limit in limits(budgets, unit):
                if scope in {"day", "home"}:
                    why = f"the ledger can't be read ({self._ledger.trouble}); restart the daemon"
                    return budget_unknown(scope, unit, limit, why)
        return None

    def _insist(self, reached: ev.BudgetReached | None) -> None:
        if reached is not None:
            self._turn.emit(reached)
            raise OverBudget(reached.message)
