"""The one writer of the journal: takes the appends of all conversations, and commits them in one transaction.

Its thread may wait for the disk. The appends that came during a commit become the next one, so the slower the disk,
the larger the groups.
"""

from typing import assert_never

import structlog

from actors.messages.conversation import Address, AppendRefused, Committed
from actors.messages.journal import (
    Chore,
    ChoreDone,
    ConversationErased,
    Erase,
    JournalistInput,
    LibrarianInput,
    Load,
    Store,
)
from actors.messages.ports import Journal
from actors.runtime.base import Actor
from actors.vocabulary.errors import GreenroomError, JournalError, StorageFailed

log = structlog.get_logger()

GROUP = 256  # appends in one transaction; more would keep the first of them waiting


class Journalist(Actor[JournalistInput]):
    fatal = False
    name = "journalist"

    def __init__(self, journal: Journal, librarian: Address[LibrarianInput]) -> None:
        super().__init__()
        self._journal = journal
        self._librarian = librarian
        self.commits = 0
        self.stored = 0

    def on_receive(self, message: JournalistInput) -> object:
        match message:
            case Store():
                more = [store for store in self.mailbox.take(Store, GROUP - 1) if isinstance(store, Store)]
                self._commit([message, *more])
            case Load():
                self._librarian.tell(message)  # everything that was stored before it is on disk now
            case Erase():
                message.reply_to.tell(ConversationErased(message.conversation, self._delete(message)))
            case Chore():
                message.reply_to.tell(ChoreDone(self._carry_out(message)))
            case _:
                assert_never(message)
        self._journal.publish()
        return None

    def _delete(self, message: Erase) -> GreenroomError | None:
        try:
            self._journal.delete(message.conversation)
        except GreenroomError as error:
            return error
        except Exception as error:
            log.exception("journal.delete_failed", conversation=message.conversation)
            return StorageFailed(f"the journal failed: {type(error).__name__}")
        return None

    def _carry_out(self, chore: Chore) -> object:
        try:
            return chore.work()
        except GreenroomError as error:
            return error
        except Exception as error:
            log.exception("journal.chore_failed")
            return StorageFailed(f"the journal failed: {type(error).__name__}")

    def _commit(self, stores: list[Store]) -> None:
        for store, error in zip(stores, self._outcomes(stores), strict=True):
            self._tell(store, error)
        self.commits += 1

    def _outcomes(self, stores: list[Store]) -> list[JournalError | None]:
        try:
            return self._journal.commit([store.append for store in stores])
        except Exception as error:
            log.exception("journal.commit_failed", appends=len(stores))
            return [StorageFailed(f"the journal failed: {type(error).__name__}")] * len(stores)

    def _tell(self, store: Store, error: JournalError | None) -> None:
        append = store.append
        if error is None:
            self.stored += len(append.records)
        else:
            log.error("journal.append_refused", conversation=append.conversation, code=error.code, reason=str(error))
        if not append.records:  # only unfinished text: no answer is needed, and the next event finds the same disk
            return
        answer = Committed(append.records[-1].seq, store.epoch) if error is None else None
        try:
            store.reply_to.tell(answer or AppendRefused(error or StorageFailed("unknown"), store.epoch))
        except GreenroomError as gone:
            log.debug("journal.nobody_to_tell", conversation=append.conversation, reason=gone.code)

    def on_stop(self) -> None:
        self._journal.close()

    def statistics(self) -> dict[str, object]:
        return {**super().statistics(), "commits": self.commits, "stored": self.stored}
