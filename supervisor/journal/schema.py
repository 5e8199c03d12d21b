"""The tables, step by step, and how a connection to them is made. Runs on the committing thread at opening."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from actors.vocabulary.errors import JournalTooNew

Migration = Callable[[sqlite3.Connection], None]

FIRST = (
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
BUSY_TIMEOUT_S = 1.0  # nobody else writes; this is for a person who uses the sqlite3 tool
WRITER_CACHE_KIB = 8_192  # the index pages of the conversations that are busy
READER_CACHE_KIB = 1_024  # a reader needs a page only once
WAL_LIMIT = 16 << 20  # bytes of WAL file kept for reuse after a checkpoint


def first(db: sqlite3.Connection) -> None:
    for statement in FIRST:
        db.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (first,)


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


def migrate(db: sqlite3.Connection, steps: Sequence[Migration]) -> None:
    """Each step is one transaction with its number, so a crash leaves the old schema or the new one."""
    for done in range(version(db), len(steps)):
        db.execute("BEGIN IMMEDIATE")
        try:
            steps[done](db)
            db.execute(f"PRAGMA user_version={done + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
