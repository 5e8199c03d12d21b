"""The real daemon with an agent that ticks: words that are the time, at a set rate, and no model behind it.

A model's HTTP would be four fifths of what such a measurement sees. Everything from the agent's emit to the client's
socket is the daemon's own. The prompt says how: `words N EVERY_MS`, `flood BYTES PIECE`; anything else is one word.
"""

import asyncio
import random
import sys
import time

from actors.messages.orders import RunAgent
from actors.vocabulary.events import AgentMessage, AgentMessageDelta
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.items import text_of
from supervisor.agents.backend import Backend
from supervisor.agents.turn import Turn
from supervisor.daemon import daemon_start
from supervisor.daemon import server as daemon
from supervisor.engine.engine import Engine

BEFORE_INPUT = 8  # messages; an agent looks for input before every request to its model, and so waits for the disk


class Ticking:
    resumable = False

    async def run(self, turn: Turn) -> str | None:
        verb, *numbers = text_of(turn.order.inputs[0].items).split()
        if verb == "words":
            await self._words(turn, int(numbers[0]), float(numbers[1]) / 1000)
        elif verb == "flood":
            await self._flood(turn, int(numbers[0]), int(numbers[1]))
        else:
            turn.emit(AgentMessage(message="one", item_id=turn.new_item()))
        await turn.more_input()
        return "done"

    async def _words(self, turn: Turn, count: int, every_s: float) -> None:
        item = turn.new_item()
        due = time.monotonic() + random.random() * every_s  # so that not all speak in the same moment
        for _ in range(count):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += every_s
            turn.emit(AgentMessageDelta(delta=f"{time.time():.6f} ", item_id=item))
        turn.emit(AgentMessage(message="said", item_id=item))

    async def _flood(self, turn: Turn, size: int, piece: int) -> None:
        """Talk like a model: deltas, which wait for room, the whole message, and now and then a look for input."""
        text = "x" * piece
        for number in range(size // piece):
            if number % BEFORE_INPUT == 0:
                await turn.more_input()
            item = turn.new_item()
            await turn.wait_for_room()
            turn.emit(AgentMessageDelta(delta=text, item_id=item), AgentMessage(message=text, item_id=item))
            await asyncio.sleep(0)

    def hurry(self, turn: TurnId) -> None:
        """Nothing has a grace here but commands, which are the runner's."""

    def forget(self, conversation: ConversationId) -> None:
        """Nothing: no transcript is kept."""


class TickingEngine(Engine):
    def _backend_for(self, _: RunAgent) -> Backend:
        return Ticking()


if __name__ == "__main__":
    daemon.Engine = TickingEngine  # type: ignore[attr-defined]  # the daemon's one seam for another kind of agent
    sys.exit(daemon_start.main())
