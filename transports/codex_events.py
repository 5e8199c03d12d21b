"""Our events in the form that Codex clients of August 2025 decode strictly: types, members and lines.

Pure. Events unknown to those clients are left out here and stay in the journal. A slice is translated once for all of
its readers.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from actors.messages.effects import Slice
from actors.vocabulary.ids import TurnId
from actors.vocabulary.records import Record
from transports import jsonrpc
from transports.jsonrpc import JsonObject
from transports.notices import NOTICES
from transports.tool_uses import USES, read_as

OUTPUT_LENGTH = 5120  # characters of stdout and of stderr in exec_command_end
ENCODING_KEY = "codex-2025-08"  # the key of our lines in Slice.encoded

# Required members.
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
    "exec_approval_request": ("call_id", "command", "cwd"),
    "exec_command_begin": ("call_id", "command", "cwd", "parsed_cmd"),
    "exec_command_output_delta": ("call_id", "stream", "chunk"),
    "exec_command_end": ("call_id", "stdout", "stderr", "exit_code", "duration"),
    "apply_patch_approval_request": ("call_id", "changes"),
    "patch_apply_begin": ("call_id", "auto_approved", "changes"),
    "patch_apply_end": ("call_id", "stdout", "stderr", "success"),
    "turn_diff": ("unified_diff",),
    "background_event": ("message",),
    "plan_update": ("explanation", "plan"),
    "mcp_tool_call_begin": ("call_id", "invocation"),
    "mcp_tool_call_end": ("call_id", "invocation", "duration", "result"),
}
# Members that are left out when they are null.
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "exec_approval_request": ("reason",),
    "apply_patch_approval_request": ("reason", "grant_root"),
}
RENAMED_TYPES = {"stream_error": "background_event"}  # those clients have no type for a retry
KNOWN_REASONS = frozenset({"interrupted", "replaced"})
ENDED_BADLY = b'{"type":"task_complete"'  # such a client sees the end of a failed turn like this, after its `error`


class CodexEvent(Struct, frozen=True):
    """An event of a slice. `msg`: its JSON for the client; None: left out."""

    type: str  # its name in the client's protocol
    turn: TurnId | None
    msg: bytes | None
    record: Record | None = None  # None for a delta


def translate_slice(slice_: Slice) -> Iterator[CodexEvent]:
    messages = _messages(slice_)
    for record, msg in zip(slice_.records, messages, strict=False):
        yield CodexEvent(_type(record, msg), record.turn, msg or None, record)
    for delta, msg in zip(slice_.deltas, messages[len(slice_.records) :], strict=True):
        yield CodexEvent(_type_of_use(msg) if delta.type in USES else delta.type, slice_.turn, msg or None)


def _type(record: Record, msg: bytes) -> str:
    if record.type in USES:
        return _type_of_use(msg)
    if record.type in NOTICES:
        return NOTICE
    if record.type == "turn_aborted" and msg.startswith(ENDED_BADLY):
        return "task_complete"
    return RENAMED_TYPES.get(record.type, record.type)


def _type_of_use(msg: bytes) -> str:
    """The type in the translated message of a tool use: that of a command, a patch or a notice."""
    return msg.split(b'"', 4)[3].decode() if msg else NOTICE


def seed_message(event: Mapping[str, object]) -> JsonObject | None:
    """An event's JSON object in those clients' protocol; None if it is left out."""
    adapted = read_as(event)
    if adapted is None:
        return None
    event, kind = adapted, str(adapted.get("type"))
    kind = RENAMED_TYPES.get(kind, kind)
    if kind in NOTICES:
        notice = NOTICES[kind](event)
        return {"type": NOTICE, "message": notice} if notice else None
    if kind not in MEMBERS or event.get("counted") is False:  # those clients would read a missing count as zero
        return None
    msg = {"type": kind, **{name: event.get(name) for name in MEMBERS[kind]}}
    msg |= {name: event[name] for name in OPTIONAL.get(kind, ()) if event.get(name) is not None}
    adapt = ADAPTERS.get(kind)
    return adapt(msg) if adapt is not None else msg


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


def _line(event: Mapping[str, object]) -> bytes:
    msg = seed_message(event)
    return encode_message(msg) if msg is not None else b""


def _chunk_as_numbers(msg: JsonObject) -> JsonObject:
    return {**msg, "chunk": list(b64decode(msg["chunk"]))}


def _short_output(msg: JsonObject) -> JsonObject:
    return {**msg, "stdout": msg["stdout"][:OUTPUT_LENGTH], "stderr": msg["stderr"][:OUTPUT_LENGTH]}


def _known_reason(msg: JsonObject) -> JsonObject:
    """Map the reason of an aborted turn: without an interrupt, the turn ends like a failed one."""
    return msg if msg["reason"] in KNOWN_REASONS else {"type": "task_complete", "last_agent_message": None}


NOTICE = "background_event"
ADAPTERS: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    "exec_command_output_delta": _chunk_as_numbers,
    "exec_command_end": _short_output,
    "turn_aborted": _known_reason,
}


# --- lines: assembled from encoded JSON -----------------------------------------------------------------------------


def event_notification(method: str, params: Mapping[str, object], msg: bytes) -> bytes:
    """The line of a notification: `params` first, then the event as `msg`."""
    head = jsonrpc.line(params)[:-2]
    comma = b"," if params else b""
    return _start(method) + head + comma + b'"msg":' + msg + b"}}\n"


def listener_notification(kind: str, event_id: str, conversation: str, msg: bytes) -> bytes:
    tail = jsonrpc.line({"conversationId": conversation})[1:-1]
    event = jsonrpc.line({"id": event_id})[:-2] + b',"msg":' + msg + b"," + tail
    return _start(f"codex/event/{kind}") + event + b"}\n"


def initial_state(meta: Mapping[str, object], messages: list[bytes]) -> bytes:
    events = b",".join(b'{"msg":' + msg + b"}" for msg in messages)
    head = jsonrpc.line({"_meta": meta})[:-2]
    return _start("notifications/initial_state") + head + b',"initial_state":{"events":[' + events + b"]}}}\n"


def _start(method: str) -> bytes:
    return jsonrpc.line({"jsonrpc": "2.0", "method": method})[:-2] + b',"params":'


def history_of(messages: Iterable[bytes], left_out: int) -> list[bytes]:
    """The messages, preceded by an event that counts the earlier ones that were left out."""
    marker = {"type": "background_event", "message": f"{left_out} earlier events are not shown"}
    return [encode_message(marker), *messages] if left_out else list(messages)


def encode_message(msg: JsonObject) -> bytes:
    return jsonrpc.line(msg).rstrip(b"\n")
