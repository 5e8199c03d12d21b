"""The end of a process tree: TERM, a grace, KILL until nothing is found. `find` returns the remaining processes."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from supervisor.work.processes.exits import all_gone
from supervisor.work.processes.spawn import ChildProcess
from supervisor.work.processes.table import Process, Sight


class Find(Protocol):
    def __call__(self, at_sight: Sight = ...) -> list[Process]: ...


Leaders = Callable[[], list[ChildProcess]]

LOOK_AGAIN_S = 0.05  # a killed process is gone in less, unless the kernel holds it
KEEPER_S = 0.001  # between looks at a sandbox during its set-up
GIVE_UP_S = 5.0  # after the last KILL; a survivor is another user's, or stuck in the kernel, and the turn must end


async def end(find: Find, leaders: Leaders, grace_s: float, hurry: asyncio.Future[None]) -> list[Process]:
    """End the processes, and return those that could not be ended."""
    try:
        if await _ask(find, leaders, time.monotonic() + grace_s, hurry):
            return []
        return await _kill(find, leaders)
    except asyncio.CancelledError:  # the loop itself is being closed
        _strike(find, leaders())
        raise


async def _ask(find: Find, leaders: Leaders, deadline: float, hurry: asyncio.Future[None]) -> bool:
    """Send TERM once to each process; return True if that was enough.

    New processes are left alone while older ones may need them to clean up.
    """
    asked: set[tuple[int, int]] = set()
    while (found := find()) and not hurry.done() and (left_s := deadline - time.monotonic()) > 0:
        waiting = [process for process in found if process.name in asked]
        if not waiting:
            waiting = _recipients_of_term(found, leaders())
            asked.update(process.name for process in waiting)
            for process in waiting:
                _signal(process.pid, signal.SIGTERM)
                _signal(process.pid, signal.SIGCONT)  # a stopped process would not receive it
        if waiting:
            await all_gone([process.pid for process in waiting], left_s, hurry)
        else:
            await all_gone([process.pid for process in found], KEEPER_S, hurry)
    return not found


def _recipients_of_term(found: Sequence[Process], leaders: Sequence[ChildProcess]) -> list[Process]:
    """Return the processes for TERM: all but a sandbox's keeper, whose death kills the others, and its first process.

    A keeper without other children is setting up its sandbox, or about to end: that takes milliseconds.
    """
    keepers = {child.pid for child in leaders if child.keeper}
    return [process for process in found if process.pid not in keepers and process.ppid not in keepers]


async def _kill(find: Find, leaders: Leaders) -> list[Process]:
    deadline = time.monotonic() + GIVE_UP_S
    while (found := _strike(find, leaders())) and time.monotonic() < deadline:
        await all_gone([process.pid for process in found], LOOK_AGAIN_S)
    return found


def _strike(find: Find, leaders: Sequence[ChildProcess]) -> list[Process]:
    """Kill the groups, each in one step of the kernel in which none can fork; then processes outside their group.

    Each is killed as soon as it is seen: a process that keeps forking and ending has another pid a moment later.
    """
    for child in leaders:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # its status has not been read, so the group is still its own
    return find(lambda process: _signal(process.pid, signal.SIGKILL))


def _signal(pid: int, sig: signal.Signals) -> None:
    """Signal a process seen a moment ago: its pid can't have been reused unless all others were used meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # a process that we may not end is a survivor
        os.kill(pid, sig)
