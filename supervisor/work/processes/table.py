"""The system's processes. Knows nothing of turns.

`ProcessTable` is the interface; procfs.py is for Linux, ps.py for macOS and other systems.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct


class Process(Struct, frozen=True):
    """A process. Only pid and start time together name it, because pids are reused."""

    pid: int
    ppid: int
    pgid: int
    sid: int
    start: int  # in the table's own unit; only compared with others of the same table
    dead: bool  # a zombie, whose status has not been read yet

    @property
    def name(self) -> tuple[int, int]:
        return self.pid, self.start


Sight = Callable[[Process], None]  # called with each process as soon as it is found


def do_nothing(_: Process) -> None:
    """Do nothing."""


class ProcessTable(Protocol):
    boot: str  # start times of another boot mean nothing

    def now(self) -> int:
        """Return the time in the unit of start times; a process started later never has a smaller one."""
        ...

    def refresh(self) -> None:
        """Forget earlier reads, which may be out of date."""
        ...

    def candidates(self) -> Sequence[int]:
        """Return the pids that may be roots of our trees."""
        ...

    def all_pids(self) -> Sequence[int]: ...

    def look(self, pid: int) -> Process | None: ...

    def children(self, pid: int) -> Sequence[int]: ...

    def tag(self, pid: int) -> int | None:
        """Return the inherited number, see tags.py; None if there is no process or no number."""
        ...

    def marks(self, pid: int) -> Mapping[str, str]:
        """Return the marks in the environment of the process's start; empty if we may not read it."""
        ...


def living_below(
    table: ProcessTable, roots: Iterable[int], at_sight: Sight, spared: Container[int] = ()
) -> list[Process]:
    """Return the living processes among the roots and their descendants."""
    found: dict[int, Process] = {}
    for root in roots:
        ahead = [root]
        while ahead:
            pid = ahead.pop()
            if pid in found or pid in spared or (process := table.look(pid)) is None:
                continue
            if process.dead:  # its children got another parent before it was declared dead
                continue
            ahead.extend(table.children(pid))  # while they are still its own
            found[pid] = process
            at_sight(process)
    return list(found.values())
