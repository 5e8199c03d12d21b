"""Questions of MCP servers in a shape that Codex's clients can answer: a command that says what it stands for.

Pure. Codex clients of 2025 know commands and patches; anything else would leave their turn waiting for somebody else.
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
from transports import question
from transports.tool_uses import TOOL

USE, ANSWER = "use-mcp-tool", "answer-mcp-server"  # no program has such a name

ServerQuestion = McpToolCallApprovalRequest | ElicitationApprovalRequest


def as_known(request: ApprovalRequest) -> ApprovalRequest:
    """The question of an agent of others as one about a command or a patch; any other question as it is.

    The reason has all of it where a command or changes alone would not be all.
    """
    if not isinstance(request, ToolUseApprovalRequest):
        return request
    common = {
        "call_id": request.call_id,
        "reason": question.reason_with_all(request.model_dump(mode="json")),
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
    """The question as words: what it is, then whose, then all that is asked."""
    if isinstance(request, McpToolCallApprovalRequest):
        return USE, request.server, request.tool, request.arguments
    page = (request.url,) if request.url else ()
    return ANSWER, request.server, request.message, *request.fields, *page


def why(request: ServerQuestion) -> str:
    """The reason, which says that it is no command."""
    asked = request.model_dump(mode="json")
    plain = f"no command: {question.title(asked)}"
    return f"{plain} {asked['reason']}" if asked.get("reason") else plain
