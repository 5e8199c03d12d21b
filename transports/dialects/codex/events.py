"""Our events in the form that Codex clients of August 2025 decode strictly: types, members and lines.

Pure. Events unknown to those clients are left out here and stay in the journal. A slice is translated once for all of
its readers.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import UNSET, Struct, UnsetType, field

from actors.messages.effects import Slice
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record
from transports import jsonrpc
from transports.dialects.codex.questions import CodexWork
from transports.dialects.codex.work import codex_work
from transports.notices import NOTICES
from transports.question_text import QuestionEvent as Event

NOTICE = "background_event"
ENCODING_KEY = "codex-2025-08"  # the key of our lines in Slice.encoded

# The events that have the same names here and there, with their required members; for all others see `work`.
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "session_configured": ("session_id", "model", "history_log_id", "history_entry_count"),
    "task_started": (),
    "task_complete": ("last_agent_message",),
    "turn_aborted": ("reason",),
    "error": ("message",),
    "token_count": (
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
    ),
    "agent_message": ("message",),
    "agent_message_delta": ("delta",),
    "agent_reasoning": ("text",),
    "agent_reasoning_delta": ("delta",),
    "agent_reasoning_section_break": (),
    "agent_reasoning_raw_content": ("text",),
    "agent_reasoning_raw_content_delta": ("delta",),
    "turn_diff": ("unified_diff",),
    "background_event": ("message",),
    "plan_update": ("explanation", "plan"),
}
RENAMED_TYPES = {"stream_error": NOTICE}  # those clients have no type for a retry
KNOWN_REASONS = frozenset({"interrupted", "replaced"})
# Such a client sees the end of a failed turn like this, after its `error`.
ENDED_BADLY: Event = {"type": "task_complete", "last_agent_message": None}


class CodexEvent(Struct, frozen=True):
    """An event of a slice. `msg`: its JSON for the client; None: left out."""

    type: str  # its name in the client's protocol
    turn: TurnId | None
    msg: bytes | None
    record: Record | None = None  # None for a delta


def translate_slice(slice_: Slice) -> Iterator[CodexEvent]:
    messages = _messages(slice_)
    for record, msg in zip(slice_.records, messages, strict=False):
        yield CodexEvent(_type(msg, record.type), record.turn, msg or None, record)
    for delta, msg in zip(slice_.deltas, messages[len(slice_.records) :], strict=True):
        yield CodexEvent(_type(msg, delta.type), slice_.turn, msg or None)


def _type(msg: bytes, left_out: str) -> str:
    """The type in a translated message, where it comes first; an event that is left out has its own."""
    return msg.split(b'"', 4)[3].decode() if msg else left_out


class NoticeEvent(Struct, frozen=True, tag_field="type", tag=NOTICE):
    message: str


def seed_message(event: Event) -> CodexWork | NoticeEvent | Event | None:
    """An event in those clients' protocol; None if it is left out."""
    if (work := codex_work(event)) is not None:
        return work
    kind = RENAMED_TYPES.get(str(event["type"]), str(event["type"]))
    if kind in NOTICES:
        notice = NOTICES[kind](event)
        return NoticeEvent(notice) if notice else None
    if kind not in MEMBERS or event.get("counted") is False:  # those clients would read a missing count as zero
        return None
    if kind == "turn_aborted" and event["reason"] not in KNOWN_REASONS:
        return ENDED_BADLY
    return {"type": kind, **{name: event.get(name) for name in MEMBERS[kind]}}


def _messages(slice_: Slice) -> list[bytes]:
    """One line per record and delta, empty if left out. JSON has no line breaks, so the lines can be split again."""
    if not (slice_.records or slice_.deltas):
        return []
    lines = slice_.encoded.get(ENCODING_KEY)
    if lines is None:
        events = [json.loads(record.body) for record in slice_.records]
        events += [delta.model_dump(mode="json") for delta in slice_.deltas]
        lines = slice_.encoded[ENCODING_KEY] = b"\n".join(_line(event) for event in events)
    return lines.split(b"\n")


def _line(event: Event) -> bytes:
    msg = seed_message(event)
    return encode_message(msg) if msg is not None else b""


# --- lines: assembled from encoded JSON -----------------------------------------------------------------------------


class EventParams(Struct, frozen=True):
    """The params of an event's notification, besides the event."""

    meta: Struct | UnsetType = field(name="_meta", default=UNSET)
    id: str | UnsetType = UNSET


def event_notification(method: str, params: EventParams, msg: bytes) -> bytes:
    """The line of a notification: `params` first, then the event as `msg`."""
    head = jsonrpc.line(params)[:-2]
    comma = b"," if len(head) > 1 else b""
    return _start(method) + head + comma + b'"msg":' + msg + b"}}\n"


def listener_notification(kind: str, event_id: str, conversation: str, msg: bytes) -> bytes:
    tail = jsonrpc.line({"conversationId": conversation})[1:-1]
    event = jsonrpc.line({"id": event_id})[:-2] + b',"msg":' + msg + b"," + tail
    return _start(f"codex/event/{kind}") + event + b"}\n"


def initial_state(meta: Struct, messages: list[bytes]) -> bytes:
    events = b",".join(b'{"msg":' + msg + b"}" for msg in messages)
    head = jsonrpc.line({"_meta": meta})[:-2]
    return _start("notifications/initial_state") + head + b',"initial_state":{"events":[' + events + b"]}}}\n"


def _start(method: str) -> bytes:
    return jsonrpc.line({"jsonrpc": "2.0", "method": method})[:-2] + b',"params":'


def history_of(messages: Iterable[bytes], left_out: int) -> list[bytes]:
    """The messages, preceded by an event that counts the earlier ones that were left out."""
    marker = NoticeEvent(f"{left_out} earlier events are not shown")
    return [encode_message(marker), *messages] if left_out else list(messages)


def encode_message(msg: Struct | Event) -> bytes:
    return jsonrpc.line(msg).rstrip(b"\n")
