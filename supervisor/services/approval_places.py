"""The place of an open approval in its history, which is read backwards: it is near the end. Worker thread."""

import json

from actors.messages.ports import Journal
from actors.vocabulary.events import APPROVAL_REQUESTED
from actors.vocabulary.ids import ApprovalId, ConversationId

PAGE = 64
BYTES = 1 << 30  # the whole page, however large its events are


def find_request(journal: Journal, conversation: ConversationId, approval: ApprovalId) -> tuple[int, float] | None:
    """Seq and time of the request; None if it is not in the history, or was pruned."""
    head = journal.head(conversation)
    end = head.last_seq if head is not None else 0
    while end > 0:
        start = max(0, end - PAGE)
        page = journal.read(conversation, start, end - start, BYTES)
        if page is None:
            return None
        for record in reversed(page.records):
            if record.type == APPROVAL_REQUESTED and json.loads(record.body)["approval_id"] == approval:
                return record.seq, record.ts
        if page.first_seq > start:
            return None
        end = start
    return None
