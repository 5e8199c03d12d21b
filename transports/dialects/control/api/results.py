"""Events and questions as the control API writes them. All other answers are structs that describe themselves."""

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec.json import encode

from actors.messages.effects import Slice
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import ConversationId, RequestId, TurnId
from actors.vocabulary.records import Record
from transports import jsonrpc
from transports.dialects.control.api.answers import HistoryPage, NewsPage
from transports.jsonrpc import JsonObject

quoted = json.encoder.encode_basestring  # encodes a string, faster than the general encoder


def result_line(request: RequestId, answer: HistoryPage | NewsPage) -> bytes:
    """The line of an answer with events, which are copied once."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (jsonrpc.to_json(request).encode(), encode(answer))


def notification_line(method: str, params: Mapping[str, str], shared: bytes) -> bytes:
    """The line of a notification, for every piece of every stream. `shared`: encoded members of the params."""
    members = "".join(f"{quoted(name)}:{quoted(value)}," for name, value in params.items())
    start = f'{{"jsonrpc":"2.0","method":{quoted(method)},"params":{{{members}'
    return b"".join((start.encode(), shared, b"}\n"))


def question_rows(
    questions: Sequence[tuple[ConversationId, ApprovalRequested]], places: Sequence[tuple[int, float] | None]
) -> list[JsonObject]:
    """Open questions with the seq and time of each, oldest first; null where unknown."""
    rows = [
        {**question(conversation, request), "seq": place and place[0], "ts": place and place[1]}
        for (conversation, request), place in zip(questions, places, strict=True)
    ]
    return sorted(rows, key=lambda row: row["ts"] or 0.0)


def question(conversation: ConversationId, request: ApprovalRequested) -> JsonObject:
    return {"conversation": conversation, **request.model_dump(mode="json")}


def events_of(slice_: Slice) -> bytes:
    """The part of an `events` notification shared by all readers with the same cursor; encoded once."""
    members = slice_.encoded.get("control")
    if members is None:
        members = slice_.encoded["control"] = encode_slice(slice_)
    return members


def envelope(conversation: ConversationId, record: Record) -> bytes:
    """An event as it was stored, in its envelope; the body is not parsed."""
    return b"".join((_head(conversation, record.seq, record.ts, record.turn), record.body, b"}"))


def _head(conversation: ConversationId, seq: int | None, ts: float, turn: TurnId | None) -> bytes:
    """The beginning of an envelope, for each piece of a stream; a general encoder takes five times as long."""
    where = f'"conversation":{quoted(conversation)},"seq":{"null" if seq is None else seq}'
    return f'{{{where},"ts":{ts!r},"turn":{quoted(turn) if turn else "null"},"event":'.encode()


def encode_slice(slice_: Slice) -> bytes:
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
        yield (
            b',"pending":' + jsonrpc.line([question(slice_.conversation, request) for request in slice_.pending])[:-1]
        )
