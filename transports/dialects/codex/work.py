"""Work and questions under Codex's names: commands, patches and tools of MCP servers. Pure.

Codex clients of August 2025 know no other work; `notices` has a line of text for it. A call is read as the same kind
of work from its beginning to its end.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping

from actors.vocabulary import events as ev
from transports.dialects.codex.questions import UNKNOWN_CWD, CodexPatch, codex_question
from transports.jsonrpc import JsonObject
from transports.question_text import QuestionEvent as Event
from transports.question_text import command_line

OUTPUT_LENGTH = 5120  # characters of stdout and of stderr in exec_command_end
FAILED = 1  # exit status if an agent gives none; an interrupted command has -1, as our own have
UNTOLD_CODES = {"completed": 0, "failed": FAILED}
HINTS: Mapping[str, tuple[str, ...]] = {  # Codex's name of a purpose, and the members of such a hint
    "reads": ("Read", "cmd", "name"),
    "lists": ("ListFiles", "cmd", "path"),
    "searches": ("Search", "cmd", "query", "path"),
    "formats": ("Format", "cmd", "tool", "targets"),
    "tests": ("Test", "cmd"),
    "lints": ("Lint", "cmd"),
    "nothing": ("Noop", "cmd"),
    "unknown": ("Unknown", "cmd"),
}
BEGAN, OUTPUT, ENDED = (ev.type_of(kind) for kind in (ev.WorkBegan, ev.WorkOutput, ev.WorkEnded))


def codex_work(event: Event) -> JsonObject | None:
    """Work or a question as a Codex event; None for any other event, and for work that Codex has no event for."""
    if event["type"] == ev.APPROVAL_REQUESTED:
        return _question(event)
    kind = event["subject"]["kind"] if event["type"] == BEGAN else event.get("kind", "command")
    known = WRITERS.get((event["type"], kind))
    if known is None:
        return None
    name, write = known
    return {"type": name, "call_id": event["call_id"], **write(event)}


def _question(event: Event) -> JsonObject | None:
    if event["subject"]["kind"] in {"tool", "form"}:
        return None  # such clients are asked, but have no event for it
    question = codex_question(event)
    kind = "apply_patch_approval_request" if isinstance(question, CodexPatch) else "exec_approval_request"
    return {"type": kind, "call_id": event["call_id"], **question.members}


def command_words(event: Event) -> list[str]:
    """The command of work that begins, or its agent's title where the words are not known."""
    return event["subject"].get("command") or [(event.get("agent_call") or {}).get("title") or "a command"]


def exit_code(event: Event) -> int:
    code = event.get("exit_code")
    return UNTOLD_CODES.get(event["status"], -1) if code is None else int(code)


def patch_output(event: Event) -> JsonObject:
    """Both streams of a patch that has ended. A third-party agent has one text for both."""
    output, errors = event.get("output", ""), event.get("errors", "")
    if event.get("agent_call") and event["status"] != "completed":
        output, errors = "", errors or output or event["status"]
    return {"stdout": output, "stderr": errors}


def _command_begins(event: Event) -> JsonObject:
    subject, command = event["subject"], command_words(event)
    hints = _hints(subject) if event.get("agent_call") is None else [{"Unknown": {"cmd": command_line(command)}}]
    return {"command": command, "cwd": subject.get("cwd") or UNKNOWN_CWD, "parsed_cmd": hints}


def _hints(subject: Event) -> list[JsonObject]:
    hints = ((hint, *HINTS[hint.get("purpose", "unknown")]) for hint in subject.get("hints", ()))
    return [{name: {member: hint.get(member) for member in members}} for hint, name, *members in hints]


def _command_writes(event: Event) -> JsonObject:
    return {"stream": event.get("stream", "stdout"), "chunk": list(b64decode(event["chunk"]))}


def _command_ends(event: Event) -> JsonObject:
    output, errors = (event.get(name, "")[:OUTPUT_LENGTH] for name in ("output", "errors"))
    return {"stdout": output, "stderr": errors, "exit_code": exit_code(event), **_duration(event)}


def _patch_begins(event: Event) -> JsonObject:
    return {"auto_approved": event.get("auto_approved", False), "changes": event["subject"]["changes"]}


def _patch_ends(event: Event) -> JsonObject:
    return {**patch_output(event), "success": event["status"] == "completed"}


def _tool_begins(event: Event) -> JsonObject:
    return _invocation(event["subject"])


def _tool_ends(event: Event) -> JsonObject:
    result = event.get("result")
    came_to = {"Err": event.get("errors", "")} if result is None else {"Ok": result}
    return {**_invocation(event.get("subject") or {}), **_duration(event), "result": came_to}


def _invocation(subject: Event) -> JsonObject:
    server, tool = (subject.get(name, "") for name in ("server", "tool"))
    return {"invocation": {"server": server, "tool": tool, "arguments": subject.get("arguments")}}


def _duration(event: Event) -> JsonObject:
    return {"duration": event.get("duration") or {"secs": 0, "nanos": 0}}


WRITERS: Mapping[tuple[str, str], tuple[str, Callable[[Event], JsonObject]]] = {
    (BEGAN, "command"): ("exec_command_begin", _command_begins),
    (OUTPUT, "command"): ("exec_command_output_delta", _command_writes),
    (ENDED, "command"): ("exec_command_end", _command_ends),
    (BEGAN, "files"): ("patch_apply_begin", _patch_begins),
    (ENDED, "files"): ("patch_apply_end", _patch_ends),
    (BEGAN, "tool"): ("mcp_tool_call_begin", _tool_begins),
    (ENDED, "tool"): ("mcp_tool_call_end", _tool_ends),
}
