"""The tables of the search file, the statements that fill and read them, and connections to it and the journal.

A passage is the searchable text of an event, under the event's row number. An anchor is the last event of a piece: as
long as it is in the journal, under the same number, no number up to it was given to another event.
"""

import sqlite3
from pathlib import Path

from actors.vocabulary import events as ev
from supervisor.journal.old_events import OLD_SEARCHED_EVENTS
from supervisor.journal.schema import BUSY_TIMEOUT_S

VERSION = 1
CACHE_KIB = 1_024
PASSAGE = 16 << 10  # characters of one event; of a longer text its beginning and its end

TABLES = (
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, seq INTEGER NOT NULL, ts REAL NOT NULL,
        kind TEXT NOT NULL, text TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX by_place ON passages (conversation, seq)",
    """CREATE VIRTUAL TABLE words USING fts5 (
        text, content = 'passages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    )""",
    """CREATE TABLE anchors (
        id INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, seq INTEGER NOT NULL, ts REAL NOT NULL
    ) STRICT""",
    # How far the index is cleared of removed passages: 1, not begun; 2, being merged; 3, merged.
    "CREATE TABLE purge (key INTEGER PRIMARY KEY, due INTEGER NOT NULL) STRICT",
    f"PRAGMA user_version = {VERSION}",
)

# The kind of each event that is read, and its text. SQLite decodes the bodies, because it releases the GIL meanwhile.
_SEARCHED: dict[type[ev.DurableEvent], tuple[str, str]] = {
    ev.UserMessage: (
        "user",
        "CASE coalesce(json_extract(body, '$.kind'), 'plain') WHEN 'plain' THEN json_extract(body, '$.message') END",
    ),
    ev.AgentMessage: ("agent", "json_extract(body, '$.message')"),
    ev.AgentReasoning: ("reasoning", "json_extract(body, '$.text')"),
    ev.WorkBegan: (
        "command",
        (
            "coalesce((SELECT group_concat(value, ' ') FROM json_each(body, '$.subject.command')), "
            "json_extract(body, '$.agent_call.title'))"
        ),
    ),
    ev.WorkEnded: (
        "output",
        (
            "CASE WHEN json_extract(body, '$.kind') = 'command' OR json_extract(body, '$.agent_call') IS NOT NULL "
            "THEN json_extract(body, '$.output') || char(10) || json_extract(body, '$.errors') END"
        ),
    ),
    ev.SessionConfigured: ("name", "json_extract(body, '$.name')"),
    ev.ConversationRenamed: ("name", "json_extract(body, '$.name')"),
}
SEARCHED_EVENTS = {**{ev.type_of(kind): texts for kind, texts in _SEARCHED.items()}, **OLD_SEARCHED_EVENTS}
KINDS = " ".join(f"WHEN '{type_}' THEN '{kind}'" for type_, (kind, _) in SEARCHED_EVENTS.items())
TEXTS = " ".join(f"WHEN '{type_}' THEN {text}" for type_, (_, text) in SEARCHED_EVENTS.items())
TYPES = ", ".join(f"'{type_}'" for type_ in SEARCHED_EVENTS)
READ = f"""
    INSERT INTO passages (id, conversation, seq, ts, kind, text)
    SELECT id, conversation, seq, ts, CASE type {KINDS} END,
        CASE WHEN length(said) <= {PASSAGE} THEN said
        ELSE substr(said, 1, {PASSAGE // 2}) || ' … ' || substr(said, -{PASSAGE // 2}) END
    FROM (
        SELECT id, conversation, seq, ts, type, CASE WHEN json_valid(body) THEN CASE type {TEXTS} END END AS said
        FROM (
            SELECT e.rowid AS id, e.conversation, e.seq, e.ts, e.type, CAST(e.body AS TEXT) AS body
            FROM journal.events e JOIN journal.conversations c ON c.key = e.conversation
            WHERE e.rowid > :after AND e.rowid <= :until AND e.type IN ({TYPES})
        )
    ) WHERE trim(said, char(9, 10, 13, 32)) <> ''"""  # noqa: S608  # joined from constants above
READ_WORDS = "INSERT INTO words (rowid, text) SELECT id, text FROM passages WHERE id > :after AND id <= :until"
NEXT_EVENTS = (
    "SELECT rowid, conversation, seq, ts, length(body) FROM journal.events WHERE rowid > ? ORDER BY rowid LIMIT ?"
)
LAST_EVENT = "SELECT coalesce(max(rowid), 0) FROM journal.events"
CURSOR = "SELECT coalesce(max(id), 0) FROM anchors"
SOUND = """
    SELECT coalesce((
        SELECT a.id FROM anchors a CROSS JOIN journal.events e ON e.rowid = a.id
        WHERE e.conversation = a.conversation AND e.seq = a.seq AND e.ts = a.ts ORDER BY a.id DESC LIMIT 1
    ), 0)"""
KEEP_ANCHOR = "INSERT INTO anchors (id, conversation, seq, ts) VALUES (?, ?, ?, ?)"
DROP_ANCHORS = "DELETE FROM anchors WHERE id <= (SELECT id FROM anchors ORDER BY id DESC LIMIT 1 OFFSET ?)"
SOME_PASSAGES = "id IN (SELECT id FROM passages WHERE {} ORDER BY id DESC LIMIT ?)"
REMOVE = f"DELETE FROM passages WHERE {SOME_PASSAGES}"  # noqa: S608  # a condition of ours
REMOVE_WORDS = f"INSERT INTO words (words, rowid, text) SELECT 'delete', id, text FROM passages WHERE {SOME_PASSAGES}"  # noqa: S608  # the same
MERGE = "INSERT INTO words (words, rank) VALUES ('merge', ?)"
COMPARE_WITH_JOURNAL = """
    WITH RECURSIVE each (key) AS (
        SELECT min(conversation) FROM passages WHERE conversation > :after
        UNION ALL
        SELECT (SELECT min(conversation) FROM passages WHERE conversation > key) FROM each
        WHERE key IS NOT NULL LIMIT :limit
    )
    SELECT each.key, t.first_seq, (SELECT min(seq) FROM passages WHERE conversation = each.key)
    FROM each LEFT JOIN journal.tails t ON t.key = each.key WHERE each.key IS NOT NULL"""

HIT = """
    SELECT p.id, c.id, c.name, c.cwd, p.seq, p.ts, p.kind, snippet(words, 0, char(2), char(3), '…', :around)
    FROM words CROSS JOIN passages p ON p.id = words.rowid
        CROSS JOIN journal.conversations c ON c.key = p.conversation
        CROSS JOIN journal.tails t ON t.key = p.conversation
    WHERE words MATCH :words AND words.rowid < :before AND p.seq BETWEEN t.first_seq AND t.last_seq
        AND (:conversation IS NULL OR c.id = :conversation) AND (:cwd IS NULL OR c.cwd = :cwd)
        AND (:since IS NULL OR p.ts >= :since)"""
NEWEST = f"{HIT} ORDER BY words.rowid DESC LIMIT :limit"
BEST = f"{HIT} ORDER BY words.rank LIMIT :limit"


def connect(path: Path, journal: Path, *, read_only: bool) -> sqlite3.Connection:
    db = sqlite3.connect(
        _address(path, "ro" if read_only else "rw"),
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_S,
    )
    try:
        db.text_factory = lambda stored: stored.decode(errors="replace")  # JSON can spell lone surrogates
        db.execute("ATTACH DATABASE ? AS journal", (_address(journal, "ro"),))
        db.execute(f"PRAGMA main.cache_size=-{CACHE_KIB}")
        db.execute(f"PRAGMA journal.cache_size=-{CACHE_KIB}")
    except BaseException:
        db.close()
        raise
    return db


def prepare(db: sqlite3.Connection) -> bool:
    """Make the tables in a new file. False if the file has other tables."""
    found = db.execute("PRAGMA main.user_version").fetchone()[0]
    db.execute("PRAGMA main.secure_delete=ON")
    if found == 0 and db.execute("SELECT count(*) FROM main.sqlite_schema").fetchone()[0] == 0:
        db.execute("PRAGMA main.auto_vacuum=INCREMENTAL")
        db.execute("PRAGMA main.journal_mode=WAL").fetchall()
        db.execute("BEGIN IMMEDIATE")
        for statement in TABLES:
            db.execute(statement)
        db.execute("COMMIT")
        found = VERSION
    db.execute("PRAGMA main.synchronous=NORMAL")  # passages that a power cut takes are read again
    return bool(found == VERSION)


def _address(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"
