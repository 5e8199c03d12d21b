"""Notice of processes' exits without polling: a descriptor each, which becomes readable at the exit.

Linux has pidfd (5.3 and later), macOS kqueue. Neither takes the exit status away from the process that waits for it.
"""

import asyncio
import contextlib
import errno
import os
import select
import sys
from collections.abc import Sequence
from typing import Any

WATCHED = 64  # descriptors spent on a wait; the rest of a larger tree is found by the next look
LOOK_AGAIN_S = 0.001  # if there is nothing to wait on: all are gone already, or no descriptor is left


def exit_fd(pid: int) -> int:
    """Return a descriptor that is readable once the process has ended. ProcessLookupError if it is gone."""
    if sys.platform == "darwin":
        with contextlib.closing(select.kqueue()) as queue:
            watch = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([watch], 0)
            return os.dup(queue.fileno())
    else:
        return os.pidfd_open(pid)


class Exit:
    """The end of a process as a future. The owner closes it."""

    def __init__(self, pid: int) -> None:
        self._fd = exit_fd(pid)
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._fd, self._on_exit)

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._fd)
        settle(self.future)

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        os.close(self._fd)


def settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def all_gone(pids: Sequence[int], timeout_s: float, hurry: asyncio.Future[None] | None = None) -> None:
    """Wait until all have ended, the time is up, or `hurry` is set: whichever is first."""
    watched = _watch(pids)
    if not watched:
        await asyncio.sleep(LOOK_AGAIN_S)
        return
    waits: set[asyncio.Future[Any]] = {asyncio.gather(*(end.future for end in watched))}
    try:
        await asyncio.wait(
            waits if hurry is None else {*waits, hurry}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for end in watched:
            end.close()


def _watch(pids: Sequence[int]) -> list[Exit]:
    """Watch as many as there are descriptors for."""
    watched = []
    try:
        for pid in pids[:WATCHED]:
            with contextlib.suppress(ProcessLookupError):
                watched.append(Exit(pid))
    except OSError as error:
        if error.errno not in {errno.EMFILE, errno.ENFILE}:
            raise
    return watched
