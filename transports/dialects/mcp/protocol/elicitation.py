"""An approval as a question to a person, and the reply. Pure.

The members with `codex_` are for Codex clients; SDK clients strip them, so the message has all facts: the subject and
the place, in the text of every surface, and last the agent's own words.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from actors.conversation.choices import choices
from actors.conversation.fitting_answers import OPTION, YES
from actors.vocabulary.events import (
    FORM_LIMITS,
    ApprovalRequested,
    CommandSubject,
    FilesSubject,
    FormField,
    FormSubject,
)
from actors.vocabulary.ids import CallId, ConversationId
from actors.vocabulary.quoting import quote_command
from actors.vocabulary.settings import Decision
from actors.vocabulary.visible_text import misleading_places
from transports import question_text
from transports.dialects.codex.questions import Changes, CodexCommand, codex_question
from transports.dialects.kit.questions import Reply
from transports.dialects.mcp.protocol.tasks import TaskMeta

LINES_SHOWN = 200  # lines of a question in the message; the middle of a longer one is left out, and a line says so
SENTENCE_LENGTH = 200  # characters of a command within a sentence; a longer one gets lines of its own
ACTIONS: dict[str, Decision | None] = {"accept": Decision.APPROVED, "decline": Decision.DENIED, "cancel": None}
DECISIONS: dict[str, Decision | None] = {
    decision.value: decision for decision in Decision if decision is not Decision.WITHDRAWN
}


class ParsedCommand(Struct, frozen=True):
    type: str
    cmd: str


class Elicitation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Params of `elicitation/create`, with the request and its turn under Codex's names."""

    mode: str | None = None
    message: str
    schema: Mapping[str, object] = field(name="requestedSchema")
    codex_elicitation: str
    conversation: ConversationId = field(name="threadId")
    codex_mcp_tool_call_id: str
    codex_event_id: str
    codex_call_id: CallId
    codex_command: list[str] | None = None
    codex_cwd: str | None = None
    codex_parsed_cmd: tuple[ParsedCommand, ...] | None = None
    codex_reason: str | None = None
    codex_grant_root: str | None = None
    codex_changes: Mapping[str, object] | None = None
    meta: TaskMeta | None = field(name="_meta", default=None)


class InputRequest(Struct, frozen=True):
    """A question within a result, for a client that repeats its call with the answer."""

    method: str
    params: Elicitation


def elicitation(
    request: ApprovalRequested, conversation: ConversationId, tool_call: str, event: str, *, more_text: bool
) -> Elicitation:
    """`more_text`: false for clients that match the message exactly, and know files as of August 2025."""
    question = codex_question(request.model_dump(mode="json"))
    params = Elicitation(
        message=message(request, more=more_text),
        schema=_form(request, more_text=more_text),
        codex_elicitation="exec-approval" if isinstance(question, CodexCommand) else "patch-approval",
        conversation=conversation,
        codex_mcp_tool_call_id=tool_call,
        codex_event_id=event,
        codex_call_id=request.call_id,
    )
    if isinstance(question, CodexCommand):
        parsed = ParsedCommand("unknown", quote_command(question.command))
        return replace(params, codex_command=question.command, codex_cwd=question.cwd, codex_parsed_cmd=(parsed,))
    return replace(
        params,
        codex_reason=question.reason,
        codex_grant_root=question.grant_root,
        codex_changes=_tag_changes(question.changes) if more_text else question.changes,
    )


def message(request: ApprovalRequested, *, more: bool) -> str:
    """The message; with all facts if `more`, or if the reference's words leave facts out."""
    event = request.model_dump(mode="json")
    opening, complete = _opening(request)
    unsaid = any(event.get(name) for name in ("grant_root", "history_of", "background", "failed", "changed"))
    if complete and not more and request.reason is None and not unsaid:
        return opening
    see = f"`greenroom approvals {request.approval_id}` shows all of it"
    facts = question_text.question_lines(event, most=LINES_SHOWN, see=see)
    return f"{opening}\n{facts.text}"


def _opening(request: ApprovalRequested) -> tuple[str, bool]:
    """The reference's words, and whether they are complete: not if they could be misread."""
    match request:
        case ApprovalRequested(agent_call=None, subject=CommandSubject() as subject):
            command, cwd = quote_command(subject.command), str(subject.cwd)
            if (
                len(command) > SENTENCE_LENGTH
                or "`" in command + cwd
                or misleading_places(command)
                or misleading_places(cwd)
            ):
                return "Allow Codex to run this command?", False
            return f"Allow Codex to run `{command}` in `{cwd}`?", True
        case ApprovalRequested(agent_call=None, subject=FilesSubject()):
            return "Allow Codex to apply proposed code changes?", True
        case _:
            return f"The agent asks: {question_text.title(request.model_dump(mode='json'))}", False


def reply_of(result: object) -> Reply:
    """The reply, in Codex's own shape or MCP's. An unreadable reply is a no."""
    if isinstance(result, dict):
        known, value = (DECISIONS, result["decision"]) if "decision" in result else (ACTIONS, result.get("action"))
        if isinstance(value, str) and value in known:
            content = result.get("content")
            answers = content if isinstance(content, dict) and known[value] is Decision.APPROVED else {}
            return Reply(known[value], content=answers)
    return Reply(Decision.DENIED, "the client's reply could not be read")


def _form(request: ApprovalRequested, *, more_text: bool) -> Mapping[str, object]:
    """The form for a person, in MCP's terms: a server's own form, or the choice of a yes.

    Without a choice, the first yes counts. Clients that match exactly know of no choice for a command.
    """
    match request:
        case ApprovalRequested(subject=FormSubject(form=form)):
            needed = [field.name for field in form if field.required]
            properties = {field.name: _property(field) for field in form}
            return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}
        case _ if request.options or (request.may_leave and more_text):
            yes = [option for option in choices(request) if option.decision in YES]
            choice = {"type": "string", "title": "Which yes", "enum": [option.id for option in yes]}
            named_choice = {**choice, "enumNames": [option.name for option in yes]}
            return {"type": "object", "properties": {OPTION: named_choice} if len(yes) > 1 else {}}
        case _:
            return {"type": "object", "properties": {}}


def _property(field: FormField) -> Mapping[str, object]:
    least, most = FORM_LIMITS[field.type]
    limits = {name: value for name, value in ((least, field.least), (most, field.most)) if value is not None}
    texts = {name: text for name in ("title", "description", "format") if (text := getattr(field, name))}
    default = {} if field.default is None else {"default": field.default}
    choices = {"enum": field.choices} if field.choices else {}
    if field.type == "array":
        return {"type": "array", **texts, "items": {"type": "string", **choices}, **limits, **default}
    names = {"enumNames": field.names} if field.names and all(field.names) else {}
    return {"type": field.type, **texts, **choices, **names, **limits, **default}


def _tag_changes(changes: Changes) -> Mapping[str, object]:
    """The changes as Codex has written them since autumn 2025: the kind is a member, a deleted file has a content."""
    deleted: Mapping[str, Mapping[str, object]] = {"delete": {"content": ""}}
    kinds = ((path, deleted if isinstance(change, str) else change) for path, change in changes.items())
    return {path: {"type": kind, **members} for path, change in kinds for kind, members in change.items()}
