"""Places among the live: which conversations wait for a place, and which idle ones are asked to leave. Registry core.

Only the owner of a conversation knows whether it can be parked, so it is asked, the longest unused first. Those that
stay are not asked again for the same waiting conversations.
"""

from collections import deque
from collections.abc import Callable, Iterator

from actors.vocabulary.ids import ConversationId


class Room:
    def __init__(self, most: int) -> None:
        self.most = most
        self._used: dict[ConversationId, None] = {}  # the live ones, longest unused first
        self._candidates: Iterator[ConversationId] | None = None  # of those who were not asked yet
        self.asked_to_leave: ConversationId | None = None
        self.waiting: deque[ConversationId] = deque()

    def __len__(self) -> int:
        return len(self._used)

    @property
    def is_full(self) -> bool:
        return len(self._used) >= self.most

    def use(self, conversation: ConversationId) -> None:
        """Note that a live conversation was used."""
        self._used.pop(conversation, None)
        self._used[conversation] = None

    def leave(self, conversation: ConversationId) -> None:
        self._used.pop(conversation, None)
        self.take_answer(conversation)

    def next_to_ask(self, may_be_idle: Callable[[ConversationId], bool]) -> ConversationId | None:
        """The next conversation to ask; None if none is left that might leave."""
        if self._candidates is None:
            self._candidates = iter(tuple(self._used))
        for candidate in self._candidates:
            if candidate in self._used and may_be_idle(candidate):
                self.asked_to_leave = candidate
                return candidate
        self._candidates = None
        return None

    def take_answer(self, conversation: ConversationId) -> bool:
        """Note a conversation's answer. Returns whether it was asked in order to make room."""
        if self.asked_to_leave != conversation:
            return False
        self.asked_to_leave = None
        if conversation in self._used:  # it stays: the others are asked before it is again
            self.use(conversation)
        else:
            self._candidates = None
        return True
