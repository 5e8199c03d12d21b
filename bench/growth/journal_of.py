"""A journal of many conversations, made in seconds: `python -m bench.growth.journal_of FILE COUNT [VERSION]`.

Rows go into the tables directly, and the indexes are made over all of them at the end, by the steps of the schema
itself. With VERSION 1 the file is left as that version of the schema had it.
"""

import hashlib
import json
import re
import sys
import time
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from actors.conversation.restore import head_of, restore
from actors.vocabulary.events import SessionConfigured
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Record
from actors.vocabulary.settings import Settings
from supervisor.journal.repair import sync
from supervisor.journal.rows import PUT_EVENT, PUT_HEAD, PUT_SNAPSHOT, PUT_TAIL, Row, event_row, head_row
from supervisor.journal.schema import MIGRATIONS, connect, migrate

CHUNK = 10_000  # conversations in a transaction
CACHE_KIB = 256 << 10  # ids come in random order, so the whole of their index is in use
DATED = 3  # the version of the schema in which heads have their time, and lists have no indexes yet
DIRECTORIES = 1_000
NAMED, ARCHIVED, FAILED = 10, 10, 100  # one in so many
NOW = 1_800_000_000.0
ID, NAME, CWD, AT = ConversationId("00000000-0000-4000-8000-000000000000"), "its name", "/its/directory", 1234567890.5


HEAD_NAMES = re.sub(r"\s", "", PUT_HEAD.partition("(")[2].partition(")")[0]).split(",")  # as head_row has them


def id_of(number: int) -> ConversationId:
    digits = hashlib.md5(b"%d" % number, usedforsecurity=False).hexdigest()
    return ConversationId(f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}")


def name_of(number: int) -> str | None:
    return f"name-{number}" if number % NAMED == 0 else None


def directory_of(number: int) -> str:
    return f"/home/u/project-{number % DIRECTORIES}"


def write(path: Path, count: int, version: int | None = None) -> None:
    """Write conversations 0 to `count` - 1, each updated a second after the one before it."""
    with closing(connect(path, read_only=False)) as db:
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        db.execute("PRAGMA journal_mode=OFF").fetchall()
        db.execute("PRAGMA synchronous=OFF")
        db.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        migrate(db, MIGRATIONS[: version or DATED])
        there = {name for _, name, *_ in db.execute("PRAGMA table_info(conversations)")}
        places = [place for place, name in enumerate(HEAD_NAMES) if name in there]
        names = ", ".join(HEAD_NAMES[place] for place in places)
        put_head = f"INSERT INTO conversations ({names}) VALUES ({', '.join('?' * len(places))})"
        pattern = Pattern()
        for start in range(0, count, CHUNK):
            rows = [pattern.rows(number, NOW - count + number) for number in range(start, min(start + CHUNK, count))]
            db.execute("BEGIN")
            db.executemany(put_head, ([head[place] for place in places] for head, _, _, _ in rows))
            for place, put in enumerate((PUT_SNAPSHOT, PUT_TAIL, PUT_EVENT), 1):
                db.executemany(put, (row[place] for row in rows))
            db.execute("COMMIT")
        migrate(db, MIGRATIONS[:version])
        db.execute("PRAGMA journal_mode=WAL").fetchall()
    sync(path)


class Pattern:
    """A conversation that was begun and not spoken to, under any number."""

    def __init__(self) -> None:
        settings = Settings(model="m", cwd=Path(CWD), provider="demo")
        event = SessionConfigured(session_id=ID, model="m", settings=settings, name=NAME)
        self._record = Record(1, AT, None, event.type, event.model_dump_json().encode())
        self._head = head_of(restore(ID, None, (self._record,)))

    def rows(self, number: int, updated: float) -> tuple[Row, Row, Row, Row]:
        """Rows for conversations, snapshots, tails and events."""
        of, name, cwd = id_of(number), name_of(number), directory_of(number)
        archived, failed = number % ARCHIVED == 1, number % FAILED == 2

        def with_own_values(text: bytes) -> bytes:
            text = text.replace(ID.encode(), of.encode()).replace(CWD.encode(), cwd.encode())
            text = text.replace(b'"' + NAME.encode() + b'"', json.dumps(name).encode())
            text = text.replace(str(AT).encode(), str(updated).encode())
            text = text.replace(b'"archived":false', b'"archived":true') if archived else text
            return text.replace(b'"failed":null', b'"failed":"a bug"') if failed else text

        head = replace(
            self._head,
            conversation=of,
            name=name,
            cwd=cwd,
            state="archived" if archived else "failed" if failed else "idle",
            created=updated,
            updated=updated,
            archived=archived,
        )
        key = number + 1
        return (
            head_row(key, head),
            (key, with_own_values(head.settings), with_own_values(head.checkpoint)),
            (key, 1, 1, updated),
            event_row(key, replace(self._record, ts=updated, body=with_own_values(self._record.body))),
        )


def main() -> None:
    path, count, *version = sys.argv[1:]
    began = time.perf_counter()
    write(Path(path), int(count), int(*version) if version else None)
    size = Path(path).stat().st_size
    print(f"{int(count):,} conversations, {size / 2**20:,.0f} MiB, in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
