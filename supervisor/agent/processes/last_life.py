"""The end of everything that a killed daemon left running, before anything of this life is spawned.

Ended are processes of the ledger whose start time and marks are still the same, processes that carry the marks of our
instance or a number of the last life's commands, and their descendants. A pid that another process has now is never
touched.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from supervisor.agent.processes.command import INSTANCE, TURN
from supervisor.agent.processes.ending import end
from supervisor.agent.processes.ledger import ProcessEntry, ProcessLedger
from supervisor.agent.processes.platform import table_of_this_system
from supervisor.agent.processes.table import Process, ProcessTable, Sight, unmoved
from supervisor.agent.processes.tags import Span


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep. `turns` are those that had a process running."""

    ended: int
    turns: frozenset[str]
    reused: int  # entries whose pid another process has now, or of an earlier boot
    survivors: tuple[int, ...] = ()


async def sweep_last_life(ledger_path: Path, instance: str, grace_s: float = 1.0) -> Swept:
    ledger, table = ProcessLedger(ledger_path), table_of_this_system()
    entries, claims = ledger.entries(), ledger.claims()
    remains = _Remains(table, instance, [Span(top) for boot, top in claims if boot == table.boot])
    remains.expect(entries)
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    survivors = await end(remains.find, list, grace_s, never)
    for entry in entries:
        ledger.remove(entry)
    for boot, top in claims:
        ledger.withdraw(boot, top)
    return Swept(
        ended=len(remains.seen) - len(survivors),
        turns=frozenset(remains.turns),
        reused=remains.reused,
        survivors=tuple(process.pid for process in survivors),
    )


class _Remains:
    def __init__(self, table: ProcessTable, instance: str, spans: list[Span]) -> None:
        self._table = table
        self._spans = spans
        self._instance = instance
        self._spared = self._ourselves()
        self.seen: set[tuple[int, int]] = set()
        self.turns: set[str] = set()
        self.reused = 0

    def _ourselves(self) -> set[int]:
        """Spare a daemon started from within a command, which carries its marks, and all its ancestors."""
        self._table.refresh()
        spared = {pid := os.getpid()}
        while (process := self._table.look(pid)) is not None and process.ppid > 0:
            spared.add(pid := process.ppid)
        return spared

    def expect(self, entries: list[ProcessEntry]) -> None:
        """Count the entries whose pid means another process now."""
        for entry in entries:
            process = self._table.look(entry.pid)
            if process is not None and not self._same(entry, process):
                self.reused += 1

    def _same(self, entry: ProcessEntry, process: Process) -> bool:
        return (entry.boot, entry.start) == (self._table.boot, process.start) and self._marked(process.pid)

    def _left_behind(self, pid: int) -> bool:
        """Tell by the marks, or by the inherited number, which no clearing of the environment removes."""
        if self._marked(pid):
            return True
        tag = self._table.tag(pid) if self._spans else None
        return any(span.holds(tag) for span in self._spans)

    def _marked(self, pid: int) -> bool:
        return self._table.marks(pid).get(INSTANCE) == self._instance

    def find(self, at_sight: Sight = unmoved) -> list[Process]:
        self._table.refresh()
        found: dict[int, Process] = {}
        ahead = [pid for pid in self._table.everybody() if self._left_behind(pid)]
        while ahead:
            pid = ahead.pop()
            process = self._table.look(pid)
            if process is None or process.dead or pid in found or pid in self._spared:
                continue
            ahead.extend(self._table.children(pid))
            found[pid] = process
            at_sight(process)
        self._note(found)
        return list(found.values())

    def _note(self, found: dict[int, Process]) -> None:
        for pid, process in found.items():
            self.seen.add(process.name)
            if turn := self._table.marks(pid).get(TURN):
                self.turns.add(turn)
