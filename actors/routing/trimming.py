"""The deletion of surplus and old conversations, in batches looked up on disk. Part of the registry's core; pure.

A batch is as old as its lookup, so conversations that were started since then are spared until the next time.
"""

from collections import deque

from actors.messages.journal import FindSurplus
from actors.messages.routing import EraseRows, Trim
from actors.routing.decisions import Decisions
from actors.routing.entry import Entry
from actors.routing.index import ConversationIndex
from actors.vocabulary.ids import ConversationId

BATCH = 100  # conversations that are looked up at once


class Trimming:
    def __init__(self, index: ConversationIndex) -> None:
        self._index = index
        self._left: deque[ConversationId] = deque()
        self._started: set[ConversationId] = set()  # since the lookup
        self._is_last = False
        self.wanted: Trim | None = None  # while it is under way
        self.quiescing = False

    def note_start(self, conversation: ConversationId) -> None:
        if self.wanted is not None:
            self._started.add(conversation)

    def start(self, wanted: Trim) -> Decisions:
        under_way, self.wanted = self.wanted is not None, wanted
        return () if under_way else self._look_for_surplus(wanted)

    def _look_for_surplus(self, wanted: Trim) -> Decisions:
        self._started.clear()
        awake = frozenset(conversation for conversation, entry in self._index.items() if not entry.is_asleep)
        return [FindSurplus(wanted.most, wanted.untouched_since, BATCH, awake)]

    def take_batch(self, surplus: tuple[ConversationId, ...]) -> Decisions:
        self._left = deque(surplus)
        self._is_last = len(surplus) < BATCH
        return self._erase_next() or self.end()

    def go_on(self) -> Decisions:
        """Delete the next conversation, or look for another batch, if this one was not the last."""
        erased = self._erase_next()
        if erased or self._is_last or self.wanted is None or self.quiescing:
            return erased or self.end()
        return self._look_for_surplus(self.wanted)

    def _erase_next(self) -> list[EraseRows]:
        """Delete one conversation at a time, as live ones need the disk first. Woken ones are left alone."""
        while self._left and not self.quiescing:
            conversation = self._left.popleft()
            entry = self._index.get(conversation)
            if conversation not in self._started and (entry is None or entry.is_asleep):
                return [(entry or self._index.add(Entry(conversation))).begin_removal(None)]
        return []

    def end(self) -> Decisions:
        self.wanted = None
        self._left.clear()
        self._started.clear()
        return ()
