"""Our answers as the control API writes them: plain JSON values with names that clients may rely on."""

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from actors.conversation.effects import Slice
from actors.vocabulary.answers import (
    Accepted,
    Answered,
    Attached,
    Begun,
    Done,
    Interrupted,
    Listing,
    PendingApprovals,
    Reader,
    Resolved,
    Summary,
    TurnResult,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.records import Head, Record
from transports import jsonrpc
from transports.dialects.control.text import quoted
from transports.heads import described
from transports.jsonrpc import JsonObject
from transports.requests import Exported, Found, HistoryRead, NewsRead, Plain, SettingsMade, Stored


@singledispatch
def shown(answer: object) -> JsonObject:
    raise TypeError(f"the control API has no words for {type(answer).__name__}")


@shown.register
def _(answer: Done) -> JsonObject:  # noqa: ARG001  # it says nothing more
    return {}


@shown.register
def _(answer: Begun) -> JsonObject:
    return {"conversation": answer.conversation, "settings": answer.settings.model_dump(mode="json")}


@shown.register
def _(answer: Accepted) -> JsonObject:
    return {
        "input": answer.input,
        "turn": answer.turn,
        "seq": answer.seq,
        "queued": answer.queued,
        "duplicate": answer.duplicate,
    }


@shown.register
def _(answer: TurnResult) -> JsonObject:
    return {"turn": answer.turn, "ending": answer.ending.value, "message": answer.message, "seq": answer.seq}


@shown.register
def _(answer: Interrupted) -> JsonObject:
    ending = answer.ending.value if answer.ending else None
    return {"turn": answer.turn, "ending": ending, "queued": answer.queued}


@shown.register
def _(answer: Answered) -> JsonObject:
    return {"approval": answer.approval, "decision": answer.decision.value}


@shown.register
def _(answer: Summary) -> JsonObject:
    return {
        "conversation": answer.conversation,
        "state": answer.condition.value,
        "name": answer.name,
        "settings": answer.settings.model_dump(mode="json"),
        "seq": answer.seq,
        "turn": answer.turn,
        "queued": answer.queued,
        "paused": answer.paused,
        "pending": [question(answer.conversation, one) for one in answer.pending],
        "readers": [{"connection": one.connection, **reader(one)} for one in answer.readers],
        "tokens": answer.tokens,
        "created": answer.created,
        "updated": answer.updated,
        "preview": answer.preview,
        "failed": answer.failed,
    }


@shown.register
def _(answer: Attached) -> JsonObject:
    return {"subscription": answer.subscription, "seq": answer.seq, "summary": shown(answer.summary)}


@shown.register
def _(answer: Listing) -> JsonObject:
    return {"conversations": [row(head) for head in answer.heads]}


@shown.register
def _(answer: PendingApprovals) -> JsonObject:
    return {"approvals": [question(conversation, request) for conversation, request in answer.requests]}


@shown.register
def _(answer: Resolved) -> JsonObject:
    return {"conversation": answer.conversation}


@shown.register
def _(answer: SettingsMade) -> JsonObject:
    return {"settings": answer.settings.model_dump(mode="json"), "notice": answer.notice}


@shown.register
def _(answer: HistoryRead) -> JsonObject:
    page = answer.page
    return {"first_seq": page.first_seq, "last_seq": page.last_seq, "complete": page.complete}


@shown.register
def _(answer: Found) -> JsonObject:
    return {
        "hits": [
            {
                "conversation": hit.conversation,
                "name": hit.name,
                "cwd": hit.cwd,
                "seq": hit.seq,
                "ts": hit.ts,
                "kind": hit.kind,
                "text": hit.text,
                "marks": [list(mark) for mark in hit.marks],
            }
            for hit in answer.hits
        ],
        "next_cursor": None if answer.next is None else str(answer.next),
        "read": answer.read,
        "complete": answer.complete,
    }


@shown.register
def _(answer: NewsRead) -> JsonObject:
    return {"cursor": answer.cursor, "lagged": answer.lagged}


@shown.register
def _(answer: Exported) -> JsonObject:
    cursor = "/".join(map(str, answer.place)) if answer.place else None
    return {"lines": list(answer.lines), "next_cursor": cursor, "partial": answer.partial}


@shown.register
def _(answer: Stored) -> JsonObject:
    return {"conversation": answer.conversation}


@shown.register
def _(answer: Plain) -> JsonObject:
    return dict(answer.value)


def row(head: Head) -> JsonObject:
    return {
        "conversation": head.conversation,
        **described(head),
        "seq": head.last_seq,
        "tokens": head.tokens,
        "archived": head.archived,
    }


def reader(one: Reader) -> JsonObject:
    return {"subscription": one.subscription, "seq": one.seq, "behind": one.behind, "read_only": one.read_only}


def with_readers(client: JsonObject, readers: Iterable[tuple[ConversationId, Reader]]) -> JsonObject:
    """A client with its subscriptions."""
    mine = [(one, each) for one, each in readers if each.connection == client["connection"]]
    return {**client, "attached": [{"conversation": one, **reader(each)} for one, each in mine]}


def pending_of(summary: Summary) -> PendingApprovals:
    return PendingApprovals(tuple((summary.conversation, request) for request in summary.pending))


def stopped(answer: Interrupted | GreenroomError) -> JsonObject:
    """The entry of one interrupted conversation: how its turn ended, or why not."""
    if isinstance(answer, GreenroomError):
        return {"error": {"code": answer.code, "message": answer.message}}
    return shown(answer)


def waiting(pending: PendingApprovals, places: Sequence[tuple[int, float] | None]) -> list[JsonObject]:
    """Open questions with where and when they were asked, oldest first; `ts` is null where that is not known."""
    told = [*places, *[None] * (len(pending.requests) - len(places))]
    rows = [
        {**question(one, request), "seq": place and place[0], "ts": place and place[1]}
        for (one, request), place in zip(pending.requests, told, strict=True)
    ]
    return sorted(rows, key=lambda row: row["ts"] or 0.0)


def question(conversation: ConversationId, request: ApprovalRequest) -> JsonObject:
    return {"conversation": conversation, **request.model_dump(mode="json")}


def events_of(slice_: Slice) -> bytes:
    """The part of an `events` notification that all readers with the same cursor share; encoded once."""
    known = slice_.encoded.get("control")
    if known is None:
        known = slice_.encoded["control"] = _encoded(slice_)
    return known


def envelope(conversation: ConversationId, record: Record) -> bytes:
    """An event as it was stored, in its envelope; the body is not even parsed."""
    return b"".join((_head(conversation, record.seq, record.ts, record.turn), record.body, b"}"))


def _head(conversation: ConversationId, seq: int | None, ts: float, turn: TurnId | None) -> bytes:
    """Written by hand, once for each piece of a stream: a general encoder takes five times as long."""
    where = f'"conversation":{quoted(conversation)},"seq":{"null" if seq is None else seq}'
    return f'{{{where},"ts":{ts!r},"turn":{quoted(turn) if turn else "null"},"event":'.encode()


def _encoded(slice_: Slice) -> bytes:
    events = [envelope(slice_.conversation, record) for record in slice_.records]
    start = _head(slice_.conversation, None, slice_.ts, slice_.turn) if slice_.deltas else b""
    events += [start + delta.model_dump_json().encode() + b"}" for delta in slice_.deltas]
    return b"".join((b'"events":[', b",".join(events), b"]", *_circumstances(slice_), b"}"))


def _circumstances(slice_: Slice) -> Iterator[bytes]:
    yield b',"live":true' if slice_.live else b',"live":false'
    yield b',"lagged":true' if slice_.lagged else b',"lagged":false'
    if slice_.gap:
        yield b',"gap":' + jsonrpc.line(slice_.gap)[:-1]
    if slice_.pending is not None:
        yield b',"pending":' + jsonrpc.line([question(slice_.conversation, one) for one in slice_.pending])[:-1]
