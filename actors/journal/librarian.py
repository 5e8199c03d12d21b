"""The reader of the journal: history that is no longer in memory, and the state with which a session wakes.

Its thread may wait for the disk, so that no other has to. It never writes.
"""

from typing import TypeVar, assert_never

import structlog

from actors.messages.conversation import Address, PageRead
from actors.messages.journal import FetchPage, LibrarianInput, Load, LoadedState
from actors.messages.ports import Journal
from actors.runtime.base import Actor
from actors.vocabulary.errors import GreenroomError, StorageFailed
from actors.vocabulary.records import PAGE_BYTES, Page, Record

log = structlog.get_logger()
Answer = TypeVar("Answer", LoadedState, PageRead)

PAGE_RECORDS = 1024  # the replay after a checkpoint is short; this bounds one read, not all of them


class Librarian(Actor[LibrarianInput]):
    fatal = False
    name = "librarian"

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def on_receive(self, message: LibrarianInput) -> object:
        match message:
            case Load():
                self._tell(message.reply_to, self._answer(message))
            case FetchPage():
                self._tell(message.reply_to, PageRead(message.read.subscription, self._page(message)))
            case _:
                assert_never(message)
        return None

    def _page(self, message: FetchPage) -> Page | None:
        """A page of history. None ends the subscription, as its reader would wait for ever."""
        try:
            return self._journal.read(message.conversation, message.read.after, message.read.limit, PAGE_BYTES)
        except Exception:
            log.exception("journal.read_failed", conversation=message.conversation)
            return None

    def _answer(self, message: Load) -> LoadedState:
        try:
            return self._load(message)
        except Exception as error:
            log.exception("journal.load_failed", conversation=message.conversation)
            known = error if isinstance(error, GreenroomError) else None
            return LoadedState(None, (), known or StorageFailed(f"the journal failed: {type(error).__name__}"))

    def _load(self, message: Load) -> LoadedState:
        head = self._journal.head(message.conversation)
        if head is None:
            return LoadedState(None, ())
        records: list[Record] = []
        after = head.checkpoint_seq
        while page := self._journal.read(message.conversation, after, PAGE_RECORDS):
            records.extend(page.records)
            if page.complete:
                break
            after = page.records[-1].seq
        return LoadedState(head, tuple(records), kept=self._journal.kept_text(message.conversation))

    def _tell(self, address: Address[Answer], answer: Answer) -> None:
        try:
            address.tell(answer)
        except GreenroomError as gone:
            log.debug("librarian.nobody_to_tell", reason=gone.code)
