"""The deletion of surplus and old conversations, in batches looked up on disk. Part of the registry; pure.

A batch is as old as its lookup, so conversations that were started since then are spared until the next time.
"""

from collections import deque
from collections.abc import Iterable

from actors.messages.routing import Trim
from actors.vocabulary.ids import ConversationId

BATCH = 100  # conversations that are looked up at once


class ConversationTrimming:
    def __init__(self) -> None:
        self.wanted: Trim | None = None  # while it is under way
        self._left: deque[ConversationId] = deque()
        self._started: set[ConversationId] = set()
        self._is_last = False

    def note_start(self, conversation: ConversationId) -> None:
        if self.wanted is not None:
            self._started.add(conversation)

    def begin_batch(self) -> None:
        """Begin a batch: from now on the conversations that start are noted."""
        self._started.clear()

    def take_batch(self, surplus: Iterable[ConversationId]) -> None:
        self._left = deque(surplus)
        self._is_last = len(self._left) < BATCH

    def next_to_delete(self) -> ConversationId | None:
        """The next conversation to delete, if it was not started meanwhile; None if the batch is over."""
        while self._left:
            conversation = self._left.popleft()
            if conversation not in self._started:
                return conversation
        return None

    def next_wish(self) -> Trim | None:
        """The wish for which another batch is to be looked up; None if this one was the last."""
        return None if self._is_last else self.wanted

    def end(self) -> None:
        self.wanted = None
        self._left.clear()
        self._started.clear()
