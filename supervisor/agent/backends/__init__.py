"""What carries out turns: models with our tools today, other agents behind the same door later."""

from typing import Protocol

from actors.ids import ConversationId
from supervisor.agent.turn import Turn


class Backend(Protocol):
    """One per kind of agent; runs many turns at once, one per conversation."""

    resumable: bool  # may be ended while it asks, and started again from the journal when the answer is there

    async def run(self, turn: Turn) -> str | None:
        """Carry the turn out and return the last thing said. Cancellable at every await."""
        ...

    def forget(self, conversation: ConversationId) -> None:
        """Nothing remembered of the conversation may be used again."""
        ...
