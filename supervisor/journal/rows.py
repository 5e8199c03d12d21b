"""Heads and records as rows, and back. Writing statements take rows in exactly this order. Any thread."""

import sqlite3
from typing import Any

from actors.vocabulary.conditions import Condition
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Head, KeptText, Record
from supervisor.journal.old_events import read_head, read_text

Row = tuple[str | int | float | bytes | None, ...]

PUT_HEAD = """
    INSERT INTO conversations (key, id, name, cwd, model, state, preview, checkpoint_seq, created, generation,
        archived, tokens, context_tokens, context_window, updated, usd, unpriced, queued, agent, uncounted,
        ended, self_named)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET name = excluded.name, cwd = excluded.cwd, model = excluded.model,
        state = excluded.state, preview = excluded.preview, checkpoint_seq = excluded.checkpoint_seq,
        created = excluded.created, generation = excluded.generation, archived = excluded.archived,
        tokens = excluded.tokens, context_tokens = excluded.context_tokens,
        context_window = excluded.context_window, updated = excluded.updated, usd = excluded.usd,
        unpriced = excluded.unpriced, queued = excluded.queued, agent = excluded.agent,
        uncounted = excluded.uncounted, ended = excluded.ended, self_named = excluded.self_named"""
PUT_SNAPSHOT = "INSERT OR REPLACE INTO snapshots (key, settings, checkpoint) VALUES (?, ?, ?)"
PUT_EVENT = "INSERT INTO events (conversation, seq, ts, turn, type, body) VALUES (?, ?, ?, ?, ?, ?)"
PUT_END = """
    INSERT INTO tails (key, first_seq, last_seq, updated) VALUES (?, 1, ?, ?)
    ON CONFLICT (key) DO UPDATE SET last_seq = excluded.last_seq, updated = excluded.updated"""
PUT_KEPT = "INSERT OR REPLACE INTO unfinished (key, tail, since, start, until, body) VALUES (?, ?, ?, ?, ?, ?)"
REMOVE_OLD = "DELETE FROM unfinished WHERE key = ? AND tail = ? AND since = ? AND until <= ?"
REMOVE_KEPT = "DELETE FROM unfinished WHERE key = ?"
GET_KEPT = """
    SELECT tail, since, start, until, body FROM unfinished WHERE key = (SELECT key FROM conversations WHERE id = ?)
    ORDER BY tail, since, start"""
PUT_TAIL = "INSERT INTO tails (key, first_seq, last_seq, updated) VALUES (?, ?, ?, ?)"

HEAD_COLUMNS = """{settings}, {checkpoint}, c.checkpoint_seq, c.generation, c.state, c.archived, c.ended,
    c.self_named, c.id, c.name, c.cwd, c.model, c.preview, c.created, {updated}, t.last_seq, c.tokens,
    c.context_tokens, c.context_window, c.usd, c.unpriced, c.queued, c.agent, c.uncounted"""
MEMBERS = (
    *("settings", "checkpoint", "checkpoint_seq", "generation", "state", "archived", "ended", "self_named"),
    *("conversation", "name", "cwd", "model", "preview", "created", "updated", "last_seq", "tokens"),
    *("context_tokens", "context_window", "usd", "unpriced", "queued", "agent", "uncounted"),
)
GET_HEAD = f"""
    SELECT {HEAD_COLUMNS.format(settings="s.settings", checkpoint="s.checkpoint", updated="t.updated")}
    FROM conversations c JOIN tails t ON t.key = c.key JOIN snapshots s ON s.key = c.key
    WHERE c.id = ?"""  # noqa: S608 - joined from constants above
_ROW = f"""
    SELECT {HEAD_COLUMNS.format(settings="x''", checkpoint="x''", updated="c.updated")}
    FROM conversations c JOIN tails t ON t.key = c.key"""  # noqa: S608 - joined from constants above
GET_ROW = f"{_ROW} WHERE c.id = ?"
GET_ROW_AT = f"{_ROW} WHERE c.key = ?"
GET_POSITION = "SELECT c.key, t.last_seq FROM conversations c JOIN tails t ON t.key = c.key WHERE c.id = ?"
GET_RANGE = """
    SELECT c.key, t.first_seq, t.last_seq FROM conversations c JOIN tails t ON t.key = c.key WHERE c.id = ?"""
GET_EVENTS = """
    SELECT seq, ts, turn, type, CASE WHEN length(body) <= ? THEN body END, rowid, length(body)
    FROM events WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?"""
GET_EVENTS_BACK = GET_EVENTS.replace("seq > ? ORDER BY seq", "seq < ? ORDER BY seq DESC")
GET_PLACE = """
    SELECT rowid FROM events WHERE conversation = (SELECT key FROM conversations WHERE id = ?) AND seq = ?"""


def event_row(key: int, record: Record) -> Row:
    return (key, record.seq, record.ts, record.turn, record.type, record.body)


def head_row(key: int, head: Head) -> Row:
    return (
        key,
        head.conversation,
        head.name,
        head.cwd,
        head.model,
        head.state,
        head.preview,
        head.checkpoint_seq,
        head.created,
        head.generation,
        int(head.archived),
        head.tokens,
        head.context_tokens,
        head.context_window,
        head.updated,
        head.usd,
        head.unpriced,
        head.queued,
        head.agent,
        head.uncounted,
        head.ended or "",
        int(head.self_named),
    )


def get_head(db: sqlite3.Connection, conversation: ConversationId) -> Head | None:
    row = db.execute(GET_HEAD, (conversation,)).fetchone()
    return None if row is None else read_head(_head(row))


def get_kept(db: sqlite3.Connection, conversation: ConversationId) -> tuple[KeptText, ...]:
    return tuple(read_text(KeptText(*row)) for row in db.execute(GET_KEPT, (conversation,)))


def get_row(db: sqlite3.Connection, conversation: ConversationId) -> Head | None:
    row = db.execute(GET_ROW, (conversation,)).fetchone()
    return None if row is None else _head(row)


def get_row_at(db: sqlite3.Connection, key: int) -> Head:
    return _head(db.execute(GET_ROW_AT, (key,)).fetchone())


def _head(row: tuple[object, ...]) -> Head:
    members: dict[str, Any] = dict(zip(MEMBERS, row, strict=True))  # STRICT tables guarantee the types
    archived, self_named = bool(members["archived"]), bool(members["self_named"])
    state, ended = Condition(members["state"]), members["ended"] or None
    return Head(**{**members, "state": state, "archived": archived, "ended": ended, "self_named": self_named})
