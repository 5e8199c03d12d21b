"""The choice of the process table for this system."""

import functools
import sys

from supervisor.agent.processes.procfs import ProcTable
from supervisor.agent.processes.ps import PsTable
from supervisor.agent.processes.table import ProcessTable
from supervisor.agent.processes.tags import Tags

LINUX = sys.platform == "linux"


@functools.cache
def tags_of_this_process() -> Tags | None:
    return Tags() if LINUX else None


def table_of_this_system() -> ProcessTable:
    return ProcTable() if LINUX else PsTable()
