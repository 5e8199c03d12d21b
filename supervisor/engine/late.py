"""Parts of the engine that are imported and made when they are first needed: an idle daemon has no use for them.

Our own agent alone is a quarter of a daemon's memory and start time.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.backend import Backend
from supervisor.agents.turn import Turn

Part = TypeVar("Part")
Agents = TypeVar("Agents", bound=Backend)
Result = TypeVar("Result")


class Late(Generic[Part]):
    """A part that the first who needs it makes, on its own thread and under a lock. `made`: None before that."""

    def __init__(self, make: Callable[[], Part]) -> None:
        """`make` imports and makes the part. Blocking."""
        self.made: Part | None = None
        self._make = make
        self._lock = threading.Lock()
        self._loading: asyncio.Task[Part] | None = None

    def get(self) -> Part:
        """Return the part. Blocking at the first call, for as long as an import takes."""
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made

    def if_made(self, act: Callable[[Part], Result]) -> Result | None:
        """Let `act` have the part. A part in the making is waited for, so that it misses nothing."""
        with self._lock:
            return None if self.made is None else act(self.made)

    def prepare(self) -> "asyncio.Task[Part]":
        """Begin to make it, in a worker thread. Where that has failed, for want of descriptors, it begins anew."""
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.get_running_loop().create_task(asyncio.to_thread(self.get), name="make-part")
        return self._loading

    async def settled(self) -> Part | None:
        """Return the part when nobody prepares it any more; None if it is not made."""
        if self._loading is not None:
            await asyncio.wait({self._loading})
        return self.made


class LateBackend(Generic[Agents]):
    """The backend of agents that the first turn loads. On the loop."""

    resumable = True

    def __init__(self, agents: Late[Agents]) -> None:
        self._agents = agents

    async def run(self, turn: Turn) -> str | None:
        agents = self._agents.made
        if agents is None:
            agents = await asyncio.shield(self._agents.prepare())
        return await agents.run(turn)

    def forget(self, conversation: ConversationId) -> None:
        if self._agents.made is not None:
            self._agents.made.forget(conversation)

    def hurry(self, turn: TurnId) -> None:
        if self._agents.made is not None:
            self._agents.made.hurry(turn)
