"""Third-party agents, imported when the first turn with such an agent begins.

Lives on the loop; the import runs in a worker thread.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.turn import Turn

if TYPE_CHECKING:
    from supervisor.agents.acp.third_party_agents import ThirdPartyAgents


class LateThirdPartyAgents:
    """A Backend. `make` imports the modules, in a worker thread; the maker that it returns is for the loop."""

    resumable = True

    def __init__(self, make: Callable[[], "Callable[[], ThirdPartyAgents]"]) -> None:
        self._make = make
        self._loading: asyncio.Task[ThirdPartyAgents] | None = None
        self._others: ThirdPartyAgents | None = None

    async def run(self, turn: Turn) -> str | None:
        if self._others is None:
            await asyncio.shield(self._begin())
        assert self._others is not None  # noqa: S101  # loaded
        return await self._others.run(turn)

    def forget(self, conversation: ConversationId) -> None:
        if self._others is not None:
            self._others.forget(conversation)

    def hurry(self, turn: TurnId) -> None:
        if self._others is not None:
            self._others.hurry(turn)

    def rest(self, conversation: ConversationId) -> None:
        """End the program of a parked conversation, after a while."""
        if self._others is not None:
            self._others.programs.rest(conversation)

    def erase(self, conversation: ConversationId) -> None:
        if self._others is not None:
            self._others.programs.erase(conversation)

    async def aclose(self) -> None:
        if self._loading is not None:
            await asyncio.wait({self._loading})
        if self._others is not None:
            await self._others.programs.aclose()

    def statistics(self) -> dict[str, int]:
        return self._others.programs.statistics() if self._others is not None else {}

    def _begin(self) -> "asyncio.Task[ThirdPartyAgents]":
        """Begin to load, unless it is loading. An import that failed, for want of descriptors, is tried again."""
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.get_running_loop().create_task(self._load(), name="load-other-agents")
        return self._loading

    async def _load(self) -> "ThirdPartyAgents":
        make_on_loop = await asyncio.to_thread(self._make)
        self._others = others = make_on_loop()
        return others
