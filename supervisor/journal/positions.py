"""The ends of conversations, which each append has to fit: those of late are remembered, others are looked up.

Belongs to the committing thread.
"""

from collections import OrderedDict
from collections.abc import Mapping

from actors.vocabulary.ids import ConversationId
from supervisor.journal.plan import LogPosition
from supervisor.journal.rows import GET_POSITION
from supervisor.journal.transaction import Writer

REMEMBERED = 4_096  # conversations: a megabyte


class Positions:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._recent: OrderedDict[ConversationId, LogPosition] = OrderedDict()

    def get(self, conversation: ConversationId) -> LogPosition | None:
        found = self._recent.get(conversation)
        if found is not None:
            self._recent.move_to_end(conversation)
            return found
        row = self._writer.look_up(GET_POSITION, (conversation,))
        return None if row is None else LogPosition(*row)

    def note(self, ends: Mapping[ConversationId, LogPosition]) -> None:
        self._recent.update(ends)
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def forget(self, conversation: ConversationId) -> None:
        self._recent.pop(conversation, None)
