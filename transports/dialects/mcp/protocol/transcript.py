"""A history to read: in Markdown for people and models, as JSON for programs. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping

from actors.vocabulary.events import APPROVAL_REQUESTS
from actors.vocabulary.records import Record
from actors.vocabulary.visible_text import visible
from transports.jsonrpc import JsonObject
from transports.notices import NOTICES, Notice
from transports.question_text import command_line, sandbox_text, summary
from transports.tool_uses import read_as

CONTEXT = "**Context**"
OUTPUT_LINES = 20  # of a command's output; its end says most


def as_markdown(records: Iterable[Record], *, context: bool = True) -> str:
    """The transcript. Without `context`, the agent's surroundings and guides are left out."""
    parts = filter(None, map(part_of, records))
    return "\n\n".join(part for part in parts if context or not part.startswith(CONTEXT))


def part_of(record: Record) -> str:
    """The text of one event; empty if a reader does not need it."""
    if record.type not in PARTS:
        return ""
    event = dict(read_as(json.loads(record.body)) or {})
    return PARTS[event["type"]](event) if event.get("type") in PARTS else ""


def as_json(record: Record) -> JsonObject:
    return {"seq": record.seq, "ts": record.ts, "turn": record.turn, "event": json.loads(record.body)}


def _user_message(event: JsonObject) -> str:
    who = "**User**" if event.get("kind", "plain") == "plain" else CONTEXT
    return f"{who}\n\n{event['message']}"


def _command_begins(event: JsonObject) -> str:
    line = command_line(event["command"])
    return _code_block(line) if event.get("tool") else _code_block(f"$ {line}", "sh")


def _command_ends(event: JsonObject) -> str:
    lines = (event["stdout"] + event["stderr"]).splitlines()
    left_out = len(lines) - OUTPUT_LINES
    shown_lines = [f"… {left_out} lines"] * (left_out > 0) + lines[-OUTPUT_LINES:]
    return _code_block("\n".join([*shown_lines, f"[exit {event['exit_code']}]"]))


def _patch(event: JsonObject) -> str:
    return "Patch: " + ", ".join(f"`{visible(path)}`" for path in event["changes"])


def _approval_request(event: JsonObject) -> str:
    return f"*Asked for approval, {sandbox_text(event)}:*\n\n{_code_block(summary(event))}"


def _plan(event: JsonObject) -> str:
    marks = {"completed": "x", "in_progress": "~", "pending": " "}
    return "\n".join(f"- [{marks[step['status']]}] {step['step']}" for step in event["plan"])


def _notice_writer(notice: Notice) -> Callable[[JsonObject], str]:
    """A function for the notice of an event in italics, with a capital first letter; an empty one is left out."""

    def write(event: JsonObject) -> str:
        text = visible(notice(event))
        return f"*{text[:1].upper()}{text[1:]}*" if text else ""

    return write


def _code_block(text: str, kind: str = "") -> str:
    """The text between fences that are longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{kind}\n{text}\n{fence}"


PARTS: Mapping[str, Callable[[JsonObject], str]] = {
    "session_configured": lambda event: f"# {event.get('name') or event['session_id']}",
    "user_message": _user_message,
    "agent_message": lambda event: f"**Agent**\n\n{event['message']}" + (" *(cut)*" if event.get("partial") else ""),
    "exec_command_begin": _command_begins,
    "exec_command_end": _command_ends,
    "patch_apply_begin": _patch,
    **dict.fromkeys(APPROVAL_REQUESTS, _approval_request),
    "approval_resolved": lambda event: f"*{event['decision']}{' by ' + event['by'] if event.get('by') else ''}*",
    "patch_apply_end": lambda event: "" if event["success"] else f"*The patch failed: {event['stderr']}*",
    "plan_update": _plan,
    **{kind: _notice_writer(notice) for kind, notice in NOTICES.items()},
    "error": lambda event: f"*Error: {event['message']}*",
    "turn_aborted": lambda event: f"*Turn {event['reason']}*",
}
