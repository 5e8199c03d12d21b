"""Questions in the form for a client's person, and the replies. Pure.

The options of a third-party agent are its own, but for our yes for the conversation; all others are ours.
"""

from collections.abc import Mapping

from msgspec import Struct

from actors.conversation.choices import choices
from actors.conversation.fitting_answers import OPTION
from actors.vocabulary.events import FORM_LIMITS, ApprovalRequested, FormField, FormSubject
from actors.vocabulary.ids import ApprovalId
from actors.vocabulary.settings import Decision
from transports.dialects.acp.update_json import PermissionOption
from transports.dialects.kit.questions import Reply
from transports.jsonrpc import JsonObject

NOTHING_CHOSEN = Reply(None)


# --- permissions ----------------------------------------------------------------------------------------------------


def options(request: ApprovalRequested) -> tuple[PermissionOption, ...]:
    return tuple(PermissionOption(choice.id, choice.name, choice.kind) for choice in choices(request))


def selection_reply(request: ApprovalRequested, result: object) -> Reply:
    """The reply in a result; nothing chosen if it was dismissed or names an option that was not offered."""
    match result:
        case {"outcome": {"outcome": "selected", "optionId": str(option)}}:
            pass
        case _:
            return NOTHING_CHOSEN
    choice = next((choice for choice in choices(request) if choice.id == option), None)
    if choice is None:
        return NOTHING_CHOSEN
    return Reply(choice.decision, content={OPTION: choice.option} if choice.option else {}, outside=choice.outside)


# --- forms ----------------------------------------------------------------------------------------------------------


class FormSchema(Struct, frozen=True, omit_defaults=True, tag_field="type", tag="object"):
    properties: Mapping[str, JsonObject]
    required: tuple[str, ...] = ()


class FormRequest(Struct, frozen=True, rename="camel", tag_field="mode", tag="form"):
    """Params of `elicitation/create`."""

    session_id: str
    message: str
    requested_schema: FormSchema


class PageRequest(Struct, frozen=True, rename="camel", tag_field="mode", tag="url"):
    """Params of `elicitation/create` for a page that the server wants the person to visit."""

    session_id: str
    message: str
    elicitation_id: str
    url: str | None


def needs_words(request: ApprovalRequested) -> bool:
    """True if a plain yes does not answer it: its form has a field that must be filled in."""
    form = request.subject.form if isinstance(request.subject, FormSubject) else ()
    return any(field.required and field.default is None for field in form)


def form(subject: FormSubject, session: str) -> FormRequest:
    needed = tuple(field.name for field in subject.form if field.required)
    schema = FormSchema({field.name: _property(field) for field in subject.form}, needed)
    return FormRequest(session, f"{subject.server}: {subject.message}", schema)


def page(subject: FormSubject, approval: ApprovalId, session: str) -> PageRequest:
    return PageRequest(session, f"{subject.server}: {subject.message}", approval, subject.url)


def form_reply(result: object) -> Reply:
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
            "oneOf": [{"const": value, "title": name} for value, name in zip(field.choices, field.names, strict=True)]
        }
    return {"enum": field.choices} if field.choices else {}
