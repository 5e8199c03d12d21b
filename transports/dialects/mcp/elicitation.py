"""How an approval is put to a person, and how the reply is read. Pure.

The members with `codex_` are for Codex clients; SDK clients strip them, so the message says what there is to know.
"""

from dataclasses import dataclass
from typing import Any

from actors.events import ApplyPatchApprovalRequest, ApprovalRequest, ExecApprovalRequest
from actors.ids import ConversationId
from actors.settings import Decision
from transports.quoting import quoted_command

FILES_SHOWN = 20  # of a patch, in the message; a person won't read more of them
ACTIONS: dict[str, Decision | None] = {"accept": Decision.APPROVED, "decline": Decision.DENIED, "cancel": None}
DECISIONS: dict[str, Decision | None] = {one.value: one for one in Decision if one is not Decision.WITHDRAWN}


@dataclass(frozen=True, slots=True)
class Origin:
    """Which request and which turn the question belongs to, as Codex clients name them."""

    tool_call: str
    event: str
    more_text: bool  # false for clients that match the message exactly, and know files as of August 2025
    thread: ConversationId


def elicitation(request: ApprovalRequest, origin: Origin) -> dict[str, Any]:
    """Params of `elicitation/create`."""
    common = {
        "threadId": origin.thread,
        "codex_mcp_tool_call_id": origin.tool_call,
        "codex_event_id": origin.event,
        "codex_call_id": request.call_id,
    }
    schema = {"type": "object", "properties": {}}
    if isinstance(request, ExecApprovalRequest):
        return {
            "message": _reasoned(request.reason, f"Allow Codex to run {described(request)}?"),
            "requestedSchema": schema,
            "codex_elicitation": "exec-approval",
            **common,
            "codex_command": list(request.command),
            "codex_cwd": str(request.cwd),
            "codex_parsed_cmd": [{"type": "unknown", "cmd": quoted_command(request.command)}],
        }
    told = request.model_dump(mode="json")
    optional = {"codex_reason": told["reason"], "codex_grant_root": told["grant_root"]}
    return {
        "message": _reasoned(request.reason, _patch_message(request, more=origin.more_text)),
        "requestedSchema": schema,
        "codex_elicitation": "patch-approval",
        **common,
        **{name: value for name, value in optional.items() if value is not None},
        "codex_changes": _tagged(told["changes"]) if origin.more_text else told["changes"],
    }


def described(request: ApprovalRequest) -> str:
    """In a few words, for questions and for progress."""
    if isinstance(request, ExecApprovalRequest):
        return f"`{quoted_command(request.command)}` in `{request.cwd}`"
    return f"a patch to {len(request.changes)} file(s)"


def decision_of(result: Any) -> tuple[Decision | None, str]:
    """Codex's own shape, or MCP's. None: the question was dismissed without a choice. What is neither is a no."""
    if isinstance(result, dict):
        known, said = (DECISIONS, result["decision"]) if "decision" in result else (ACTIONS, result.get("action"))
        if isinstance(said, str) and said in known:
            return known[said], ""
    return Decision.DENIED, "the client's reply could not be read"


def _reasoned(reason: str | None, message: str) -> str:
    return f"{reason}\n{message}" if reason else message


def _patch_message(request: ApplyPatchApprovalRequest, *, more: bool) -> str:
    message = "Allow Codex to apply proposed code changes?"
    if not more:
        return message
    lines = [f"{_verb(change)} {path}" for path, change in list(request.changes.items())[:FILES_SHOWN]]
    left_out = len(request.changes) - len(lines)
    lines += [f"and {left_out} more"] if left_out else []
    lines += [f"This would make {request.grant_root} writable."] if request.grant_root else []
    return "\n".join([message, *lines])


def _tagged(changes: dict[str, Any]) -> dict[str, Any]:
    """As Codex has written them since the autumn of 2025: the kind is a member, and what is deleted has a content."""
    kinds = {path: {"delete": {"content": ""}} if change == "delete" else change for path, change in changes.items()}
    return {path: {"type": kind, **change[kind]} for path, change in kinds.items() for kind in change}


def _verb(change: Any) -> str:
    if change == "delete":
        return "delete"
    return "add" if "add" in change else "update"
