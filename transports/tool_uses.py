"""Tools that agents of others use, as readers see them that know commands and patches alone. Pure.

The journal stays as it is. A call reads as one thing from its beginning to its end; calls that are neither command
nor patch are told in a line.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from actors.vocabulary.visible import visible
from transports.question import command_line, reason_with_all

Event = Mapping[str, Any]

UNKNOWN_CWD = "/"  # a member that must be there
USES = frozenset({"tool_use_begin", "tool_use_delta", "tool_use_end", "tool_use_approval_request"})
TOOL = "use-tool"  # stands before what is no command where one is expected; no program has such a name
FAILED = 1  # an exit status where the agent gives none; of what was cut it is -1, as with our own commands
LONGEST = 300  # characters of a line that tells of a call


def read_as(event: Event) -> Event | None:
    """A command's or a patch's event in place of a tool's; the event itself if it is another; None: left out."""
    if event.get("type") == "tool_use_approval_request":
        return _asks(event)
    write = WRITERS.get((str(event.get("type")), str(event.get("reads_as"))))
    if write is not None:
        return write(event)
    return None if event.get("type") == "tool_use_delta" else event


def command_of(event: Event) -> list[str]:
    """The command, or what stands for it where the agent does not say it."""
    return list(event.get("command") or (event.get("title") or "a command",))


def told(event: Event) -> str:
    """A call in a line: what is used, and for what."""
    words = " ".join(str(event.get("title") or event.get("kind") or "a tool").split())
    line = command_line(event["command"]) if event.get("command") else visible(words)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def failure(event: Event) -> str:
    """The end of a call in a line if it did not end well; else nothing."""
    if event["status"] == "completed" and not event.get("exit_code"):
        return ""
    how = "was cancelled" if event["status"] == "cancelled" else "failed"
    code = f", exit {event['exit_code']}" if event.get("exit_code") is not None else ""
    said = next((line for line in str(event.get("output") or "").splitlines() if line.strip()), "")
    return f"{told(event)} {how}{code}{said and f': {visible(said)[:LONGEST]}'}"


def _common(event: Event) -> dict[str, Any]:
    return {"call_id": event["call_id"], "item_id": event.get("item_id", "")}


def _command_begins(event: Event) -> Event:
    command = command_of(event)
    parsed = [{"Unknown": {"cmd": command_line(command)}}]
    cwd = event.get("cwd") or UNKNOWN_CWD
    begun = {"type": "exec_command_begin", "command": command, "cwd": cwd, "parsed_cmd": parsed}
    return {**_common(event), **begun}


def _command_writes(event: Event) -> Event:
    chunk = b64encode(str(event["delta"]).encode(errors="replace")).decode()
    return {**_common(event), "type": "exec_command_output_delta", "stream": "stdout", "chunk": chunk}


def _command_ends(event: Event) -> Event:
    code = event.get("exit_code")
    if code is None:
        code = {"completed": 0, "failed": FAILED}.get(event["status"], -1)
    ended = {"type": "exec_command_end", "stdout": event.get("output") or "", "stderr": "", "exit_code": code}
    return {**_common(event), **ended, "duration": event.get("duration") or {"secs": 0, "nanos": 0}}


def _patch_begins(event: Event) -> Event:
    begun = {"type": "patch_apply_begin", "auto_approved": False, "changes": event.get("changes") or {}}
    return {**_common(event), **begun}


def _patch_ends(event: Event) -> Event:
    done, output = event["status"] == "completed", str(event.get("output") or "")
    streams = {"stdout": output, "stderr": ""} if done else {"stdout": "", "stderr": output or event["status"]}
    return {**_common(event), "type": "patch_apply_end", "success": done, **streams}


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
