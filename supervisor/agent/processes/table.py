"""Which processes there are, as the system tells it. Knows nothing of turns.

`ProcessTable` is what the rest needs; procfs.py is Linux, ps.py is macOS and whatever else there is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Process:
    """A pid alone is no name: numbers are used again. With the start time it is one."""

    pid: int
    ppid: int
    pgid: int
    sid: int
    start: int  # in the table's own unit; only compared with others of the same table
    dead: bool  # a zombie, which only waits for its status to be read

    @property
    def name(self) -> tuple[int, int]:
        return self.pid, self.start


Sight = Callable[[Process], None]  # called with each process in the moment in which it is found


def unmoved(_: Process) -> None:
    """Only looks."""


class ProcessTable(Protocol):
    boot: str  # start times of another boot say nothing

    def now(self) -> int:
        """In the unit of start times; a process started later never has a smaller one."""
        ...

    def refresh(self) -> None:
        """What was read before may be out of date from here on."""
        ...

    def candidates(self) -> Sequence[int]:
        """Where trees of ours can have their roots."""
        ...

    def everybody(self) -> Sequence[int]: ...

    def look(self, pid: int) -> Process | None: ...

    def children(self, pid: int) -> Sequence[int]: ...

    def tag(self, pid: int) -> int | None:
        """The number it has inherited, see tags.py; None where there is none, or no such thing."""
        ...

    def marks(self, pid: int) -> Mapping[str, str]:
        """The marks in the environment that the process was started with; empty where it may not be read."""
        ...
