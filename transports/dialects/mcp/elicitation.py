"""How an approval is put to a person, and how the reply is read. Pure.

The members with `codex_` are for Codex clients; SDK clients strip them, so the message says what there is to know:
what would run and where, by the text that every surface has, and last what the agent says of it.
"""

from dataclasses import dataclass
from typing import Any

from actors.events import ApprovalRequest, ExecApprovalRequest
from actors.ids import ConversationId
from actors.quoting import quoted_command
from actors.settings import Decision
from actors.visible import misread
from transports import question

LINES_SHOWN = 200  # of a command or a patch, in the message; the middle of more is left out, and that is said
SENTENCE_LENGTH = 200  # of a command that is read within a sentence; a longer one has lines of its own
DESCRIBED_LENGTH = 300  # of what waits, where a client can only be told
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
            "message": message(request, more=origin.more_text),
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
        "message": message(request, more=origin.more_text),
        "requestedSchema": schema,
        "codex_elicitation": "patch-approval",
        **common,
        **{name: value for name, value in optional.items() if value is not None},
        "codex_changes": _tagged(told["changes"]) if origin.more_text else told["changes"],
    }


def message(request: ApprovalRequest, *, more: bool) -> str:
    """With `more`, or where there is more to say than the reference does: all of it."""
    asked = request.model_dump(mode="json")
    opening = _opening(request)
    if opening is not None and not more and request.reason is None and not asked.get("grant_root"):
        return opening
    see = f"`greenroom approvals {request.approval_id}` shows all of it"
    facts = question.drawn(asked, most=LINES_SHOWN, see=see)
    return f"{opening or 'Allow Codex to run this command?'}\n{facts.text}"


def _opening(request: ApprovalRequest) -> str | None:
    """The reference's words, unless somebody could misread what stands in them."""
    if not isinstance(request, ExecApprovalRequest):
        return "Allow Codex to apply proposed code changes?"
    command, cwd = quoted_command(request.command), str(request.cwd)
    if len(command) > SENTENCE_LENGTH or "`" in command + cwd or misread(command) or misread(cwd):
        return None
    return f"Allow Codex to run `{command}` in `{cwd}`?"


def described(request: ApprovalRequest) -> str:
    """In a line, for progress: what, where, and what of it is not said."""
    asked = request.model_dump(mode="json")
    what = question.summary(asked)
    left_out = len(what) - DESCRIBED_LENGTH
    if left_out > 0:
        what = f"{what[:DESCRIBED_LENGTH]}… ({left_out:,} more characters)"
    where = f" in `{question.place(asked['cwd'])}`" if "cwd" in asked else ""
    return f"`{what}`{where}{', outside the sandbox' if question.outside(asked) else ''}"


def decision_of(result: Any) -> tuple[Decision | None, str]:
    """Codex's own shape, or MCP's. None: the question was dismissed without a choice. What is neither is a no."""
    if isinstance(result, dict):
        known, said = (DECISIONS, result["decision"]) if "decision" in result else (ACTIONS, result.get("action"))
        if isinstance(said, str) and said in known:
            return known[said], ""
    return Decision.DENIED, "the client's reply could not be read"


def _tagged(changes: dict[str, Any]) -> dict[str, Any]:
    """As Codex has written them since the autumn of 2025: the kind is a member, and what is deleted has a content."""
    kinds = {path: {"delete": {"content": ""}} if change == "delete" else change for path, change in changes.items()}
    return {path: {"type": kind, **change[kind]} for path, change in kinds.items() for kind in change}
