"""The owners of processes: finds all living processes of a command or a turn, even those that left its tree.

A root is a child of ours: spawned by us, or an orphan that came to us. Its descendants belong to it. An orphan is
recognised if it was seen below a root before; by the number it has inherited; by the session or group of a running
command. A process can choose none of these. It can choose its marks, so they only count if there is no number, and
only if they name a run of an open turn. An orphan without any of these belongs to the only turn that can have started
it, or else to the last of those. Turns that end at the same time are all the last.
"""

import contextlib
import os

from msgspec import Struct, field

from actors.vocabulary.ids import TurnId
from supervisor.work.processes.command import COMMAND, INSTANCE, TURN
from supervisor.work.processes.spawn import ChildProcess
from supervisor.work.processes.table import Process, ProcessTable, Sight, do_nothing, living_below

SETTLING_LOOKS = 100  # while other turns' orphans keep arriving, an empty answer is believed after so many looks
AGREEING_LOOKS = 5  # a process that keeps moving is seen in at least one of so many looks


class Scope(Struct):
    """A turn, or a run of it. `seen` are its processes that were found so far."""

    turn: TurnId
    run: str | None = None
    seen: set[tuple[int, int]] = field(default_factory=set)


class Tree:
    def __init__(self, table: ProcessTable, instance: str) -> None:
        self._table = table
        self._instance = instance
        self._session = os.getsid(0)
        self.children: dict[int, ChildProcess] = {}
        self.since: dict[TurnId, int] = {}  # open turns, and the time before their first process
        self.runs: dict[str, TurnId] = {}  # of the open turns
        self.tags: dict[int, str] = {}  # the runs by the numbers that their processes inherit
        self.ending: set[TurnId] = set()  # open turns whose end has begun

    def leaders(self, scope: Scope) -> list[ChildProcess]:
        return [child for child in self.children.values() if _belongs_to(scope, child)]

    def find(self, scope: Scope, at_sight: Sight = do_nothing) -> list[Process]:
        """Return all living processes of a scope. If empty, all are gone: no parent passed on children meanwhile.

        The newest arrivals are checked first, as a process that keeps forking will soon be gone. Those that arrive
        meanwhile are checked next, but none twice: else a fork bomb of a turn would hold up all others.
        """
        looked_at: set[int] = set()
        for _ in range(SETTLING_LOOKS):
            self._table.refresh()
            new = [pid for pid in self._table.candidates() if pid not in looked_at]
            found = living_below(self._table, (pid for pid in reversed(new) if self._owns(scope, pid)), at_sight)
            if found or not new:
                break
            looked_at.update(new)
        scope.seen.update(process.name for process in found)
        return found

    def find_all(self, scope: Scope) -> list[Process]:
        """Return all living processes of a scope, looking until two looks agree.

        A process that dies during a look passes on its children, perhaps to a parent that was looked at already.
        """
        found: dict[tuple[int, int], Process] = {}
        before = None
        for _ in range(AGREEING_LOOKS):
            seen = {process.name: process for process in self.find(scope)}
            if seen.keys() == before:
                return list(seen.values())
            before = seen.keys()
            found |= seen
        return list(found.values())

    def _owns(self, scope: Scope, pid: int) -> bool:
        """Tell whether a process lives and is the scope's. A dead one is reaped, so that no later look meets it."""
        if (child := self.children.get(pid)) is not None:
            return _belongs_to(scope, child)
        process = self._table.look(pid)
        if process is None or self._put_away(process):
            return False
        if process.name in scope.seen:
            return True
        run = self.tags.get(self._table.tag(pid) or 0) or self._run_by_marks(pid)
        if run is not None:
            return self.runs[run] == scope.turn and scope.run in {None, run}
        return self._orphan(process) and self._owns_unmarked(scope, process)

    def _run_by_marks(self, pid: int) -> str | None:
        """Return the run that the marks name, if its turn is open."""
        marks = self._table.marks(pid)
        run = marks.get(COMMAND, "")
        ours = marks.get(INSTANCE) == self._instance and marks.get(TURN) == self.runs.get(run)
        return run if ours and run in self.runs else None

    def open(self, turn: TurnId) -> None:
        self.since[turn] = self._table.now()

    def enter(self, run: str, turn: TurnId, tag: int | None) -> None:
        """Record a run before it is started."""
        self.runs[run] = turn
        if tag is not None:
            self.tags[tag] = run

    def close(self, turn: TurnId) -> None:
        del self.since[turn]
        self.ending.discard(turn)
        self.runs = {run: owner for run, owner in self.runs.items() if owner != turn}
        self.tags = {tag: run for tag, run in self.tags.items() if run in self.runs}

    def _orphan(self, process: Process) -> bool:
        """Tell whether a process is ours, and a command's: the daemon's other children stay in our session."""
        return process.ppid == os.getpid() and process.sid != self._session

    def _owns_unmarked(self, scope: Scope, process: Process) -> bool:
        if child := self.children.get(process.sid) or self.children.get(process.pgid):
            return _belongs_to(scope, child)
        opened = self.since.get(scope.turn)
        if scope.run is not None or opened is None or process.start < opened:
            return False
        others = self.since.keys() - self.ending - {scope.turn}
        return not any(self.since[turn] <= process.start for turn in others)

    def reap(self) -> None:
        """Reap dead orphans; spawned children are left to the code that waits for them."""
        for pid in self._table.candidates():
            if pid not in self.children and (process := self._table.look(pid)) is not None:
                self._put_away(process)

    def _put_away(self, process: Process) -> bool:
        """Read the status of a dead orphan. Tell whether the process is dead."""
        if process.dead and self._orphan(process):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
        return process.dead


def _belongs_to(scope: Scope, child: ChildProcess) -> bool:
    return child.turn == scope.turn and scope.run in {None, child.run}
