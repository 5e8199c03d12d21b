"""A journal in memory, for tests of those who use one. Passes the same contract tests as the real thing."""

import threading
from collections.abc import Sequence

from msgspec.structs import replace

from actors.vocabulary.errors import JournalError, SequenceConflict, StorageFailed
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import AT_REST, Append, Head, HeadPage, KeptText, ListPlace, ListQuery, Page, Record


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
        self._rows: dict[ConversationId, tuple[int, Head]] = {}  # with their keys, as lists have them
        self._kept: dict[ConversationId, tuple[KeptText, ...]] = {}
        self._last_key = 0

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

    def kept_text(self, conversation: ConversationId) -> tuple[KeptText, ...]:
        with self._lock:
            self._insist_on_being_readable()
            return self._kept.get(conversation, ())

    def head(self, conversation: ConversationId) -> Head | None:
        with self._lock:
            self._insist_on_being_readable()
            return self._heads.get(conversation)

    def row(self, conversation: ConversationId) -> Head | None:
        return next((row for _, row in self._all_rows() if row.conversation == conversation), None)

    def find_name(self, name: str) -> ConversationId | None:
        return next((row.conversation for _, row in self._all_rows() if row.name == name), None)

    def starting_with(self, prefix: str, limit: int) -> list[ConversationId]:
        ids = (row.conversation for _, row in self._all_rows())
        return sorted(one for one in ids if one.startswith(prefix))[:limit]

    def list_page(self, query: ListQuery) -> HeadPage:
        wanted = [(key, row) for key, row in self._all_rows() if _is_wanted(row, query)]
        places = {ListPlace(getattr(row, query.order), key): row for key, row in wanted}
        after = query.after
        ordered = sorted(places, key=_by_time, reverse=True)
        left = [one for one in ordered if after is None or _by_time(one) < _by_time(after)]
        page = left[: max(query.limit, 1)]
        more = len(left) > len(page)
        return HeadPage(tuple(places[one] for one in page), page[-1] if more else None, len(wanted))

    def unsettled_heads(self) -> list[Head]:
        return [row for _, row in self._all_rows() if row.state not in AT_REST]

    def surplus(self, most: int | None, untouched_since: float | None, limit: int) -> list[ConversationId]:
        rows = self._all_rows()
        too_many = 0 if most is None else len(rows) - most
        asleep = [row for _, row in reversed(rows) if row.state in AT_REST]
        return [
            row.conversation
            for number, row in enumerate(asleep[:limit])
            if number < too_many or (untouched_since is not None and row.updated < untouched_since)
        ]

    def delete(self, conversation: ConversationId) -> None:
        with self._lock:
            self._insist_on_being_open()
            if self.undeletable is not None:
                raise self.undeletable
            self._heads.pop(conversation, None)
            self._rows.pop(conversation, None)
            self._records.pop(conversation, None)
            self._kept.pop(conversation, None)

    def publish(self) -> None:
        """Nobody else reads."""

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
        key, row = self._rows.get(append.conversation, (self._last_key + 1, head))
        self._last_key = max(self._last_key, key)
        row = replace(append.head or row, settings=b"", checkpoint=b"", last_seq=end)
        self._rows[append.conversation] = key, row
        self._records.setdefault(append.conversation, []).extend(append.records)
        self._kept[append.conversation] = after(append, self._kept.get(append.conversation, ()))

    def _all_rows(self) -> list[tuple[int, Head]]:
        """The rows with their keys, most recently updated first."""
        with self._lock:
            self._insist_on_being_open()
            return sorted(self._rows.values(), key=lambda row: (row[1].updated, row[0]), reverse=True)

    def _insist_on_being_open(self) -> None:
        if self.closed:
            raise StorageFailed("the journal is closed")

    def _insist_on_being_readable(self) -> None:
        self._insist_on_being_open()
        if self.unreadable is not None:
            raise self.unreadable


def after(append: Append, kept: tuple[KeptText, ...]) -> tuple[KeptText, ...]:
    """The unfinished text that is kept after this append."""
    limits = {(old.tail, old.since): old.end for old in append.old}
    left = (one for one in kept if one.end > limits.get((one.tail, one.since), -1))
    both = (*append.kept,) if append.clears else (*left, *append.kept)
    return tuple(sorted(both, key=lambda one: (one.tail, one.since, one.start)))


def _is_wanted(row: Head, query: ListQuery) -> bool:
    return (
        query.archived >= row.archived
        and query.state in {None, row.state}
        and query.cwd in {None, row.cwd}
        and query.name in {None, row.name}
    )


def _by_time(place: ListPlace) -> tuple[float, int]:
    return place.at, place.key
