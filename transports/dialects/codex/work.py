"""Work and questions under Codex's names: commands, patches and tools of MCP servers. Pure.

Codex clients of August 2025 know no other work; `notices` has a line of text for it. A call is read as the same kind
of work from its beginning to its end.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping

from msgspec import Struct, convert

from actors.vocabulary import events as ev
from transports.dialects.codex.questions import UNKNOWN_CWD, Changes, CodexWork, codex_question
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
Hint = Mapping[str, Mapping[str, object]]  # Codex's name of a purpose, and its members
BEGAN, OUTPUT, ENDED = (ev.type_of(kind) for kind in (ev.WorkBegan, ev.WorkOutput, ev.WorkEnded))


class CommandBegins(CodexWork, frozen=True, tag="exec_command_begin"):
    command: list[str]
    cwd: str
    parsed_cmd: list[Hint]


class CommandWrites(CodexWork, frozen=True, tag="exec_command_output_delta"):
    stream: str
    chunk: list[int]


class CodexDuration(Struct, frozen=True):
    secs: int = 0
    nanos: int = 0


class CommandEnds(CodexWork, frozen=True, tag="exec_command_end"):
    stdout: str
    stderr: str
    exit_code: int
    duration: CodexDuration


class PatchBegins(CodexWork, frozen=True, tag="patch_apply_begin"):
    auto_approved: bool
    changes: Changes


class PatchEnds(CodexWork, frozen=True, tag="patch_apply_end"):
    stdout: str
    stderr: str
    success: bool


class Invocation(Struct, frozen=True):
    server: str
    tool: str
    arguments: object


class ToolBegins(CodexWork, frozen=True, tag="mcp_tool_call_begin"):
    invocation: Invocation


class ToolEnds(CodexWork, frozen=True, tag="mcp_tool_call_end"):
    invocation: Invocation
    duration: CodexDuration
    result: Mapping[str, object]  # `Ok` with the server's own result, or `Err`


def codex_work(event: Event) -> CodexWork | None:
    """Work or a question as a Codex event; None for any other event, and for work that Codex has no event for."""
    if event["type"] == ev.APPROVAL_REQUESTED:
        # Such clients are asked about tools and forms, too, but have no event for them.
        return None if event["subject"]["kind"] in {"tool", "form"} else codex_question(event)
    kind = event["subject"]["kind"] if event["type"] == BEGAN else event.get("kind", "command")
    write = WRITERS.get((event["type"], kind))
    return None if write is None else write(event)


def command_words(event: Event) -> list[str]:
    """The command of work that begins, or its agent's title where the words are not known."""
    return event["subject"].get("command") or [(event.get("agent_call") or {}).get("title") or "a command"]


def exit_code(event: Event) -> int:
    code = event.get("exit_code")
    return UNTOLD_CODES.get(event["status"], -1) if code is None else int(code)


def patch_output(event: Event) -> tuple[str, str]:
    """Both streams of a patch that has ended. A third-party agent has one text for both."""
    output, errors = event.get("output", ""), event.get("errors", "")
    if event.get("agent_call") and event["status"] != "completed":
        output, errors = "", errors or output or event["status"]
    return output, errors


def _command_begins(event: Event) -> CodexWork:
    subject, command = event["subject"], command_words(event)
    unknown: list[Hint] = [{"Unknown": {"cmd": command_line(command)}}]
    hints = _hints(subject) if event.get("agent_call") is None else unknown
    return CommandBegins(event["call_id"], command, subject.get("cwd") or UNKNOWN_CWD, hints)


def _hints(subject: Event) -> list[Hint]:
    hints = ((hint, *HINTS[hint.get("purpose", "unknown")]) for hint in subject.get("hints", ()))
    return [{name: {member: hint.get(member) for member in members}} for hint, name, *members in hints]


def _command_writes(event: Event) -> CodexWork:
    return CommandWrites(event["call_id"], event.get("stream", "stdout"), list(b64decode(event["chunk"])))


def _command_ends(event: Event) -> CodexWork:
    output, errors = (event.get(name, "")[:OUTPUT_LENGTH] for name in ("output", "errors"))
    return CommandEnds(event["call_id"], output, errors, exit_code(event), _duration(event))


def _patch_begins(event: Event) -> CodexWork:
    return PatchBegins(event["call_id"], event.get("auto_approved", False), event["subject"]["changes"])


def _patch_ends(event: Event) -> CodexWork:
    return PatchEnds(event["call_id"], *patch_output(event), success=event["status"] == "completed")


def _tool_begins(event: Event) -> CodexWork:
    return ToolBegins(event["call_id"], _invocation(event["subject"]))


def _tool_ends(event: Event) -> CodexWork:
    result = event.get("result")
    came_to = {"Err": event.get("errors", "")} if result is None else {"Ok": result}
    return ToolEnds(event["call_id"], _invocation(event.get("subject") or {}), _duration(event), came_to)


def _invocation(subject: Event) -> Invocation:
    return Invocation(subject.get("server", ""), subject.get("tool", ""), subject.get("arguments"))


def _duration(event: Event) -> CodexDuration:
    return convert(event.get("duration") or {}, CodexDuration)


WRITERS: Mapping[tuple[str, str], Callable[[Event], CodexWork]] = {
    (BEGAN, "command"): _command_begins,
    (OUTPUT, "command"): _command_writes,
    (ENDED, "command"): _command_ends,
    (BEGAN, "files"): _patch_begins,
    (ENDED, "files"): _patch_ends,
    (BEGAN, "tool"): _tool_begins,
    (ENDED, "tool"): _tool_ends,
}
