"""Heads, records and appends for the journal's tests, and a look at everything a journal holds."""

import json
from collections.abc import Sequence

from msgspec.structs import replace

from actors.messages.ports import Journal
from actors.vocabulary.conditions import Condition
from actors.vocabulary.errors import JournalError
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Append, Head, ListQuery, Record

EVENT = "agent_message"


def conversation(number: int) -> ConversationId:
    return ConversationId(f"00000000-0000-4000-8000-{number:012d}")


A, B, C = conversation(1), conversation(2), conversation(3)


def record(seq: int, text: str = "", ts: float | None = None) -> Record:
    body = json.dumps({"type": EVENT, "n": seq, "message": text}, separators=(",", ":"), ensure_ascii=False)
    return Record(seq, 1000.0 + seq if ts is None else ts, TurnId(f"turn-{seq}"), EVENT, body.encode())


def records(first: int, last: int, text: str = "") -> tuple[Record, ...]:
    return tuple(record(seq, text) for seq in range(first, last + 1))


def head(
    of: ConversationId,
    last_seq: int,
    *,
    updated: float | None = None,
    checkpoint_seq: int = 0,
    archived: bool = False,
    state: str = "idle",
    name: str | None = None,
    cwd: str = "/tmp/ünder way",
    created: float = 1000.0,
) -> Head:
    return Head(
        conversation=of,
        name=name,
        cwd=cwd,
        model="m",
        state=Condition(state),
        preview="what was said",
        settings=b'{"model":"m"}',
        checkpoint=b'{"seq":%d}' % checkpoint_seq if checkpoint_seq else b"",
        checkpoint_seq=checkpoint_seq,
        created=created,
        updated=1000.0 + last_seq if updated is None else updated,
        last_seq=last_seq,
        generation=1,
        archived=archived,
        tokens=17,
        unpriced=1,
    )


def begin(of: ConversationId, count: int = 1, text: str = "", *, checkpoint_seq: int = 0) -> Append:
    return Append(of, records(1, count, text), head(of, count, checkpoint_seq=checkpoint_seq), durable=True)


def follow(of: ConversationId, first: int, last: int, text: str = "", *, durable: bool = False) -> Append:
    return Append(of, records(first, last, text), durable=durable)


def stored(journal: Journal, appends: Sequence[Append]) -> None:
    assert journal.commit(appends) == [None] * len(appends)


def kinds(answers: Sequence[JournalError | None]) -> list[str | None]:
    return [None if answer is None else answer.code for answer in answers]


Contents = dict[ConversationId, tuple[Head, tuple[Record, ...]]]


def contents(journal: Journal) -> Contents:
    """Everything, read the long way; insists that each conversation is dense, and listed as it is."""
    found: Contents = {}
    for row in rows(journal):
        whole = journal.head(row.conversation)
        page = journal.read(row.conversation, 0, 1_000_000, 1 << 40)
        assert whole is not None
        assert page is not None
        assert page.last_seq == whole.last_seq
        assert [r.seq for r in page.records] == list(range(page.first_seq, page.last_seq + 1))
        assert (
            row == replace(whole, settings=b"", checkpoint=b"", updated=row.updated) == journal.row(row.conversation)
        )
        found[row.conversation] = (whole, page.records)
    return found


def rows(journal: Journal) -> list[Head]:
    """The whole list, page by page."""
    page = journal.list_page(ListQuery(archived=True))
    found = list(page.heads)
    while page.next is not None:
        page = journal.list_page(ListQuery(archived=True, after=page.next))
        found += page.heads
    assert len(found) == page.total
    return found
