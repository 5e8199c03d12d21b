"""Reading a history page by page, holding no more than the reader keeps."""

from collections import deque
from collections.abc import Callable

from msgspec import Struct, field

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Record
from transports.dialects.kit.script import Script, ask
from transports.supervisor_requests import ReadHistory

STATE_BYTES = 8 << 20  # of messages in one answer: years of talk, and half of the longest line that clients read


class RecentMessages(Struct):
    """The newest messages, within a bound."""

    limit: int = STATE_BYTES
    messages: deque[bytes] = field(default_factory=deque)
    size: int = 0
    left_out: int = 0

    def add(self, message: bytes) -> None:
        self.messages.append(message)
        self.size += len(message)
        while self.size > self.limit and len(self.messages) > 1:
            self.size -= len(self.messages.popleft())
            self.left_out += 1


def read_all(conversation: ConversationId, keep: Callable[[Record], None]) -> Script[None]:
    """Read the whole history; `keep` gets every event in order."""
    after: int | None = 0
    while after is not None:
        page = (yield from ask(ReadHistory(conversation, after))).page
        for record in page.records:
            keep(record)
        after = None if page.complete else page.records[-1].seq
