"""One background command, from its start to its end. Loop thread."""

import asyncio
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from actors.vocabulary.ids import ConversationId, JobId, TurnId
from supervisor.work.jobs.recent_output import RecentOutput
from supervisor.work.processes.input import Input
from transports.job_words import how_it_ended

EndKind = Literal["exited", "ended", "not_started", "turn_over"]


class JobSpec(Struct, frozen=True):
    """The command of a job. `keeps`: it goes on when its turn is over."""

    conversation: ConversationId
    turn: TurnId
    command: tuple[str, ...]
    cwd: Path
    keeps: bool


class JobEnd(Struct, frozen=True):
    """The end of a job. `by` names the client or the model that ended it."""

    exit_code: int
    how: EndKind
    by: str = ""
    reason: str = ""


class BackgroundJob:
    def __init__(self, job: JobId, spec: JobSpec, keep_bytes: int) -> None:
        self.id = job
        self.spec = spec
        self.owner = TurnId(f"job-{job}")  # of its processes: they end with it, not with the turn's
        self.began = time.time()
        self.roll = RecentOutput(keep_bytes)
        self.input = Input()
        self.end: JobEnd | None = None
        self.ended_by = ""
        self.read_to = 0  # the place up to which the model has read
        self.end_told = False  # the model was told of its end
        self._writing = asyncio.Lock()
        self._news = asyncio.Event()
        self.over = asyncio.Event()

    def take(self, data: bytes) -> None:
        self.roll.add(data)
        self._news.set()

    def finish(self, end: JobEnd) -> None:
        self.end = end
        self.over.set()
        self._news.set()

    async def write(self, data: bytes, *, close: bool, within_s: float) -> bool:
        """Write to the job's input, and close it if asked to. False if not all was read in time."""
        try:
            async with asyncio.timeout(within_s), self._writing:
                taken = await self.input.write(data)
        except TimeoutError:
            return False
        if close:
            self.input.close()
        return taken == len(data)

    async def wait(self, seconds: float) -> bool:
        """Wait for the job's end; tell whether it has come."""
        return await _wait_for(self.over, seconds)

    async def wait_for_output(self, place: int, seconds: float) -> None:
        """Wait until there is output after a place, or the job has ended."""
        if self.end is None and self.roll.end <= place:
            self._news.clear()
            await _wait_for(self._news, seconds)

    @property
    def state(self) -> str:
        """The job's state, in words for models and people."""
        if self.end is None:
            return f"running for {time.time() - self.began:.0f} s"
        words = how_it_ended(self.end.how, self.end.exit_code, self.end.by)
        return f"{words}: {self.end.reason}" if self.end.reason else words


async def _wait_for(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
