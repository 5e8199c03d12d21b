"""The journal: commits on the one writing thread, reads on any. Events are only bytes here."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from actors.vocabulary.budget_raises import Raise
from actors.vocabulary.errors import JournalError, SequenceConflict, StorageFailed, StorageLost
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Head, HeadPage, KeptText, ListQuery, Page, Record
from actors.vocabulary.spent_amounts import Spent
from supervisor.journal import budget_raises, conversation_lists, ledger, retention
from supervisor.journal.commit_plan import CommitPlan, LogPosition, dense
from supervisor.journal.connections import MissingEvents, ReadConnections, read_page, read_page_back, read_part
from supervisor.journal.file_presence import Presence, problem
from supervisor.journal.journal_errors import is_damage, journal_error, map_errors
from supervisor.journal.ledger import PUT_SPENT, Grouping, SpentRow
from supervisor.journal.lock import Lock
from supervisor.journal.opening import open_file
from supervisor.journal.positions import Positions
from supervisor.journal.rows import (
    GET_POSITION,
    PUT_END,
    PUT_EVENT,
    PUT_HEAD,
    PUT_KEPT,
    PUT_SNAPSHOT,
    PUT_TAIL,
    REMOVE_KEPT,
    REMOVE_OLD,
    event_row,
    get_head,
    get_kept,
    get_row,
    head_row,
)
from supervisor.journal.schema import MIGRATIONS, Busy, Migration, reader
from supervisor.journal.transaction import Writer

# Errors for values that can't be stored at all: a broken constraint, a lone surrogate, a number too large.
UNSTORABLE = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.DataError,
    ValueError,
    TypeError,
    OverflowError,
)


WHOLE_BYTES = 18 << 20  # the longest message that a client may send, and its envelope
TOLD_EVENTS = 64  # of an imported history: only its end is published, so that it does not push out others' news
TOLD_BYTES = 512 << 10


class UnstorableValue(JournalError):
    """The values can't be stored: a bug of the caller, so trying again does not help."""


class SqliteJournal:
    """The implementation of ports.Journal. `repaired` is the report of a repair at opening, or None.

    `whole_bytes`: a longer event is shortened when it is read, so that it never fills the memory. `publish` calls
    `stored` with all new appends, whoever brought them; `forgotten` gets each deleted conversation and its key; both
    on the writing thread. `busy` gets reports of an opening that takes long.
    """

    def __init__(
        self,
        path: Path,
        migrations: Sequence[Migration] = MIGRATIONS,
        whole_bytes: int = WHOLE_BYTES,
        stored: Callable[[Sequence[Append]], None] = lambda _: None,
        forgotten: Callable[[ConversationId, int], None] = lambda _, __: None,
        busy: Busy = lambda _: None,
    ) -> None:
        self._path = path
        self._stored = stored
        self._unpublished: list[Append] = []
        self._forgotten = forgotten
        self._whole_bytes = whole_bytes
        self._lock = Lock(path.with_name(path.name + ".lock"))
        try:
            with map_errors(path):
                opened = open_file(path, migrations, busy, suspect=self._lock.suspect, power_cut=self._lock.power_cut)
                self._lock.open_and_sound()
        except BaseException:
            self._lock.release()
            raise
        self.repair_report = opened.repair_report
        self._writer = Writer(opened.db)
        self._positions = Positions(self._look_up)
        self._next_key = opened.next_key
        self._presence = Presence(path)
        self._rescued: tuple[str, str] | None = None  # the present loss, and the result of its rescue
        self._connections = ReadConnections(path, self._reader)
        self._closed = False

    def __repr__(self) -> str:
        return f"<SqliteJournal {self._path}>"

    # --- the committing thread ---------------------------------------------------------------------------------

    def commit(self, appends: Sequence[Append]) -> list[JournalError | None]:
        plan = CommitPlan(self._positions.get, self._next_key)
        answers: list[JournalError | None] = [None] * len(appends)
        try:
            answers = [plan.add(append) for append in appends]
            if not plan.tails:
                return answers
            self._store(plan)
        except UnstorableValue as unstorable:
            if len(appends) == 1:
                return [unstorable]
            return [self.commit([append])[0] for append in appends]
        except JournalError as error:
            return [answer or error for answer in answers]
        answered = zip(appends, answers, strict=True)
        self._unpublished += (
            append for append, refusal in answered if refusal is None and (append.records or append.head)
        )
        return answers

    def delete(self, conversation: ConversationId) -> None:
        """Delete the row at once and the events in steps; after an interruption `prune` goes on."""
        tail = self._positions.get(conversation)
        if tail is None:
            return
        with self._writing(durable=True) as db:
            retention.doom(db, tail.key)
        self._positions.forget(conversation)
        more = True
        while more:
            with self._writing(durable=False) as db:
                more = retention.erase(db, tail.key)
        self._forgotten(conversation, tail.key)

    def prune(self, now: float, policy: retention.Retention) -> bool:
        """Carry out one bounded step. True if there is more to do."""
        with self._writing(durable=False) as db:
            return retention.step(db, now, policy)

    def adopt(self, head: Head, first_seq: int, records: Iterable[Record]) -> None:
        """Store a conversation with its history, whole or not at all. An error of `records` undoes it and is raised.

        Of a long history only the end is published.
        """
        if self._positions.get(head.conversation) is not None:
            raise SequenceConflict(f"{head.conversation}: exists already")
        key, end = self._next_key, deque[Record]()
        with self._writing(durable=True) as db:
            db.execute(PUT_HEAD, head_row(key, head))
            db.execute(PUT_SNAPSHOT, (key, head.settings, head.checkpoint))
            db.execute(PUT_TAIL, (key, first_seq, head.last_seq, head.updated))
            arriving = _keeping_end(dense(records, first_seq, head.last_seq), end)
            db.executemany(PUT_EVENT, (event_row(key, record) for record in arriving))
        self._next_key += 1
        self._unpublished.append(Append(head.conversation, tuple(end), head, durable=True))

    def put_raises(self, those: Iterable[Raise]) -> None:
        """Store these raises of budgets, and no others."""
        with self._writing(durable=True) as db:
            budget_raises.write(db, those)

    def publish(self) -> None:
        """Pass on all that was stored since the last call."""
        stored, self._unpublished = self._unpublished, []
        if stored:
            self._stored(stored)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        lost = problem(self._presence)
        self._connections.close()
        if lost is None:
            self._writer.close()  # the last connection: SQLite moves the WAL into the file and removes it
            self._lock.release_in_order()
        else:  # closing would remove a file that is not ours but has the WAL's name; the process's end closes it
            self._lock.release()
        self._presence.close()

    def look(self) -> str | None:
        """The reason why nothing can be stored, and the remedy; None if all is well."""
        lost = None if self._closed else problem(self._presence)
        if not isinstance(lost, StorageLost):
            self._rescued = None
            return None if lost is None else lost.message
        if self._rescued is None or self._rescued[0] != lost.message:  # another file may have been lost since
            self._rescued = lost.message, self._writer.rescue(self._path, self._presence)
        return "; ".join(self._rescued)

    def _reader(self, path: Path) -> sqlite3.Connection:
        """Open a reading connection, and check that the file is still the journal's own."""
        db = reader(path)
        try:
            self._presence.insist()
        except BaseException:
            db.close()
            raise
        return db

    def _look_up(self, conversation: ConversationId) -> LogPosition | None:
        self._insist_on_being_open()
        with self._mapped_errors():
            row = self._writer.look_up(GET_POSITION, (conversation,))
        return None if row is None else LogPosition(*row)

    def _store(self, plan: CommitPlan) -> None:
        with self._writing(durable=plan.durable) as db:
            for statement, rows in (
                (PUT_HEAD, plan.heads),
                (PUT_SNAPSHOT, plan.snapshots),
                (PUT_EVENT, plan.events),
                (PUT_END, plan.ends),
                (REMOVE_OLD, plan.old_rows),
                (REMOVE_KEPT, plan.cleared_rows),
                (PUT_KEPT, plan.kept_rows),
                (PUT_SPENT, plan.ledger_rows),
            ):
                if rows:  # preparing a statement costs time even without rows
                    db.executemany(statement, rows)
        self._positions.note(plan.tails)
        self._next_key = plan.next_key

    @contextmanager
    def _writing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        self._insist_on_being_open()
        with self._mapped_errors(), self._writer.transaction(durable=durable) as db:
            yield db
            self._presence.insist_whole()
        self._presence.measure()

    def _insist_on_being_open(self) -> None:
        if self._closed:
            raise StorageFailed(f"{self._path}: the journal is closed")

    # --- any thread --------------------------------------------------------------------------------------------

    def read(
        self,
        conversation: ConversationId,
        after: int,
        limit: int,
        max_bytes: int = 1 << 20,
        whole_bytes: int | None = None,
    ) -> Page | None:
        whole = self._whole_bytes if whole_bytes is None else whole_bytes
        with self._mapped_errors(), self._connections.snapshot() as db:
            return read_page(db, conversation, after, limit, max_bytes, whole)

    def read_back(
        self, conversation: ConversationId, before: int, limit: int, max_bytes: int = 1 << 20
    ) -> Page | None:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return read_page_back(db, conversation, before, limit, max_bytes, self._whole_bytes)

    def part(self, conversation: ConversationId, seq: int, offset: int, count: int) -> bytes:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return read_part(db, conversation, seq, offset, count)

    def kept_text(self, conversation: ConversationId) -> tuple[KeptText, ...]:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return get_kept(db, conversation)

    def head(self, conversation: ConversationId) -> Head | None:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return get_head(db, conversation)

    def row(self, conversation: ConversationId) -> Head | None:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return get_row(db, conversation)

    def find_name(self, name: str) -> ConversationId | None:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return conversation_lists.find_name(db, name)

    def starting_with(self, prefix: str, limit: int) -> list[ConversationId]:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return conversation_lists.starting_with(db, prefix, limit)

    def list_page(self, query: ListQuery) -> HeadPage:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return conversation_lists.list_page(db, query)

    def unsettled_heads(self) -> list[Head]:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return conversation_lists.unsettled_heads(db)

    def surplus(self, most: int | None, untouched_since: float | None, limit: int) -> list[ConversationId]:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return conversation_lists.surplus(db, most, untouched_since, limit)

    def total_spent(self, since: str = "") -> Spent:
        """The costs of all conversations since a day, that day included."""
        with self._mapped_errors(), self._connections.snapshot() as db:
            return ledger.total_since(db, since)

    def spent_by(self, by: Grouping, since: str = "", limit: int = ledger.MOST_ROWS) -> list[SpentRow]:
        with self._mapped_errors(), self._connections.snapshot() as db:
            return ledger.sums_by_group(db, by, since, limit)

    def raises(self) -> tuple[Raise, ...]:
        """The raises of shared budgets, those of past days included."""
        with self._mapped_errors(), self._connections.snapshot() as db:
            return budget_raises.read(db)

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        """Map the errors of SQLite, and note damage for the next opening."""
        try:
            yield
        except UNSTORABLE as error:
            raise UnstorableValue(str(error)) from error
        except MissingEvents as hole:
            self._lock.suspect_damage()
            raise StorageFailed(f"{self._path}: {hole}") from hole
        except sqlite3.Error as error:
            if is_damage(error):
                self._lock.suspect_damage()
            raise journal_error(error, self._path) from error


def _keeping_end(records: Iterable[Record], end: deque[Record]) -> Iterator[Record]:
    """Pass the records on; `end` has the last of them afterwards."""
    size = 0
    for record in records:
        end.append(record)
        size += len(record.body)
        while len(end) > TOLD_EVENTS or (size > TOLD_BYTES and len(end) > 1):
            size -= len(end.popleft().body)
        yield record
