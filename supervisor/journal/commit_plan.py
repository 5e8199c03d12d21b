"""The rows of a group of appends, and the refusals of appends that don't fit the stored events. Pure."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from actors.vocabulary.errors import SequenceConflict
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, KeptText, OldText, Record
from supervisor.journal.ledger import LedgerRow, rows_of
from supervisor.journal.rows import Row, event_row, head_row


class LogPosition(Struct, frozen=True):
    """The key of a conversation in the tables, and its last event."""

    key: int
    last_seq: int


class CommitPlan:
    """One transaction in preparation. `stored` finds a position; `tails`: the positions after the commit."""

    def __init__(self, stored: Callable[[ConversationId], LogPosition | None], next_key: int) -> None:
        self._stored = stored
        self.next_key = next_key
        self.tails: dict[ConversationId, LogPosition] = {}
        self.heads: list[Row] = []
        self.snapshots: list[Row] = []
        self.events: list[Row] = []
        self.ends: list[Row] = []
        self._kept: list[tuple[int, KeptText]] = []
        self.old_rows: list[Row] = []
        self.cleared_rows: list[Row] = []
        self.ledger_rows: list[LedgerRow] = []
        self.durable = False

    def add(self, append: Append) -> SequenceConflict | None:
        position = self.tails.get(append.conversation) or self._stored(append.conversation)
        conflict = misfit(append, position.last_seq if position else None)
        if conflict is not None:
            return SequenceConflict(f"{append.conversation}: {conflict}")
        if position is None:
            position = LogPosition(self.next_key, 0)
            self.next_key += 1
        self._write(append, position)
        return None

    def _write(self, append: Append, position: LogPosition) -> None:
        key, head, records = position.key, append.head, append.records
        self.durable = self.durable or append.durable
        self.events += [event_row(key, record) for record in records]
        if append.spent:
            self.ledger_rows += rows_of(key, append.spent)
        last = position.last_seq + len(records)
        if head is not None:
            self.heads.append(head_row(key, head))
            self.snapshots.append((key, head.settings, head.checkpoint))
            self.ends.append((key, last, head.updated))
        elif records:
            self.ends.append((key, last, records[-1].ts))
        self.tails[append.conversation] = LogPosition(key, last)
        if append.kept or append.old or append.clears:
            self._keep(append, key)

    def _keep(self, append: Append, key: int) -> None:
        """Note unfinished text. Removals come first, so they also remove text from earlier in this group."""
        for old in append.old:
            self.old_rows.append((key, old.tail, old.since, old.end))
            self._kept = [(owner, text) for owner, text in self._kept if owner != key or not _covers(old, text)]
        if append.clears:
            self.cleared_rows.append((key,))
            self._kept = [(owner, text) for owner, text in self._kept if owner != key]
        self._kept += [(key, text) for text in append.kept]

    @property
    def kept_rows(self) -> list[Row]:
        return [(key, text.tail, text.since, text.start, text.end, text.body) for key, text in self._kept]


def _covers(old: OldText, text: KeptText) -> bool:
    return (old.tail, old.since) == (text.tail, text.since) and text.end <= old.end


def misfit(append: Append, last_seq: int | None) -> str | None:
    """The reason why the append can't follow the stored events, or None. `last_seq` is None if nothing is stored."""
    head = append.head
    if last_seq is None and head is None:
        return "unknown, and its first append has no head"
    due = (last_seq or 0) + 1
    for record in append.records:
        if record.seq != due:
            return f"expected seq {due}, found {record.seq}"
        due += 1
    if head is not None and head.conversation != append.conversation:
        return f"has the head of {head.conversation}"
    if head is not None and head.last_seq != due - 1:
        return f"its head ends at seq {head.last_seq}, its last event is {due - 1}"
    return None


def dense(records: Iterable[Record], first_seq: int, last_seq: int) -> Iterator[Record]:
    """Yield the records; raise if they are not exactly first_seq..last_seq."""
    due = first_seq
    for record in records:
        if record.seq != due:
            raise SequenceConflict(f"expected seq {due}, found {record.seq}")
        yield record
        due += 1
    if due != last_seq + 1:
        raise SequenceConflict(f"the head ends at seq {last_seq}, the last event is {due - 1}")
