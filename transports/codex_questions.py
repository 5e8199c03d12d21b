"""Questions of MCP servers and third-party agents in a form that Codex clients can answer: as a command.

Pure. Codex clients of 2025 know commands and patches only; any other question would block their turn.
"""

from pathlib import Path

from actors.vocabulary.events import (
    ApplyPatchApprovalRequest,
    ApprovalRequest,
    ElicitationApprovalRequest,
    ExecApprovalRequest,
    McpToolCallApprovalRequest,
    ToolUseApprovalRequest,
)
from transports import question_text
from transports.tool_uses import TOOL

USE, ANSWER = "use-mcp-tool", "answer-mcp-server"  # no program is called this

ServerQuestion = McpToolCallApprovalRequest | ElicitationApprovalRequest


def as_codex_question(request: ApprovalRequest) -> ApprovalRequest:
    """A third-party agent's question as a command or a patch; any other question unchanged.

    Its reason contains the rest where the command or the changes alone leave something out.
    """
    if not isinstance(request, ToolUseApprovalRequest):
        return request
    common = {
        "call_id": request.call_id,
        "reason": question_text.reason_with_all(request.model_dump(mode="json")),
        "outside_sandbox": bool(request.outside_sandbox),
        "approval_id": request.approval_id,
        "item_id": request.item_id,
        "deadline_s": request.deadline_s,
        "default": request.default,
    }
    if request.changes and not request.command:
        return ApplyPatchApprovalRequest.model_validate({**common, "changes": request.changes})
    words = request.command or (TOOL, request.kind, request.title, request.arguments)
    return ExecApprovalRequest.model_validate({**common, "command": words, "cwd": request.cwd or Path("/")})


def as_command(request: ServerQuestion) -> tuple[str, ...]:
    """The question as a command line: its kind, its server, then the details."""
    if isinstance(request, McpToolCallApprovalRequest):
        return USE, request.server, request.tool, request.arguments
    page = (request.url,) if request.url else ()
    return ANSWER, request.server, request.message, *request.fields, *page


def reason_text(request: ServerQuestion) -> str:
    """The reason, which says that this is no command."""
    event = request.model_dump(mode="json")
    plain = f"no command: {question_text.title(event)}"
    return f"{plain} {event['reason']}" if event.get("reason") else plain
