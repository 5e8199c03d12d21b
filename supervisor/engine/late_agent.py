"""Our own agent, imported when it is first needed: its modules are a quarter of a daemon's memory and start time.

Lives on the loop; the import runs in a worker thread, so that it delays no client.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.turn import Turn

if TYPE_CHECKING:
    from supervisor.agents.own.own_agent import OwnAgent
    from supervisor.work.jobs.jobs import BackgroundJobs


class LateAgent:
    """A Backend. `make` imports the agent's modules, in a worker; the maker that it returns runs on the loop."""

    resumable = True

    def __init__(self, make: Callable[[], "Callable[[], OwnAgent]"]) -> None:
        self._make = make
        self._loading: asyncio.Task[OwnAgent] | None = None
        self._own: OwnAgent | None = None

    @property
    def own(self) -> "OwnAgent":
        assert self._own is not None  # noqa: S101  # loaded by `prepare`
        return self._own

    def prepare(self) -> "asyncio.Task[OwnAgent]":
        """Begin to load it, unless it is loading. An import that failed, for want of descriptors, is tried again."""
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.get_running_loop().create_task(self._load(), name="load-agent")
        return self._loading

    async def run(self, turn: Turn) -> str | None:
        if self._own is None:
            await asyncio.shield(self.prepare())
        return await self.own.backend.run(turn)

    def forget(self, conversation: ConversationId) -> None:
        if self._own is not None:
            self._own.backend.forget(conversation)

    def rest(self, conversation: ConversationId) -> None:
        """Give back the memory that only makes the next turn of a parked conversation faster."""
        self.forget(conversation)
        if self._own is not None:
            self._own.rest(conversation)

    def hurry(self, turn: TurnId) -> None:
        """Do nothing: only commands have a grace here, and they are the runner's."""

    @property
    def jobs(self) -> "BackgroundJobs | None":
        """The background commands; None if none was ever started."""
        return self._own.jobs if self._own is not None else None

    async def end_jobs(self, conversation: ConversationId) -> None:
        if self._own is not None:
            self._own.rest(conversation)
            await self._own.jobs.end_of(conversation)

    async def end_all_jobs(self) -> None:
        if self._own is not None:
            await self._own.jobs.aclose()

    def erase(self, conversation: ConversationId) -> None:
        """Forget a deleted conversation, with the output of its background commands."""
        self.rest(conversation)
        if self._own is not None:
            self._own.jobs.forget(conversation)

    def reload(self) -> None:
        if self._own is not None:
            self._own.reload()

    async def aclose(self) -> None:
        if self._loading is not None:
            await asyncio.wait({self._loading})
        if self._own is not None:
            await self.own.aclose()

    def statistics(self) -> dict[str, int]:
        return self.own.transcripts.statistics() if self._own is not None else {}

    async def _load(self) -> "OwnAgent":
        make_on_loop = await asyncio.to_thread(self._make)
        self._own = own = make_on_loop()
        own.prepare()
        return own
