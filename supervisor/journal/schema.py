"""The tables, step by step, and connections to them. Runs on the committing thread at opening; `reader` on any."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from actors.vocabulary.errors import JournalTooNew
from supervisor.journal import budget_raises
from supervisor.journal.ledger import ADD_UNCOUNTED, TABLE, TOKENS_SO_FAR

# A step carries out a piece of its work, inside a transaction, and returns how much of it is done: 1 is all. The next
# piece finds in the tables where to go on, so that a migration may be killed anywhere.
Migration = Callable[[sqlite3.Connection], float]
Busy = Callable[[str], None]  # gets frequent reports of the work, in a few words

FIRST_TABLES = (
    """CREATE TABLE conversations (
        key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT, cwd TEXT NOT NULL,
        model TEXT NOT NULL, state TEXT NOT NULL, preview TEXT NOT NULL, checkpoint_seq INTEGER NOT NULL,
        created REAL NOT NULL, generation INTEGER NOT NULL, archived INTEGER NOT NULL, tokens INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE tails (
        key INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL, updated REAL NOT NULL
    ) STRICT""",
    "CREATE TABLE snapshots (key INTEGER PRIMARY KEY, settings BLOB NOT NULL, checkpoint BLOB NOT NULL) STRICT",
    """CREATE TABLE events (
        conversation INTEGER NOT NULL, seq INTEGER NOT NULL CHECK (seq >= 1), ts REAL NOT NULL, turn TEXT,
        type TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (conversation, seq)
    ) STRICT""",
    "CREATE TABLE doomed (key INTEGER PRIMARY KEY) STRICT",
    "CREATE TABLE notes (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
)
# Lists are sorted by the time of the head: `tails.updated` would change with each append, and each index with it.
HEAD_TIME = "ALTER TABLE conversations ADD COLUMN updated REAL NOT NULL DEFAULT 0"
BY_STATE = "CREATE INDEX by_state ON conversations (state, archived, updated)"
BY_CWD = "CREATE INDEX by_cwd ON conversations (cwd, state, archived, updated)"
BY_CREATION = "CREATE INDEX by_creation ON conversations (state, archived, created)"
BY_NAME = "CREATE INDEX by_name ON conversations (name) WHERE name IS NOT NULL"
ONE_MORE = """
    INSERT INTO totals (state, archived, count) VALUES (new.state, new.archived, 1)
        ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO totals_by_cwd (cwd, state, archived, count) VALUES (new.cwd, new.state, new.archived, 1)
        ON CONFLICT DO UPDATE SET count = count + 1;"""
ONE_LESS = """
    UPDATE totals SET count = count - 1 WHERE state = old.state AND archived = old.archived;
    UPDATE totals_by_cwd SET count = count - 1
        WHERE cwd = old.cwd AND state = old.state AND archived = old.archived;"""
NONE_LEFT = "DELETE FROM totals_by_cwd WHERE cwd = old.cwd AND count = 0;"  # a state comes again
TOTALS = (
    """CREATE TABLE totals (
        state TEXT NOT NULL, archived INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (state, archived)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE totals_by_cwd (
        cwd TEXT NOT NULL, state TEXT NOT NULL, archived INTEGER NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (cwd, state, archived)
    ) STRICT, WITHOUT ROWID""",
    "INSERT INTO totals SELECT state, archived, count(*) FROM conversations GROUP BY state, archived",
    """INSERT INTO totals_by_cwd
        SELECT cwd, state, archived, count(*) FROM conversations GROUP BY cwd, state, archived""",
    f"CREATE TRIGGER conversation_came AFTER INSERT ON conversations BEGIN {ONE_MORE} END",
    f"CREATE TRIGGER conversation_went AFTER DELETE ON conversations BEGIN {ONE_LESS} {NONE_LEFT} END",
    f"""CREATE TRIGGER conversation_changed AFTER UPDATE OF cwd, state, archived ON conversations
        WHEN old.cwd <> new.cwd OR old.state <> new.state OR old.archived <> new.archived
        BEGIN {ONE_LESS} {ONE_MORE} END""",
)
# The time of the oldest event that may be deleted, or an earlier time; 0: retention has to look, as after each head.
# By the index it finds the events to delete without reading others. An append without a head changes neither.
OLDEST = "ALTER TABLE tails ADD COLUMN oldest REAL NOT NULL DEFAULT 0"
BY_OLDEST = "CREATE INDEX by_oldest ON tails (oldest)"
HEAD_STORED = """
    CREATE TRIGGER head_stored AFTER UPDATE OF checkpoint_seq ON conversations
        BEGIN UPDATE tails SET oldest = 0 WHERE key = new.key AND oldest > 0; END"""
# How full the context of a model is, for lists; null if unknown.
CONTEXT = (
    "ALTER TABLE conversations ADD COLUMN context_tokens INTEGER",
    "ALTER TABLE conversations ADD COLUMN context_window INTEGER",
)
# The cost of heads that were stored before is unknown.
COST = (
    "ALTER TABLE conversations ADD COLUMN usd REAL NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 1",
)
# Text that is not finished, in pieces; and the number of waiting inputs, unknown for heads that were stored before.
ADD_UNFINISHED = (
    """CREATE TABLE unfinished (
        key INTEGER NOT NULL, tail TEXT NOT NULL, since INTEGER NOT NULL, start INTEGER NOT NULL,
        until INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (key, tail, since, start)
    ) STRICT""",
    "ALTER TABLE conversations ADD COLUMN queued INTEGER",
)
UNCOUNTED_HEADS = "ALTER TABLE conversations ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0"
# The agent that is not our own, for lists.
AGENT = "ALTER TABLE conversations ADD COLUMN agent TEXT NOT NULL DEFAULT ''"
# The end of the last turn, unknown for heads that were stored before; and whether the name was not given by a person.
ADD_ENDED = (
    "ALTER TABLE conversations ADD COLUMN ended TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE conversations ADD COLUMN self_named INTEGER NOT NULL DEFAULT 0",
)
PIECE_ROWS = 5_000
TRANSACTION_S = 0.1  # of pieces in one transaction: a new file is made in a single one
DATED_NOTE = "dated"  # the name of the note of the last row that has its time
HEARD_OPERATIONS = 100_000  # of SQLite, between two signs of life: some milliseconds
BUSY_TIMEOUT_S = 1.0  # only a person with the sqlite3 tool may write besides
WRITER_CACHE_KIB = 8_192  # the index pages of the conversations that are busy
READER_CACHE_KIB = 1_024  # a reader needs a page only once
WAL_LIMIT = 16 << 20  # bytes of WAL file kept for reuse after a checkpoint


def at_once(*statements: str) -> Migration:
    def step(db: sqlite3.Connection) -> float:
        for statement in statements:
            db.execute(statement)
        return 1.0

    return step


def date_heads(db: sqlite3.Connection) -> float:
    """Give heads from before there was a head's time the time of their last event."""
    note = db.execute("SELECT text FROM notes WHERE name = ?", (DATED_NOTE,)).fetchone()
    done = 0 if note is None else int(note[0])
    last = db.execute("SELECT coalesce(max(key), 0) FROM conversations").fetchone()[0]
    next_ = "SELECT max(key) FROM (SELECT key FROM conversations WHERE key > ? ORDER BY key LIMIT ?)"
    until = db.execute(next_, (done, PIECE_ROWS)).fetchone()[0] or last
    db.execute(
        """UPDATE conversations SET updated = (SELECT t.updated FROM tails t WHERE t.key = conversations.key)
        WHERE key > ? AND key <= ?""",
        (done, until),
    )
    if until == last:
        db.execute("DELETE FROM notes WHERE name = ?", (DATED_NOTE,))
        return 1.0
    db.execute("INSERT OR REPLACE INTO notes (name, text) VALUES (?, ?)", (DATED_NOTE, str(until)))
    return float(until / last)


MIGRATIONS: tuple[Migration, ...] = (
    at_once(*FIRST_TABLES),
    at_once(HEAD_TIME),
    date_heads,
    at_once(BY_STATE),
    at_once(BY_CWD),
    at_once(BY_CREATION),
    at_once(BY_NAME),
    at_once(*TOTALS),
    at_once(OLDEST),
    at_once(BY_OLDEST, HEAD_STORED),
    at_once(*CONTEXT),
    at_once(*COST),
    at_once(TABLE, TOKENS_SO_FAR),
    at_once(*ADD_UNFINISHED),
    at_once(ADD_UNCOUNTED, UNCOUNTED_HEADS),
    at_once(budget_raises.TABLE),
    at_once(AGENT),
    at_once(*ADD_ENDED),
)


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Connect in autocommit mode, so every transaction is explicit. Any thread may close the connection."""
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_S)


def reader(path: Path) -> sqlite3.Connection:
    db = connect(path, read_only=True)
    db.execute(f"PRAGMA cache_size=-{READER_CACHE_KIB}")
    return db


def prepare_writer(db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA page_count").fetchone()[0] == 0:
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")  # set later, it would only cost a write at each opening
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA fullfsync=ON")  # macOS: fsync alone does not reach the platter there
    db.execute("PRAGMA secure_delete=FAST")  # the same on every build of SQLite: overwrite where it costs no write
    db.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}").fetchall()
    db.execute(f"PRAGMA cache_size=-{WRITER_CACHE_KIB}")


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(found: int, steps: Sequence[Migration], path: Path) -> None:
    if found > len(steps):
        raise JournalTooNew(
            f"{path} has schema {found}; this Greenroom knows only {len(steps)}. A newer version wrote it.",
            found=found,
            known=len(steps),
        )


@contextmanager
def reporting_progress(db: sqlite3.Connection, alive: Callable[[], None]) -> Iterator[None]:
    """Call `alive` again and again while statements run in the block, however long a single one takes."""
    db.set_progress_handler(alive, HEARD_OPERATIONS)
    try:
        yield
    finally:
        db.set_progress_handler(None, 0)


def migrate(db: sqlite3.Connection, steps: Sequence[Migration], busy: Busy = lambda _: None) -> None:
    """Bring the schema up to date. A crash undoes the last transaction, and the next opening goes on there."""
    pieces = _pieces(db, steps)
    done = float(version(db))
    with reporting_progress(db, lambda: busy(f"the journal is brought up to date: {done / len(steps):.0%}")):
        while done < len(steps):
            db.execute("BEGIN IMMEDIATE")
            try:
                until = time.monotonic() + TRANSACTION_S
                done = next(pieces)
                while done < len(steps) and time.monotonic() < until:
                    done = next(pieces)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def _pieces(db: sqlite3.Connection, steps: Sequence[Migration]) -> Iterator[float]:
    """Carry out the steps piece by piece; yield the number of finished steps, with the part of the present one."""
    for done in range(version(db), len(steps)):
        part = 0.0
        while part < 1:
            part = steps[done](db)
            if part == 1:
                db.execute(f"PRAGMA user_version={done + 1}")
            yield done + part
