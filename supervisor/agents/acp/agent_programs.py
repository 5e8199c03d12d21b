"""The programs of third-party agents: one for each conversation and agent, kept between turns, limited in number.

Turns that wait for a place get the next free one in the order of arrival. Loop thread.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from actors.vocabulary.ids import ConversationId
from supervisor.agents.acp.session import AcpSession
from supervisor.config.bounds import Bounds

Key = tuple[ConversationId, str]  # the agent's name


class AgentPlace:
    """A place for one program. Its session is None while nothing runs in it."""

    def __init__(self) -> None:
        self.session: AcpSession | None = None
        self.busy = True
        self.used = 0.0
        self.resting: asyncio.TimerHandle | None = None

    @property
    def live(self) -> AcpSession | None:
        """The session, if its program can take a prompt."""
        return self.session if self.session is not None and self.session.process.is_alive else None

    def rest_until(self, timer: asyncio.TimerHandle | None) -> None:
        if self.resting is not None:
            self.resting.cancel()
        self.resting = timer


class AgentPrograms:
    def __init__(self, bounds: Callable[[], Bounds], clock: Callable[[], float] = time.monotonic) -> None:
        self._bounds = bounds
        self._clock = clock
        self._places: dict[Key, AgentPlace] = {}
        self._coming = asyncio.Lock()  # fair: its holder is the next to get a place
        self._freed = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<AgentPrograms {self.statistics()}>"

    def statistics(self) -> dict[str, int]:
        live = [place for place in self._places.values() if place.live]
        return {"children": len(live), "busy": sum(place.busy for place in self._places.values())}

    @asynccontextmanager
    async def place(self, key: Key, say_waits: Callable[[], None]) -> AsyncIterator[AgentPlace]:
        """Hold the place of a conversation for a turn; only one turn has it at a time."""
        await self._end_others(key)
        place = self._places.get(key) or await self._free_place(key, say_waits)
        place.busy = True
        place.rest_until(None)
        try:
            yield place
        finally:
            place.busy, place.used = False, self._clock()
            if place.live is None:
                del self._places[key]
            self._freed.set()

    def rest(self, conversation: ConversationId) -> None:
        """Start the timer that ends a parked conversation's program."""
        loop, idle_s = asyncio.get_running_loop(), self._bounds().agent_idle_seconds
        for key, place in self._places.items():
            if key[0] == conversation and not place.busy:
                place.rest_until(loop.call_later(idle_s, self._end_soon, key))

    def erase(self, conversation: ConversationId) -> None:
        """End the programs of a deleted conversation."""
        for key in [key for key in self._places if key[0] == conversation]:
            self._end_soon(key)

    async def aclose(self) -> None:
        """End all programs. Called when no turn runs any more."""
        await asyncio.gather(*(self._end(key) for key in list(self._places)), *self._ending)

    # --- places -----------------------------------------------------------------------------------------------------

    async def _free_place(self, key: Key, say_waits: Callable[[], None]) -> AgentPlace:
        if self._coming.locked() or (self._is_full and self._oldest_idle() is None):
            say_waits()
        async with self._coming:
            while self._is_full:
                self._freed.clear()
                oldest = self._oldest_idle()
                await (self._end(oldest) if oldest is not None else self._freed.wait())
            place = self._places[key] = AgentPlace()
            return place

    @property
    def _is_full(self) -> bool:
        return len(self._places) + len(self._ending) >= self._bounds().agents

    def _oldest_idle(self) -> Key | None:
        idle = {key: place.used for key, place in self._places.items() if not place.busy}
        return min(idle, key=lambda key: idle[key]) if idle else None

    async def _end_others(self, key: Key) -> None:
        """End the idle programs of other agents in this conversation: only one agent works in it."""
        conversation = key[0]
        others = [
            other
            for other, place in self._places.items()
            if other[0] == conversation and other != key and not place.busy
        ]
        await asyncio.gather(*map(self._end, others))

    async def _end(self, key: Key) -> None:
        ending = self._end_soon(key)
        if ending is not None:
            await asyncio.shield(ending)

    def _end_soon(self, key: Key) -> "asyncio.Task[None] | None":
        """Begin to end an idle program. Its place stays taken until none of its processes is alive."""
        place = self._places.get(key)
        if place is None or place.busy:
            return None
        del self._places[key]
        place.rest_until(None)
        ending = asyncio.get_running_loop().create_task(self._end_session(place), name=f"end-{key[1]}")
        self._ending.add(ending)
        ending.add_done_callback(self._has_ended)
        return ending

    async def _end_session(self, place: AgentPlace) -> None:
        if place.session is not None:
            await place.session.process.end(why="nobody used it")

    def _has_ended(self, ending: "asyncio.Task[None]") -> None:
        self._ending.discard(ending)
        self._freed.set()
