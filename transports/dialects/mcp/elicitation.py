"""Putting an approval to a person, and reading the reply. Pure.

The members with `codex_` are for Codex clients; SDK clients strip them, so the message says what there is to know:
what would run and where, by the text that every surface has, and last what the agent says of it.
"""

from actors.vocabulary.events import ApplyPatchApprovalRequest, ApprovalRequest, ExecApprovalRequest
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.quoting import quoted_command
from actors.vocabulary.settings import Decision
from actors.vocabulary.visible import misread
from transports import question
from transports.jsonrpc import JsonObject

LINES_SHOWN = 200  # of a command or a patch, in the message; the middle of more is left out, and that is said
SENTENCE_LENGTH = 200  # of a command that is read within a sentence; a longer one has lines of its own
ACTIONS: dict[str, Decision | None] = {"accept": Decision.APPROVED, "decline": Decision.DENIED, "cancel": None}
DECISIONS: dict[str, Decision | None] = {one.value: one for one in Decision if one is not Decision.WITHDRAWN}


def elicitation(
    request: ApprovalRequest, conversation: ConversationId, tool_call: str, event: str, *, more_text: bool
) -> JsonObject:
    """Params of `elicitation/create`; the request and the turn that it belongs to, as Codex clients name them.

    `more_text`: false for clients that match the message exactly, and know files as of August 2025.
    """
    kind, members = _for_codex(request, more_text=more_text)
    return {
        "message": message(request, more=more_text),
        "requestedSchema": {"type": "object", "properties": {}},
        **kind,
        "threadId": conversation,
        "codex_mcp_tool_call_id": tool_call,
        "codex_event_id": event,
        "codex_call_id": request.call_id,
        **members,
    }


def _for_codex(request: ApprovalRequest, *, more_text: bool) -> tuple[JsonObject, JsonObject]:
    """The kind and what is asked, where Codex clients know the kind."""
    match request:
        case ExecApprovalRequest():
            return {"codex_elicitation": "exec-approval"}, {
                "codex_command": list(request.command),
                "codex_cwd": str(request.cwd),
                "codex_parsed_cmd": [{"type": "unknown", "cmd": quoted_command(request.command)}],
            }
        case ApplyPatchApprovalRequest():
            told = request.model_dump(mode="json")
            optional = {f"codex_{name}": told[name] for name in ("reason", "grant_root") if told[name] is not None}
            changes = _tagged(told["changes"]) if more_text else told["changes"]
            return {"codex_elicitation": "patch-approval"}, {**optional, "codex_changes": changes}
        case _:
            return {}, {}


def message(request: ApprovalRequest, *, more: bool) -> str:
    """The message; in full with `more`, or where the reference's words do not say all."""
    asked = request.model_dump(mode="json")
    opening, complete = _opening(request)
    if complete and not more and request.reason is None and not asked.get("grant_root"):
        return opening
    see = f"`greenroom approvals {request.approval_id}` shows all of it"
    facts = question.drawn(asked, most=LINES_SHOWN, see=see)
    return f"{opening}\n{facts.text}"


def _opening(request: ApprovalRequest) -> tuple[str, bool]:
    """The reference's words, and whether they say all of it: not if somebody could misread what stands in them."""
    match request:
        case ExecApprovalRequest():
            command, cwd = quoted_command(request.command), str(request.cwd)
            if len(command) > SENTENCE_LENGTH or "`" in command + cwd or misread(command) or misread(cwd):
                return "Allow Codex to run this command?", False
            return f"Allow Codex to run `{command}` in `{cwd}`?", True
        case ApplyPatchApprovalRequest():
            return "Allow Codex to apply proposed code changes?", True
        case _:
            return f"The agent asks: {question.title(request.model_dump(mode='json'))}", False


def decision_of(result: object) -> tuple[Decision | None, str]:
    """The decision, from Codex's own shape or MCP's. None: dismissed without a choice. Any other reply is a no."""
    if isinstance(result, dict):
        known, said = (DECISIONS, result["decision"]) if "decision" in result else (ACTIONS, result.get("action"))
        if isinstance(said, str) and said in known:
            return known[said], ""
    return Decision.DENIED, "the client's reply could not be read"


def _tagged(changes: JsonObject) -> JsonObject:
    """The changes as Codex has written them since autumn 2025: the kind is a member, a deleted file has a content."""
    kinds = {path: {"delete": {"content": ""}} if change == "delete" else change for path, change in changes.items()}
    return {path: {"type": kind, **change[kind]} for path, change in kinds.items() for kind in change}
