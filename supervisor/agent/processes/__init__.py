"""Commands as processes: started, read, and ended so that nothing of them stays behind.

Knows nothing of models, approvals or sandboxes; docs/processes.md explains the whole. Loop thread only.
"""

from supervisor.agent.processes.command import Command, Finished, NotStarted
from supervisor.agent.processes.last_life import sweep_last_life
from supervisor.agent.processes.output import Capture, Output
from supervisor.agent.processes.processes import Processes
from supervisor.agent.processes.spawn import reason

__all__ = [
    "Capture",
    "Command",
    "Finished",
    "NotStarted",
    "Output",
    "Processes",
    "reason",
    "sweep_last_life",
]
