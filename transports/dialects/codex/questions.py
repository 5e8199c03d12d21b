"""Questions in a form that Codex clients can answer: as a command or a patch. Pure.

Codex clients of 2025 know no other question; any other would block their turn.
"""

from collections.abc import Mapping

from msgspec import Struct

from actors.vocabulary.ids import CallId
from transports import question_text
from transports.question_text import QuestionEvent

# First words where a command is required but there is none; no program is called this.
TOOL, SERVER_TOOL, ANSWER = "use-tool", "use-mcp-tool", "answer-mcp-server"
UNKNOWN_CWD = "/"  # for a required member


Changes = Mapping[str, str | Mapping[str, Mapping[str, object]]]  # by path: the word `delete`, or a kind's members


class CodexWork(Struct, frozen=True, tag_field="type"):
    """The members of an event about a call; its type comes first."""

    call_id: CallId


class CodexCommand(CodexWork, frozen=True, omit_defaults=True, tag="exec_approval_request"):
    command: list[str]
    cwd: str
    reason: str | None = None


class CodexPatch(CodexWork, frozen=True, omit_defaults=True, tag="apply_patch_approval_request"):
    changes: Changes
    reason: str | None = None
    grant_root: str | None = None


def codex_question(event: QuestionEvent) -> CodexCommand | CodexPatch:
    """The question as one about a command or a patch.

    Its reason says what those leave out: the rest of a third-party agent's question, or that there is no command.
    """
    call, subject, reason = event["call_id"], event["subject"], question_text.reason_with_all(event)
    if question_text.is_patch(event) and not question_text.is_command(event):
        return CodexPatch(call, subject["changes"], reason, event.get("grant_root"))
    reason = _no_command(event) if subject["kind"] in {"tool", "form"} else reason
    return CodexCommand(call, question_words(event), subject.get("cwd") or UNKNOWN_CWD, reason)


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
