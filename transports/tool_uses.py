"""Tool uses of third-party agents, for readers that know only commands and patches. Pure.

The journal is not changed. A call is read as the same kind of thing from its beginning to its end; a call that is
neither a command nor a patch becomes a line of text.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from actors.vocabulary.visible_text import visible
from transports.question_text import command_line, reason_with_all

Event = Mapping[str, Any]

UNKNOWN_CWD = "/"  # for a required member
USES = frozenset({"tool_use_begin", "tool_use_delta", "tool_use_end", "tool_use_approval_request"})
TOOL = "use-tool"  # first word where a command is required but there is none; no program is called this
FAILED = 1  # exit status if the agent gives none; an interrupted command has -1, as our own have
LONGEST = 300  # characters of the line for a call


def read_as(event: Event) -> Event | None:
    """The event of a command or a patch in place of a tool use; any other event unchanged; None: left out."""
    if event.get("type") == "tool_use_approval_request":
        return _asks(event)
    write = WRITERS.get((str(event.get("type")), str(event.get("reads_as"))))
    if write is not None:
        return write(event)
    return None if event.get("type") == "tool_use_delta" else event


def command_of(event: Event) -> list[str]:
    """The command, or the title in its place if the agent gives no command."""
    return list(event.get("command") or (event.get("title") or "a command",))


def describe_use(event: Event) -> str:
    """A call in a line: the command or the title."""
    words = " ".join(str(event.get("title") or event.get("kind") or "a tool").split())
    line = command_line(event["command"]) if event.get("command") else visible(words)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def failure(event: Event) -> str:
    """The end of a call in a line; empty if it ended well."""
    if event["status"] == "completed" and not event.get("exit_code"):
        return ""
    how = "was cancelled" if event["status"] == "cancelled" else "failed"
    code = f", exit {event['exit_code']}" if event.get("exit_code") is not None else ""
    first_line = next((line for line in str(event.get("output") or "").splitlines() if line.strip()), "")
    return f"{describe_use(event)} {how}{code}{first_line and f': {visible(first_line)[:LONGEST]}'}"


def _common(event: Event) -> dict[str, Any]:
    return {"call_id": event["call_id"], "item_id": event.get("item_id", "")}


def _command_begins(event: Event) -> Event:
    command = command_of(event)
    parsed = [{"Unknown": {"cmd": command_line(command)}}]
    cwd = event.get("cwd") or UNKNOWN_CWD
    members = {"type": "exec_command_begin", "command": command, "cwd": cwd, "parsed_cmd": parsed}
    return {**_common(event), **members}


def _command_writes(event: Event) -> Event:
    chunk = b64encode(str(event["delta"]).encode(errors="replace")).decode()
    return {**_common(event), "type": "exec_command_output_delta", "stream": "stdout", "chunk": chunk}


def _command_ends(event: Event) -> Event:
    code = event.get("exit_code")
    if code is None:
        code = {"completed": 0, "failed": FAILED}.get(event["status"], -1)
    members = {"type": "exec_command_end", "stdout": event.get("output") or "", "stderr": "", "exit_code": code}
    return {**_common(event), **members, "duration": event.get("duration") or {"secs": 0, "nanos": 0}}


def _patch_begins(event: Event) -> Event:
    members = {"type": "patch_apply_begin", "auto_approved": False, "changes": event.get("changes") or {}}
    return {**_common(event), **members}


def _patch_ends(event: Event) -> Event:
    succeeded, output = event["status"] == "completed", str(event.get("output") or "")
    streams = {"stdout": output, "stderr": ""} if succeeded else {"stdout": "", "stderr": output or event["status"]}
    return {**_common(event), "type": "patch_apply_end", "success": succeeded, **streams}


def _asks(event: Event) -> Event:
    event = {**event, "reason": reason_with_all(event)}
    if event.get("changes") and not event.get("command"):
        return {**event, "type": "apply_patch_approval_request"}
    words = event.get("command") or [TOOL, *(str(event.get(name) or "") for name in ("kind", "title", "arguments"))]
    return {**event, "type": "exec_approval_request", "command": words, "cwd": event.get("cwd") or UNKNOWN_CWD}


WRITERS: Mapping[tuple[str, str], Callable[[Event], Event | None]] = {
    ("tool_use_begin", "command"): _command_begins,
    ("tool_use_delta", "command"): _command_writes,
    ("tool_use_end", "command"): _command_ends,
    ("tool_use_begin", "patch"): _patch_begins,
    ("tool_use_end", "patch"): _patch_ends,
}
