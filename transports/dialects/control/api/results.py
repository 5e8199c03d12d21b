"""Answers as the control API writes them: plain JSON values with stable names."""

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, to_builtins

from actors.messages.effects import Slice
from actors.vocabulary.agent_description import MODE, MODEL, AgentDescription, AgentOptionValue
from actors.vocabulary.answers import (
    AcceptedInput,
    AnsweredApproval,
    AttachedReader,
    ChangedSettings,
    Done,
    InterruptedTurn,
    ReaderStatus,
    ResolvedReference,
    Summary,
    TurnResult,
    WaitingInput,
)
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import ApprovalRequest
from actors.vocabulary.ids import ConversationId, InputId, RequestId, TurnId
from actors.vocabulary.records import Head, Record
from transports import jsonrpc
from transports.jsonrpc import JsonObject

quoted = json.encoder.encode_basestring  # encodes a string, faster than the general encoder

# The members of the models in shapes.py, which only the schema loads; a test keeps them alike.
MEMBERS: Mapping[type[object], tuple[str, ...]] = {
    Done: (),
    AcceptedInput: ("input", "turn", "seq", "queued", "duplicate"),
    TurnResult: ("turn", "ending", "message", "seq"),
    WaitingInput: ("input", "policy", "preview", "by", "since"),
    AnsweredApproval: ("approval", "decision", "option", "outside"),
    ResolvedReference: ("conversation",),
    ReaderStatus: ("connection", "subscription", "seq", "behind", "read_only"),
    Summary: (
        *("conversation", "state", "name", "settings", "seq", "turn", "queued", "waiting", "paused", "pending"),
        *(
            "readers",
            "tokens",
            "usd",
            "unpriced",
            "uncounted",
            "context_tokens",
            "context_window",
            "created",
            "updated",
            "preview",
        ),
        *("agent_now", "failed", "ended"),
    ),
    AgentOptionValue: ("id", "name", "category", "value"),
    AgentDescription: ("agent", "session", "how", "program", "can", "note", "model", "mode", "options"),
    Head: (
        *(
            "conversation",
            "name",
            "state",
            "cwd",
            "agent",
            "model",
            "preview",
            "created",
            "updated",
            "seq",
            "tokens",
            "usd",
        ),
        *("unpriced", "uncounted", "context_tokens", "context_window", "archived", "queued", "ended"),
    ),
}


class Raw(Struct, frozen=True):
    """A result; `encoded` are further members, already JSON."""

    value: JsonObject
    encoded: Mapping[str, bytes]


def result_line(request: RequestId, raw: Raw) -> bytes:
    """The line of a result. `encoded` may be long, and is copied once."""
    members = (part for name, value in raw.encoded.items() for part in (b',"', name.encode(), b'":', value))
    return b"".join((jsonrpc.result(request, raw.value)[:-3], *members, b"}}\n"))


def notification_line(method: str, params: Mapping[str, str], shared: bytes) -> bytes:
    """The line of a notification, for every piece of every stream. `shared`: encoded members of the params."""
    members = "".join(f"{quoted(name)}:{quoted(value)}," for name, value in params.items())
    start = f'{{"jsonrpc":"2.0","method":{quoted(method)},"params":{{{members}'
    return b"".join((start.encode(), shared, b"}\n"))


def answer_json(answer: object) -> JsonObject:
    match answer:
        case dict():
            return answer
        case GreenroomError():  # the answer for one of several conversations
            return {"error": {"code": answer.code, "message": answer.message}}
        case InterruptedTurn():
            return {"turn": answer.turn, "ending": answer.ending, **queue_members(answer.waiting)}
        case AttachedReader():
            return {"subscription": answer.subscription, "seq": answer.seq, "summary": answer_json(answer.summary)}
        case ChangedSettings():
            changed = [change.model_dump() for change in answer.changed]
            settings = answer.settings.model_dump(mode="json")
            return {"settings": settings, "name": answer.name, "changed": changed, "turn": answer.turn}
        case Summary():
            return _summary(answer)
        case _ if type(answer) in MEMBERS:
            return {name: getattr(answer, name) for name in MEMBERS[type(answer)]}
        case _:
            return dict(to_builtins(answer, enc_hook=jsonrpc.plain))


def _summary(answer: Summary) -> JsonObject:
    return {
        **{name: getattr(answer, name, None) for name in MEMBERS[Summary]},
        "state": answer.condition,
        **queue_members(answer.waiting),
        "settings": answer.settings.model_dump(mode="json"),
        "pending": [question(answer.conversation, request) for request in answer.pending],
        "readers": [answer_json(reader) for reader in answer.readers],
        "agent_now": _agent(answer.agent_now) if answer.agent_now is not None else None,
    }


def _agent(now: AgentDescription) -> JsonObject:
    """The agent's present state. Its options are as the agent gave them: short, and of one level."""
    members = {name: getattr(now, name, None) for name in MEMBERS[AgentDescription]}
    options = [{name: getattr(option, name) for name in MEMBERS[AgentOptionValue]} for option in now.options]
    return {**members, "model": now.value(MODEL), "mode": now.value(MODE), "options": options}


def queue_members(waiting: Sequence[WaitingInput]) -> JsonObject:
    return {"queued": len(waiting), "waiting": [answer_json(input_) for input_ in waiting]}


def queue(summary: Summary, only: InputId | None) -> JsonObject:
    """The waiting inputs; with `only`, that input with its items."""
    listed = [input_ for input_ in summary.waiting if only in {None, input_.input}]
    whole = [{"items": [item.model_dump(mode="json") for item in input_.items]} if only else {} for input_ in listed]
    rows = [{**answer_json(input_), **more} for input_, more in zip(listed, whole, strict=True)]
    return {"paused": summary.paused, "turn": summary.turn, "waiting": rows}


def row(head: Head) -> JsonObject:
    members = {name: getattr(head, name, None) for name in MEMBERS[Head]}
    return {**members, "seq": head.last_seq, "ended": head.ended or None}


def question_rows(
    questions: Sequence[tuple[ConversationId, ApprovalRequest]], places: Sequence[tuple[int, float] | None]
) -> list[JsonObject]:
    """Open questions with the seq and time of each, oldest first; null where unknown."""
    rows = [
        {**question(conversation, request), "seq": place and place[0], "ts": place and place[1]}
        for (conversation, request), place in zip(questions, places, strict=True)
    ]
    return sorted(rows, key=lambda row: row["ts"] or 0.0)


def question(conversation: ConversationId, request: ApprovalRequest) -> JsonObject:
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
