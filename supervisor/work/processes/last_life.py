"""Ends all processes that a killed daemon left running, before this one spawns any.

A process is certainly ours if it carries the marks of our instance or a number of the last life's commands, or if it
descends from such a process.
"""

import asyncio
import os
from pathlib import Path

from supervisor.work.processes.command import INSTANCE
from supervisor.work.processes.ending import end
from supervisor.work.processes.platform import table_of_this_system
from supervisor.work.processes.table import Process, ProcessTable, Sight, do_nothing, living_below
from supervisor.work.processes.tags import ProcessLedger, Span


async def sweep_last_life(ledger_path: Path, instance: str, grace_s: float = 1.0) -> int:
    """End the processes, and return their number."""
    ledger, table = ProcessLedger(ledger_path), table_of_this_system()
    claims = ledger.claims()
    remains = _Remains(table, instance, [Span(top) for boot, top in claims if boot == table.boot])
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    survivors = await end(remains.find, list, grace_s, never)
    for boot, top in claims:
        ledger.withdraw(boot, top)
    return len(remains.seen) - len(survivors)


class _Remains:
    def __init__(self, table: ProcessTable, instance: str, spans: list[Span]) -> None:
        self._table = table
        self._spans = spans
        self._instance = instance
        self._spared = self._own_lineage()
        self.seen: set[tuple[int, int]] = set()

    def _own_lineage(self) -> set[int]:
        """Return this process, which a command may have started and so marked, and all its ancestors."""
        self._table.refresh()
        spared = {pid := os.getpid()}
        while (process := self._table.look(pid)) is not None and process.ppid > 0:
            spared.add(pid := process.ppid)
        return spared

    def _is_ours(self, pid: int) -> bool:
        """Tell by the marks, or by the inherited number, which stays when the environment is cleared."""
        if self._table.marks(pid).get(INSTANCE) == self._instance:
            return True
        tag = self._table.tag(pid) if self._spans else None
        return any(span.holds(tag) for span in self._spans)

    def find(self, at_sight: Sight = do_nothing) -> list[Process]:
        self._table.refresh()
        roots = (pid for pid in self._table.all_pids() if self._is_ours(pid))
        found = living_below(self._table, roots, at_sight, self._spared)
        self.seen.update(process.name for process in found)
        return found
