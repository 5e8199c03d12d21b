"""Questions as a client's person is asked, and what was chosen. Pure.

Of a tool of an agent of others the options are the agent's own; of all else they are ours.
"""

from actors.conversation.fitting import DECISIONS, OPTION
from actors.vocabulary.events import (
    FORM_LIMITS,
    ApprovalRequest,
    ElicitationApprovalRequest,
    FormField,
    ToolUseApprovalRequest,
)
from actors.vocabulary.settings import Decision
from transports.dialects.acp import v1
from transports.dialects.acp.updates import Tool
from transports.dialects.kit.questions import Reply
from transports.jsonrpc import JsonObject

NOTHING_CHOSEN = Reply(None)
ALWAYS = {"optionId": "approved_for_session", "name": "Yes, always in this conversation", "kind": "allow_always"}


# --- permissions ----------------------------------------------------------------------------------------------------


def permission(request: ApprovalRequest, session: str, tool: Tool) -> JsonObject:
    """Params of `session/request_permission`."""
    return {"sessionId": session, "toolCall": v1.tool(tool), "options": options(request)}


def options(request: ApprovalRequest) -> list[JsonObject]:
    if isinstance(request, ToolUseApprovalRequest) and request.options:
        return [{"optionId": one.id, "name": one.name or one.id, "kind": one.kind} for one in request.options]
    lasts = request.standing is not None or getattr(request, "grant_root", None) is not None
    return [
        {"optionId": "approved", "name": "Yes", "kind": "allow_once"},
        *([ALWAYS] if lasts else []),
        {"optionId": "denied", "name": "No", "kind": "reject_once"},
        {"optionId": "abort", "name": "No, and stop", "kind": "reject_once"},
    ]


def chosen(request: ApprovalRequest, result: object) -> Reply:
    """The reply in a result; nothing chosen if it is dismissed, or none that was offered."""
    match result:
        case {"outcome": {"outcome": "selected", "optionId": str(option)}}:
            pass
        case _:
            return NOTHING_CHOSEN
    if isinstance(request, ToolUseApprovalRequest) and request.options:
        named = next((one for one in request.options if one.id == option), None)
        return NOTHING_CHOSEN if named is None else Reply(DECISIONS[named.kind], content={OPTION: named.id})
    offered = {one["optionId"] for one in options(request)}
    return Reply(Decision(option)) if option in offered else NOTHING_CHOSEN


# --- forms ----------------------------------------------------------------------------------------------------------


def needs_words(request: ApprovalRequest) -> bool:
    """True if a plain yes does not answer it: a form has a field that must be filled in."""
    form = request.form if isinstance(request, ElicitationApprovalRequest) else ()
    return any(field.required and field.default is None for field in form)


def form(request: ElicitationApprovalRequest, session: str) -> JsonObject:
    """Params of `elicitation/create`."""
    schema: JsonObject = {"type": "object", "properties": {one.name: _property(one) for one in request.form}}
    needed = [one.name for one in request.form if one.required]
    wanted = {**schema, "required": needed} if needed else schema
    message = f"{request.server}: {request.message}"
    return {"mode": "form", "sessionId": session, "message": message, "requestedSchema": wanted}


def page(request: ElicitationApprovalRequest, session: str) -> JsonObject:
    """Params of `elicitation/create` for a page that the server wants the person to visit."""
    message = f"{request.server}: {request.message}"
    visit = {"elicitationId": request.approval_id, "url": request.url}
    return {"mode": "url", "sessionId": session, "message": message, **visit}


def filled_in(result: object) -> Reply:
    match result:
        case {"action": "accept", "content": dict(content)}:
            return Reply(Decision.APPROVED, content=content)
        case {"action": "accept"}:
            return Reply(Decision.APPROVED)
        case {"action": "decline"}:
            return Reply(Decision.DENIED)
        case _:
            return NOTHING_CHOSEN


def _property(field: FormField) -> JsonObject:
    least, most = FORM_LIMITS[field.type]
    limits = {
        name: _limit(value, field) for name, value in ((least, field.least), (most, field.most)) if value is not None
    }
    texts = {name: text for name in ("title", "description", "format") if (text := getattr(field, name))}
    default = {} if field.default is None else {"default": field.default}
    if field.type == "array":
        return {"type": "array", **texts, "items": {"type": "string", "enum": field.choices}, **limits, **default}
    return {"type": field.type, **texts, **_choices(field), **limits, **default}


def _limit(value: float, field: FormField) -> float:
    return value if field.type == "number" else int(value)


def _choices(field: FormField) -> JsonObject:
    if field.names and all(field.names) and len(field.names) == len(field.choices):
        return {
            "oneOf": [{"const": one, "title": name} for one, name in zip(field.choices, field.names, strict=True)]
        }
    return {"enum": field.choices} if field.choices else {}
