"""A journal in memory, for tests of those who use one. Passes the same contract tests as the real thing."""

import threading
from collections.abc import Sequence

from msgspec.structs import replace

from actors.vocabulary.errors import JournalError, SequenceConflict, StorageFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, Page, Record


class FakeJournal:
    """For a disk in trouble: `refusing` is what every append gets while it is set, `unreadable` is raised by every
    read of a conversation, `undeletable` by every delete.
    """

    def __init__(self) -> None:
        self.refusing: JournalError | None = None
        self.unreadable: JournalError | None = None
        self.undeletable: JournalError | None = None
        self.conflicts: list[SequenceConflict] = []
        self.closed = False
        self.lives = 0  # daemons that have opened it
        self._lock = threading.Lock()
        self._heads: dict[ConversationId, Head] = {}
        self._records: dict[ConversationId, list[Record]] = {}

    def open(self) -> int:
        """The next daemon has it; which life that is."""
        self.closed = False
        self.lives += 1
        return self.lives

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        with self._lock:
            return [self._append(append) for append in appends]

    def read(
        self,
        conversation: ConversationId,
        after: int,
        limit: int,
        max_bytes: int = 1 << 20,
        whole_bytes: int | None = None,
    ) -> Page | None:
        del whole_bytes  # nothing here is ever that long
        with self._lock:
            self._insist_on_being_readable()
            if conversation not in self._heads:
                return None
            last = self._heads[conversation].last_seq
            taken: list[Record] = []
            size = 0
            for record in self._records[conversation][max(after, 0) :][: max(limit, 1)]:
                size += len(record.body)
                if taken and size > max_bytes:
                    break
                taken.append(record)
            return Page(tuple(taken), 1, last)

    def read_back(
        self, conversation: ConversationId, before: int, limit: int, max_bytes: int = 1 << 20
    ) -> Page | None:
        with self._lock:
            self._insist_on_being_readable()
            if conversation not in self._heads:
                return None
            taken: list[Record] = []
            size = 0
            for record in reversed(self._records[conversation][: max(before - 1, 0)][-max(limit, 1) :]):
                size += len(record.body)
                if taken and size > max_bytes:
                    break
                taken.insert(0, record)
            return Page(tuple(taken), 1, self._heads[conversation].last_seq)

    def part(self, conversation: ConversationId, seq: int, offset: int, count: int) -> bytes:
        return self._records[conversation][seq - 1].body[offset : offset + count]

    def head(self, conversation: ConversationId) -> Head | None:
        with self._lock:
            self._insist_on_being_readable()
            return self._heads.get(conversation)

    def heads(self) -> list[Head]:
        with self._lock:
            self._insist_on_being_open()
            bare = [replace(head, settings=b"", checkpoint=b"") for head in self._heads.values()]
        return sorted(bare, key=lambda head: head.updated, reverse=True)

    def delete(self, conversation: ConversationId) -> None:
        with self._lock:
            self._insist_on_being_open()
            if self.undeletable is not None:
                raise self.undeletable
            self._heads.pop(conversation, None)
            self._records.pop(conversation, None)

    def close(self) -> None:
        self.closed = True

    def history(self, conversation: ConversationId) -> tuple[Record, ...]:
        """All of it, for tests: whatever is wrong with the disk."""
        with self._lock:
            return tuple(self._records.get(conversation, ()))

    def _append(self, append: Append) -> JournalError | None:
        there = self._heads.get(append.conversation)
        last = there.last_seq if there else 0
        seqs = [record.seq for record in append.records]
        end = last + len(seqs)
        fits = seqs == list(range(last + 1, end + 1)) and (append.head or there) is not None
        if append.head is not None:
            fits = fits and (append.head.conversation, append.head.last_seq) == (append.conversation, end)
        if not fits:
            self.conflicts.append(SequenceConflict(f"{append.conversation}: {seqs} after {last}"))
            return self.conflicts[-1]
        if self.closed:
            return StorageFailed("the journal is closed")
        if self.refusing is not None:
            return self.refusing
        self._store(append, there, end)
        return None

    def _store(self, append: Append, there: Head | None, end: int) -> None:
        head = append.head or there
        assert head is not None
        if append.head is None and append.records:
            head = replace(head, last_seq=end, updated=append.records[-1].ts)
        self._heads[append.conversation] = head
        self._records.setdefault(append.conversation, []).extend(append.records)

    def _insist_on_being_open(self) -> None:
        if self.closed:
            raise StorageFailed("the journal is closed")

    def _insist_on_being_readable(self) -> None:
        self._insist_on_being_open()
        if self.unreadable is not None:
            raise self.unreadable
