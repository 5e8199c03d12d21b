"""A journal in memory, as strict about sequence numbers as the real one."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from actors.errors import JournalError, SequenceConflict
from actors.ids import ConversationId
from actors.records import Append, Head, Page, Record


class MemoryJournal:
    """`refusing` is what every append gets while it is set; `unreadable` is raised by every read, `undeletable` by
    every delete.
    """

    def __init__(self) -> None:
        self.refusing: JournalError | None = None
        self.unreadable: JournalError | None = None
        self.undeletable: JournalError | None = None
        self.conflicts: list[SequenceConflict] = []
        self.closed = False
        self.lives = 0  # daemons that have opened it
        self._lock = threading.Lock()
        self._records: dict[ConversationId, list[Record]] = {}
        self._heads: dict[ConversationId, Head] = {}

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        with self._lock:
            return [self.refusing or self._append(append) for append in appends]

    def read(
        self,
        conversation: ConversationId,
        after: int,
        limit: int,
        max_bytes: int = 1 << 20,
        whole_bytes: int | None = None,
    ) -> Page | None:
        del max_bytes, whole_bytes  # nothing here is ever that long
        with self._lock:
            self._insist_on_readable()
            stored = self._records.get(conversation)
            return None if stored is None else Page(tuple(stored[after : after + limit]), 1, len(stored))

    def part(self, conversation: ConversationId, seq: int, offset: int, count: int) -> bytes:
        return self._records[conversation][seq - 1].body[offset : offset + count]

    def head(self, conversation: ConversationId) -> Head | None:
        with self._lock:
            self._insist_on_readable()
            return self._heads.get(conversation)

    def heads(self) -> list[Head]:
        with self._lock:
            bare = [replace(head, settings=b"", checkpoint=b"") for head in self._heads.values()]
        return sorted(bare, key=lambda head: -head.updated)

    def delete(self, conversation: ConversationId) -> None:
        if self.undeletable is not None:
            raise self.undeletable
        with self._lock:
            self._records.pop(conversation, None)
            self._heads.pop(conversation, None)

    def close(self) -> None:
        self.closed = True

    def history(self, conversation: ConversationId) -> tuple[Record, ...]:
        with self._lock:
            return tuple(self._records.get(conversation, ()))

    def _append(self, append: Append) -> JournalError | None:
        stored = self._records.setdefault(append.conversation, [])
        seqs = [record.seq for record in append.records]
        if seqs != list(range(len(stored) + 1, len(stored) + 1 + len(seqs))):
            conflict = SequenceConflict(f"{append.conversation}: {seqs} after {len(stored)}")
            self.conflicts.append(conflict)
            return conflict
        stored.extend(append.records)
        head = append.head or self._heads.get(append.conversation)
        if head is not None:
            self._heads[append.conversation] = replace(head, last_seq=len(stored))
        return None

    def _insist_on_readable(self) -> None:
        if self.unreadable is not None:
            raise self.unreadable
