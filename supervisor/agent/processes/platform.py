"""The choice of the process table for this system. The other system's is not loaded."""

import functools
import sys

from supervisor.agent.processes.table import ProcessTable
from supervisor.agent.processes.tags import Tags

LINUX = sys.platform == "linux"


@functools.cache
def tags_of_this_process() -> Tags | None:
    return Tags() if LINUX else None


def table_of_this_system() -> ProcessTable:
    if LINUX:
        from supervisor.agent.processes.procfs import ProcTable

        return ProcTable()
    from supervisor.agent.processes.ps import PsTable

    return PsTable()
