"""Questions in a form that Codex clients can answer: as a command or a patch. Pure.

Codex clients of 2025 know no other question; any other would block their turn.
"""

from msgspec import Struct

from transports import question_text
from transports.jsonrpc import JsonObject
from transports.question_text import QuestionEvent

# First words where a command is required but there is none; no program is called this.
TOOL, SERVER_TOOL, ANSWER = "use-tool", "use-mcp-tool", "answer-mcp-server"
UNKNOWN_CWD = "/"  # for a required member


class CodexCommand(Struct, frozen=True):
    command: list[str]
    cwd: str
    reason: str | None

    @property
    def members(self) -> JsonObject:
        return _without_null({"command": self.command, "cwd": self.cwd, "reason": self.reason})


class CodexPatch(Struct, frozen=True):
    changes: JsonObject
    reason: str | None
    grant_root: str | None

    @property
    def members(self) -> JsonObject:
        return _without_null({"changes": self.changes, "reason": self.reason, "grant_root": self.grant_root})


def codex_question(event: QuestionEvent) -> CodexCommand | CodexPatch:
    """The question as one about a command or a patch.

    Its reason says what those leave out: the rest of a third-party agent's question, or that there is no command.
    """
    subject, reason = event["subject"], question_text.reason_with_all(event)
    if question_text.is_patch(event) and not question_text.is_command(event):
        return CodexPatch(subject["changes"], reason, event.get("grant_root"))
    reason = _no_command(event) if subject["kind"] in {"tool", "form"} else reason
    return CodexCommand(question_words(event), subject.get("cwd") or UNKNOWN_CWD, reason)


def question_words(event: QuestionEvent) -> list[str]:
    """The question as a command: of one that is none its kind, its server or its sort of tool, then the details."""
    subject = event["subject"]
    match subject["kind"]:
        case "command" if question_text.is_command(event):
            return list(subject["command"])
        case "tool":
            return [SERVER_TOOL, subject["server"], subject["tool"], subject.get("arguments") or ""]
        case "form":
            page = [subject["url"]] if subject.get("url") else []
            return [ANSWER, subject["server"], subject["message"], *subject.get("fields", ()), *page]
        case _:
            call = event.get("agent_call") or {}
            return [TOOL, *(call.get(name) or "" for name in ("sort", "title", "arguments"))]


def _no_command(event: QuestionEvent) -> str:
    plain = f"no command: {question_text.title(event)}"
    return f"{plain} {event['reason']}" if event.get("reason") else plain


def _without_null(members: JsonObject) -> JsonObject:
    return {name: value for name, value in members.items() if value is not None}
