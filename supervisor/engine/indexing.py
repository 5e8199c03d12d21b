"""The task that lets the search file follow the journal: a piece at a time in a worker thread, with pauses.

Lives on the loop and owns the schedule. It never delays a commit: the writer of the journal only sets a flag.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import structlog

from actors.vocabulary.errors import GreenroomError

FIRST_S = 2.0  # after the start, when the first clients have been served
LOOK_S = 2.0  # between looks for news
PAUSE = 3.0  # of each piece's own time: the search takes a quarter of one processor at most
LEAST_PAUSE_S = 0.01
AGAIN_S = 60.0  # after an error: a full disk stays full for a while

log = structlog.get_logger()


class SearchFile(Protocol):
    """The search file. Each method may wait for the disk."""

    def step(self) -> bool:
        """Carry out one bounded piece. True if there is more to do."""
        ...

    def rest(self) -> None: ...

    def remove(self) -> None: ...


class Indexing:
    """The schedule. `trouble`: why the search does not follow now. `wanted`: whether there is to be a file at all."""

    def __init__(self, index: SearchFile, wanted: Callable[[], bool]) -> None:
        self.trouble: str | None = None
        self._index = index
        self._wanted = wanted
        self._news = True
        self._resting = False  # the file holds no memory
        self._removed = False
        self._hurry = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def note_news(self) -> None:
        """Note that the journal has changed. On any thread, at no cost."""
        self._news = True

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._follow(), name="indexing")

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def catch_up(self, within_s: float) -> None:
        """Read the latest events now, for a search. Reading that takes longer goes on by itself."""
        if self._news:
            self._caught_up.clear()
            self._hurry.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._caught_up.wait(), within_s)

    async def _follow(self) -> None:
        await self._pause(FIRST_S)
        while True:
            try:
                pause_s = await self._look()
            except GreenroomError as error:
                pause_s = self._note_failure(error.message)
            except Exception as error:
                log.exception("search.index_failed")
                pause_s = self._note_failure(f"it failed: {type(error).__name__}")
            await self._pause(pause_s)

    async def _look(self) -> float:
        """Carry out the next piece; return the time to wait after it."""
        if not self._wanted():
            return await self._remove()
        self._removed = False
        if not self._news:
            self._caught_up.set()
            if not self._resting:
                await asyncio.to_thread(self._index.rest)
                self._resting = True
            return LOOK_S
        self._news, self._resting = False, False
        began = time.monotonic()
        more = await asyncio.to_thread(self._index.step)
        self._note_success()
        if more:
            self._news = True
            return max(LEAST_PAUSE_S, PAUSE * (time.monotonic() - began))
        if not self._news:
            self._caught_up.set()
        return LOOK_S

    async def _remove(self) -> float:
        if not self._removed:
            await asyncio.to_thread(self._index.remove)
            self._removed = self._news = True
            self._note_success()
        return LOOK_S

    async def _pause(self, pause_s: float) -> None:
        """Wait, unless `catch_up` is in a hurry."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), pause_s)
        self._hurry.clear()

    def _note_failure(self, why: str) -> float:
        self._news = True
        if why != self.trouble:
            log.warning("search.paused", reason=why)
        self.trouble = why
        return AGAIN_S

    def _note_success(self) -> None:
        if self.trouble is not None:
            log.info("search.goes_on")
        self.trouble = None
