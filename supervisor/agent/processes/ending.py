"""Ending a tree: TERM, a grace, KILL until nothing is found. Knows how, not whose; the finder says what is left."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence

from supervisor.agent.processes.exits import all_gone
from supervisor.agent.processes.spawn import Child
from supervisor.agent.processes.table import Process

Find = Callable[[], list[Process]]
Leaders = Callable[[], list[Child]]

LOOK_AGAIN_S = 0.05  # a killed process is gone in less, unless the kernel holds it
GIVE_UP_S = 5.0  # after the last KILL: what still lives is another user's, or stuck in the kernel; the turn must end


async def end(find: Find, leaders: Leaders, grace_s: float, hurry: asyncio.Future[None]) -> list[Process]:
    """Returns when nothing is found any more; otherwise what could not be ended."""
    try:
        await _ask(find, leaders, time.monotonic() + grace_s, hurry)
        return await _kill(find, leaders)
    except asyncio.CancelledError:  # the loop itself is being closed
        _strike(find(), leaders(), signal.SIGKILL)
        raise


async def _ask(find: Find, leaders: Leaders, deadline: float, hurry: asyncio.Future[None]) -> None:
    """TERM once to each. Newcomers are left alone while those asked may still need them, to clean up with."""
    asked: set[tuple[int, int]] = set()
    while not hurry.done() and (left_s := deadline - time.monotonic()) > 0:
        found = find()
        if not found:
            return
        waiting = [process for process in found if process.name in asked]
        if not waiting:
            asked.update(process.name for process in found)
            waiting = found
            _term(found, leaders())
        await all_gone([process.pid for process in waiting], left_s, hurry)


async def _kill(find: Find, leaders: Leaders) -> list[Process]:
    deadline = time.monotonic() + GIVE_UP_S
    while (found := find()) and time.monotonic() < deadline:
        _strike(found, leaders(), signal.SIGKILL)
        await all_gone([process.pid for process in found], LOOK_AGAIN_S)
    return found


def _term(found: Sequence[Process], leaders: Sequence[Child]) -> None:
    """Past a keeper, whose death would be a KILL for what it keeps. One that keeps nothing yet is ended itself."""
    keepers = {child.pid for child in leaders if child.keeper}
    idle = keepers - {_grandparent(process, found) for process in found}
    kept = [process for process in found if process.pid not in keepers]
    _strike(kept, [child for child in leaders if not child.keeper], signal.SIGTERM)
    _strike(kept, [], signal.SIGCONT)  # what is stopped would not hear it
    _strike([], [child for child in leaders if child.pid in idle], signal.SIGKILL)


def _grandparent(process: Process, found: Sequence[Process]) -> int:
    """A keeper has one child, the first process of its namespace, and the command is a child of that."""
    return next((parent.ppid for parent in found if parent.pid == process.ppid), 0)


def _strike(found: Sequence[Process], leaders: Sequence[Child], sig: signal.Signals) -> None:
    """A group is hit in one step of the kernel, in which nobody of it can fork; then those who left their group.

    The leaders' status has not been read, so the groups are still theirs. The others were seen a moment ago: for a
    pid to become somebody else's, all numbers would have to be used up in between.
    """
    groups = {child.pid for child in leaders}
    for pgid in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pgid, sig)
    for process in found:
        if process.pgid not in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # who may not be ended is a survivor
                os.kill(process.pid, sig)
