"""Events of earlier versions as those of today: what is read from a journal or an export goes through here. Pure.

Until 0.2 each kind of work and of question had event types of its own, with the names and members of Codex. Nothing
is rewritten on disk: an old event is read as a new one whenever it is read.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from actors.vocabulary.events import durable_adapter
from actors.vocabulary.records import Head, KeptText, Record

Event = Mapping[str, Any]

USE_MEMBERS = ("title", "places", "arguments")
QUESTION_MEMBERS = (
    "approval_id",
    "call_id",
    "item_id",
    "reason",
    "outside_sandbox",
    "deadline_s",
    "default",
    "options",
    "retry",
    "failed",
    "history_of",
    "background",
    "inside_or_outside",
    "grant_root",
    "obeyed_by",
    "fingerprint",
    "changed",
    "agent",
    "beyond",
)
FORM_MEMBERS = ("server", "message", "fields", "form", "url")
PURPOSES = {
    "Read": "reads",
    "ListFiles": "lists",
    "Search": "searches",
    "Format": "formats",
    "Test": "tests",
    "Lint": "lints",
    "Noop": "nothing",
}
KINDS = {"exec": "command", "patch": "files", "mcp": "tool", "command": "command"}
BROKEN = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
OLD_CHECKPOINT = (b'"kind":"exec"', b'"kind":"patch"', b'"kind":"mcp"', b'"kind":"use"', b'_approval_request"')


def read_record(record: Record) -> Record:
    if record.type not in READERS:
        return record
    try:
        event = durable_adapter.validate_json(_encode(read_event(json.loads(record.body))))
    except BROKEN:
        return record  # whoever validates it says what is wrong
    return replace(record, type=event.type, body=event.model_dump_json().encode())


def read_text(text: KeptText) -> KeptText:
    event = json.loads(text.body)
    return replace(text, body=_encode(read_event(event))) if event.get("type") in READERS else text


def read_head(head: Head) -> Head:
    """A head with a checkpoint of today: an open turn has work and questions in it."""
    if not any(sign in head.checkpoint for sign in OLD_CHECKPOINT):
        return head
    facts = json.loads(head.checkpoint)
    if turn := facts.get("turn"):
        turn["items"] = [[item, _open_item(opened)] for item, opened in turn.get("items", ())]
        turn["approvals"] = [read_event(asked) for asked in turn.get("approvals", ())]
    return replace(head, checkpoint=_encode(facts))


def read_event(event: Event) -> Event:
    """The event of today for an event of any version."""
    read = READERS.get(str(event.get("type")))
    return event if read is None else read(event)


def _encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


# --- work -----------------------------------------------------------------------------------------------------------


def _beginning(event: Event, subject: Event, **more: object) -> Event:
    return {"type": "work_began", **_members(event, "call_id", "item_id"), "subject": subject, **more}


def _ending(event: Event, kind: str, status: str, **more: object) -> Event:
    common = _members(event, "call_id", "item_id", "duration", "cut")
    return {"type": "work_ended", **common, "kind": kind, "status": status, **more}


def _command_began(event: Event) -> Event:
    hints = [_hint(name, parsed) for hint in event.get("parsed_cmd", ()) for name, parsed in hint.items()]
    return _beginning(event, {"kind": "command", **_members(event, "command", "cwd", "tool"), "hints": hints})


def _hint(name: str, parsed: Event) -> Event:
    return {"purpose": PURPOSES.get(name, "unknown"), **parsed}


def _command_wrote(event: Event) -> Event:
    chunk = event["chunk"]  # bytes as numbers until September 2025
    written = chunk if isinstance(chunk, str) else b64encode(bytes(chunk)).decode()
    return {"type": "work_output", **_members(event, "call_id", "item_id", "stream"), "chunk": written}


def _command_ended(event: Event) -> Event:
    code = event["exit_code"]
    status = "cancelled" if event.get("cut") else "failed" if code else "completed"
    return _ending(event, "command", status, **_streams(event), exit_code=code)


def _streams(event: Event) -> Event:
    return {"output": event.get("stdout", ""), "errors": event.get("stderr", "")}


def _patch_began(event: Event) -> Event:
    subject = {"kind": "files", "changes": event["changes"]}
    return _beginning(event, subject, auto_approved=event.get("auto_approved", False))


def _patch_ended(event: Event) -> Event:
    failed = "cancelled" if event.get("stderr") == "aborted" else "failed"
    return _ending(event, "files", "completed" if event["success"] else failed, **_streams(event))


def _tool_began(event: Event) -> Event:
    return _beginning(event, _tool(event["invocation"]))


def _tool(invocation: Event) -> Event:
    return {"kind": "tool", **_members(invocation, "server", "tool", "arguments")}


def _tool_ended(event: Event) -> Event:
    result = event["result"]
    subject = _tool(event["invocation"])
    if "Ok" in result:
        answer = result["Ok"]
        failed = bool(answer.get("isError") or answer.get("is_error"))
        return _ending(event, "tool", "failed" if failed else "completed", subject=subject, result=answer)
    status = "cancelled" if result.get("Err") == "aborted" else "failed"
    return _ending(event, "tool", status, subject=subject, errors=result.get("Err", ""))


def _picture(event: Event) -> Event:
    return _ending(event, "picture", "completed", subject={"kind": "picture", **_members(event, "path")})


def _search(event: Event) -> Event:
    subject = {"kind": "search", **_members(event, "query", "wire", "model", "kept")}
    return _ending(event, "search", "completed", subject=subject)


# --- the work of third-party agents ---------------------------------------------------------------------------------


def _use_began(event: Event) -> Event:
    return _beginning(event, _subject_of_use(event), agent_call=_agent_call(event))


def _use_wrote(event: Event) -> Event:
    chunk = b64encode(str(event["delta"]).encode(errors="replace")).decode()
    return {
        "type": "work_output",
        **_members(event, "call_id", "item_id"),
        "kind": _kind_of_use(event),
        "chunk": chunk,
    }


def _use_ended(event: Event) -> Event:
    known = {"subject": _subject_of_use(event), "agent_call": _agent_call(event)}
    return _ending(event, _kind_of_use(event), event["status"], **known, **_members(event, "output", "exit_code"))


def _kind_of_use(event: Event) -> str:
    if event.get("command"):
        return "command"  # also where it changed files, as it would begin today
    return KINDS.get(event.get("reads_as", "other"), "other")


def _subject_of_use(event: Event) -> Event:
    changes = event.get("changes") or {}
    if event.get("command") or (event.get("kind") == "execute" and not changes):
        return {"kind": "command", **_members(event, "command", "cwd"), "changes": changes}
    return {"kind": "files", "changes": changes} if changes else {"kind": "other"}


def _agent_call(event: Event) -> Event:
    return {"sort": event.get("kind", "other"), **_members(event, *USE_MEMBERS)}


# --- questions ------------------------------------------------------------------------------------------------------


def _question(event: Event, subject: Event, **more: object) -> Event:
    return {"type": "approval_requested", **_members(event, *QUESTION_MEMBERS), "subject": subject, **more}


def _command_asked(event: Event) -> Event:
    outside = event.get("outside_sandbox")  # not said before 0.2, when each such command ran outside
    subject = {"kind": "command", **_members(event, "command", "cwd")}
    return _question(event, subject, outside_sandbox=True if outside is None else outside)


def _patch_asked(event: Event) -> Event:
    return _question(event, {"kind": "files", "changes": event["changes"]})


def _tool_asked(event: Event) -> Event:
    return _question(event, _tool(event), outside_sandbox=event.get("outside_sandbox", True))


def _form_asked(event: Event) -> Event:
    return _question(event, {"kind": "form", **_members(event, *FORM_MEMBERS)})


def _use_asked(event: Event) -> Event:
    return _question(event, _subject_of_use(event), agent_call=_agent_call(event))


# --- the facts of an open turn --------------------------------------------------------------------------------------


def _open_item(opened: Event) -> Event:
    kind, call = opened.get("kind"), opened.get("call")
    if kind == "use":
        use = opened.get("use") or {}
        known = {"subject": _subject_of_use(use), "agent_call": _agent_call(use)}
        return {"call": call, "kind": _kind_of_use(use), **known}
    if kind == "mcp":
        return {
            "call": call,
            "kind": "tool",
            "subject": _tool(opened.get("invocation") or {"server": "", "tool": ""}),
        }
    return {"call": call, "kind": KINDS[kind]} if kind in {"exec", "patch"} else opened


def _members(event: Event, *names: str) -> dict[str, Any]:
    return {name: event[name] for name in names if name in event}


READERS: Mapping[str, Callable[[Event], Event]] = {
    "exec_command_begin": _command_began,
    "exec_command_output_delta": _command_wrote,
    "exec_command_end": _command_ended,
    "patch_apply_begin": _patch_began,
    "patch_apply_end": _patch_ended,
    "mcp_tool_call_begin": _tool_began,
    "mcp_tool_call_end": _tool_ended,
    "view_image_tool_call": _picture,
    "web_search_end": _search,
    "tool_use_begin": _use_began,
    "tool_use_delta": _use_wrote,
    "tool_use_end": _use_ended,
    "exec_approval_request": _command_asked,
    "apply_patch_approval_request": _patch_asked,
    "mcp_tool_call_approval_request": _tool_asked,
    "elicitation_approval_request": _form_asked,
    "tool_use_approval_request": _use_asked,
}
# The kinds and texts of old events for the search, which SQLite reads from their rows as they are.
OLD_SEARCHED_EVENTS = {
    "exec_command_begin": ("command", "(SELECT group_concat(value, ' ') FROM json_each(body, '$.command'))"),
    "exec_command_end": (
        "output",
        "coalesce(json_extract(body, '$.stdout'), '') || char(10) || coalesce(json_extract(body, '$.stderr'), '')",
    ),
    "tool_use_begin": (
        "command",
        (
            "coalesce((SELECT group_concat(value, ' ') FROM json_each(body, '$.command')), "
            "json_extract(body, '$.title'))"
        ),
    ),
    "tool_use_end": ("output", "json_extract(body, '$.output')"),
}
