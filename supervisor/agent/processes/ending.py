"""Ending a tree: TERM, a grace, KILL until nothing is found. Knows how, not whose; the finder says what is left."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from supervisor.agent.processes.exits import all_gone
from supervisor.agent.processes.spawn import Child
from supervisor.agent.processes.table import Process, Sight


class Find(Protocol):
    def __call__(self, at_sight: Sight = ...) -> list[Process]: ...


Leaders = Callable[[], list[Child]]

LOOK_AGAIN_S = 0.05  # a killed process is gone in less, unless the kernel holds it
KEEPER_S = 0.001  # between looks at a sandbox that is being set up
GIVE_UP_S = 5.0  # after the last KILL: what still lives is another user's, or stuck in the kernel; the turn must end


async def end(find: Find, leaders: Leaders, grace_s: float, hurry: asyncio.Future[None]) -> list[Process]:
    """Returns when nothing is found any more; otherwise what could not be ended."""
    try:
        if await _ask(find, leaders, time.monotonic() + grace_s, hurry):
            return []
        return await _kill(find, leaders)
    except asyncio.CancelledError:  # the loop itself is being closed
        _strike(find, leaders())
        raise


async def _ask(find: Find, leaders: Leaders, deadline: float, hurry: asyncio.Future[None]) -> bool:
    """TERM once to each; True if that was enough.

    Newcomers are left alone while those asked may still need them, to clean up with.
    """
    asked: set[tuple[int, int]] = set()
    while (found := find()) and not hurry.done() and (left_s := deadline - time.monotonic()) > 0:
        waiting = [process for process in found if process.name in asked]
        if not waiting:
            waiting = _kept(found, leaders())
            asked.update(process.name for process in waiting)
            for process in waiting:
                _signal(process.pid, signal.SIGTERM)
                _signal(process.pid, signal.SIGCONT)  # what is stopped would not hear it
        if waiting:
            await all_gone([process.pid for process in waiting], left_s, hurry)
        else:
            await all_gone([process.pid for process in found], KEEPER_S, hurry)
    return not found


def _kept(found: Sequence[Process], leaders: Sequence[Child]) -> list[Process]:
    """All but the sandboxes' keepers, whose death would be a KILL for what they keep, and the first process of each.

    A keeper that has nothing else is setting up its sandbox, or is about to end: it does that in milliseconds.
    """
    keepers = {child.pid for child in leaders if child.keeper}
    return [process for process in found if process.pid not in keepers and process.ppid not in keepers]


async def _kill(find: Find, leaders: Leaders) -> list[Process]:
    deadline = time.monotonic() + GIVE_UP_S
    while (found := _strike(find, leaders())) and time.monotonic() < deadline:
        await all_gone([process.pid for process in found], LOOK_AGAIN_S)
    return found


def _strike(find: Find, leaders: Sequence[Child]) -> list[Process]:
    """First the groups, each in one step of the kernel in which nobody of it can fork; then who has left his.

    Each of those at sight: one that forks and ends all the time is somebody else when all have been looked at.
    """
    for child in leaders:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # its status has not been read, so the group is still its own
    return find(lambda process: _signal(process.pid, signal.SIGKILL))


def _signal(pid: int, sig: signal.Signals) -> None:
    """To a process seen a moment ago: to be somebody else's by now, all numbers would have to be used in between."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # who may not be ended is a survivor
        os.kill(pid, sig)
