"""The sums of the day and of the home, in memory: those of the journal's ledger at the start, and all use since.

Belongs to the loop, so that two turns never take the same rest of a budget. Turns that run are part of the sums.
"""

import time
from collections.abc import Callable
from functools import reduce
from typing import Protocol

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.spent_amounts import NOTHING, Spent

DAYS = 32  # whose sums are kept apart, for a clock that is set back; older ones are counted with the next
UNCOUNTED = 1_000  # models whose servers are known to count no tokens


def current_day() -> str:
    return time.strftime("%Y-%m-%d")


class RunningAccount(Protocol):
    """The account of a turn that runs, whose time is entered at its end."""

    @property
    def worked_s(self) -> float: ...

    unbegun: int  # calls that its model has made and that were not begun


class Ledger:
    """The sums. `trouble`: the reason why they are not known, so that no budget that needs them can be kept."""

    def __init__(
        self, read: Callable[[str], Spent] = lambda _: NOTHING, day: Callable[[], str] = current_day
    ) -> None:
        """`read` gives the sum since a day; it reads from the disk, so this is made in a worker thread."""
        self.trouble: str | None = None
        self.running: set[RunningAccount] = set()
        self._day_of = day
        self._before = NOTHING  # these days
        self._days = {day(): NOTHING}
        self._uncounted: dict[tuple[str, str], None] = {}
        try:
            home = read("")
            self._days = {since: read(since) for since in self._days}
            self._before = reduce(Spent.minus, self._days.values(), home)
        except GreenroomError as error:
            self.trouble = error.message

    def add(self, spent: Spent) -> None:
        today = self._day_of()
        self._days[today] = self._days.get(today, NOTHING).plus(spent)
        if len(self._days) > DAYS:
            first, second, *_ = sorted(self._days)
            self._days[second] = self._days[second].plus(self._days.pop(first))

    @property
    def day(self) -> Spent:
        """The sum since the day began, as the journal has it: also of days that a clock was ahead by."""
        today, spent = self._day_of(), NOTHING
        for day, of_day in self._days.items():
            spent = spent.plus(of_day) if day >= today else spent
        return self._with_running(spent)

    @property
    def home(self) -> Spent:
        return self._with_running(reduce(Spent.plus, self._days.values(), self._before))

    @property
    def unbegun(self) -> int:
        """The calls that models have made and that no budget has let begin yet."""
        return sum(account.unbegun for account in self.running)

    def _with_running(self, spent: Spent) -> Spent:
        return spent.plus(Spent(seconds=sum(account.worked_s for account in self.running)))

    # --- servers that count no tokens ---------------------------------------------------------------------------

    def note_uncounted(self, provider: str, model: str) -> None:
        if len(self._uncounted) >= UNCOUNTED:
            del self._uncounted[next(iter(self._uncounted))]
        self._uncounted[provider, model] = None

    def is_uncounted(self, provider: str, model: str) -> bool:
        return (provider, model) in self._uncounted

    def forget_uncounted(self) -> None:
        """Try them again: the config has changed."""
        self._uncounted.clear()
