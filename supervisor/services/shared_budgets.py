"""The budgets of the day and of the home: read, raised by a person, set back to the config. Loop thread.

A raise is on disk before it counts. Worker threads read the disk.
"""

import asyncio
import time

import structlog

from actors.vocabulary.budget_raises import Raise, SharedScope, Unit, in_force
from supervisor.config.budgets_in_force import counting, shared_budgets
from supervisor.engine.engine import Engine
from supervisor.journal.ledger import day_of
from supervisor.services.new_limits import larger_limit, limit_of, shared_budget
from supervisor.services.spending import rows, used_by_all
from transports import supervisor_requests as ask
from transports.supervisor_answers import Budgets

log = structlog.get_logger()

Key = tuple[SharedScope, Unit]


class SharedBudgetServices:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._one_change = asyncio.Lock()  # two increases at once add up: each counts from the limit before it

    async def carry_out(self, request: ask.ReadSharedBudgets, by: str) -> Budgets:
        now = time.time()
        if request.limits:
            async with self._one_change:
                await self._change(request.limits, by, now)
        used = await asyncio.to_thread(used_by_all, self._engine.journal, now)
        loaded, raises = self._engine.loaded_config, self.of_today(now)
        return Budgets(tuple(rows(shared_budgets(loaded, raises), used, counting(loaded, raises))))

    def of_today(self, now: float) -> tuple[Raise, ...]:
        return in_force(self._engine.raises, day_of(now))

    async def _change(self, limits: ask.NewLimits, by: str, now: float) -> None:
        """Change all of these limits, or none."""
        raises: dict[Key, Raise] = {(known.scope, known.unit): known for known in self.of_today(now)}
        for name, wanted in limits.items():
            key = shared_budget(name)
            raises.pop(key, None) if wanted is None else raises.update({key: self._raise(key, wanted, by, now)})
        kept = tuple(raises.values())
        await self._engine.chores.carry_out(lambda: self._engine.journal.put_raises(kept))
        self._engine.raises = kept
        log.info("budgets.changed", by=by, limits={name: str(wanted) for name, wanted in limits.items()})

    def _raise(self, key: Key, wanted: str | float, by: str, now: float) -> Raise:
        scope, unit = key
        loaded = self._engine.loaded_config
        before = limit_of(shared_budgets(loaded, self.of_today(now)), scope, unit)
        limit = larger_limit(loaded, scope, unit, wanted, before)
        day = day_of(now) if scope == "day" else ""
        return Raise(scope, unit, day, limit, now, by)
