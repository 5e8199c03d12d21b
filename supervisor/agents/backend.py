"""The protocol of the agents that carry out turns: a model with our tools, or a third-party program."""

from typing import Protocol

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.agents.turn import Turn


class Backend(Protocol):
    """One kind of agent; runs many turns at once, one per conversation."""

    resumable: bool  # a turn that waits for an approval may be ended, and started again when it is answered

    async def run(self, turn: Turn) -> str | None:
        """Carry the turn out and return the last thing said. Cancellable at every await."""
        ...

    def forget(self, conversation: ConversationId) -> None:
        """Forget everything about the conversation; nothing of it may be used again."""
        ...

    def hurry(self, turn: TurnId) -> None:
        """Cut short every grace period of a turn that is stopped, or is about to be."""
        ...
