"""Chooses the process table for this system. The other system's module is not loaded."""

import functools
import sys

from supervisor.work.processes.table import ProcessTable
from supervisor.work.processes.tags import Tags

LINUX = sys.platform == "linux"


@functools.cache
def tags_of_this_process() -> Tags | None:
    return Tags() if LINUX else None


def table_of_this_system() -> ProcessTable:
    if LINUX:
        from supervisor.work.processes.procfs import ProcTable

        return ProcTable()
    from supervisor.work.processes.ps import PsTable

    return PsTable()
