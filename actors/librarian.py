"""The reader of the journal: history for those who are further back than memory goes, and what a session wakes with.

Its thread may wait for the disk, so that no other has to. It never writes.
"""

import structlog

from actors.base import Actor
from actors.errors import GreenroomError
from actors.messages import Address, FetchPage, Load, Loaded, PageRead
from actors.ports import Journal, Record

log = structlog.get_logger()

PAGE_RECORDS = 1024  # what is replayed after a checkpoint is short; this bounds one read, not the whole


class Librarian(Actor):
    fatal = False
    name = "librarian"

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def receive(self, message: FetchPage | Load) -> object:
        if isinstance(message, Load):
            self._tell(message.reply_to, self._load(message))
        else:
            read = message.read
            page = self._journal.read(message.conversation, read.after, read.limit)
            self._tell(message.reply_to, PageRead(read.subscription, page))
        return None

    def _load(self, message: Load) -> Loaded:
        head = self._journal.head(message.conversation)
        if head is None:
            return Loaded(None, ())
        records: list[Record] = []
        after = head.checkpoint_seq
        while page := self._journal.read(message.conversation, after, PAGE_RECORDS):
            records.extend(page.records)
            if page.complete:
                break
            after = page.records[-1].seq
        return Loaded(head, tuple(records))

    def _tell(self, address: Address, answer: Loaded | PageRead) -> None:
        try:
            address.tell(answer)
        except GreenroomError as gone:
            log.debug("librarian.nobody_to_tell", reason=gone.code)
