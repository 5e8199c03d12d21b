"""The ends of conversations, which each append has to fit. Recent ends are kept in memory, others are looked up.

Belongs to the committing thread.
"""

from collections.abc import Callable, Mapping

from actors.vocabulary.ids import ConversationId
from supervisor.journal.commit_plan import LogPosition

MOST_REMEMBERED = 4_096  # conversations, in about a megabyte; with more, all are forgotten, and cost a look-up each


class Positions:
    def __init__(self, look_up: Callable[[ConversationId], LogPosition | None]) -> None:
        self._look_up = look_up
        self._recent: dict[ConversationId, LogPosition] = {}

    def get(self, conversation: ConversationId) -> LogPosition | None:
        return self._recent.get(conversation) or self._look_up(conversation)

    def note(self, ends: Mapping[ConversationId, LogPosition]) -> None:
        if len(self._recent) > MOST_REMEMBERED:
            self._recent.clear()
        self._recent.update(ends)

    def forget(self, conversation: ConversationId) -> None:
        self._recent.pop(conversation, None)
