"""The decision whether a call of a tool needs approval, and a server's own question as a form. Pure."""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from actors.conversation.fitting_answers import LARGEST_EXACT, field_value
from actors.vocabulary.events import FORM_LIMITS, FormField, FormValue
from actors.vocabulary.settings import ApprovalPolicy, Settings
from supervisor.agents.own.mcp_client.server_tools import Json, ServerTool
from supervisor.config.mcp_servers import ToolApproval

ARGUMENTS_SHOWN = 16 * 1024  # characters of arguments in a question; a person reads them
QUESTION_SHOWN = 4 * 1024  # of a server's question
FIELDS = 20  # of a form; more is no question
CHOICES = 256  # of one field


class Verdict(StrEnum):
    RUN = "run"
    ASK = "ask"
    REFUSE = "refuse"


def judge_call(mode: ToolApproval, tool: ServerTool, settings: Settings, *, confined: bool = False) -> Verdict:
    """Decide as for a command outside of the sandbox, because servers run there.

    With policy `never` a call runs only if the model could do as much by a command: if there is no sandbox, or the
    server is `confined` like a command.
    """
    reads = tool.only_reads
    match mode:
        case ToolApproval.APPROVE:
            return Verdict.RUN
        case ToolApproval.WRITES if reads:
            return Verdict.RUN
        case ToolApproval.AUTO if reads or tool.destroys is False:
            return Verdict.RUN
        case _ if settings.approval_policy is not ApprovalPolicy.NEVER:
            return Verdict.ASK
        case _:
            free = confined or settings.sandbox.mode == "danger-full-access"
            return Verdict.RUN if free else Verdict.REFUSE


def shown_arguments(arguments: Json) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return _middle_left_out(text, ARGUMENTS_SHOWN)


def _middle_left_out(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters are not shown …]\n{text[-half:]}"


# --- a server's question --------------------------------------------------------------------------------------------


def question_of(params: Json) -> str:
    return _middle_left_out(str(params.get("message", "")), QUESTION_SHOWN)


def page_of(params: Json) -> str | None:
    """Return the address of a page that the server wants to be visited, in place of a form."""
    return str(params["url"])[:QUESTION_SHOWN] if params.get("mode") == "url" and params.get("url") else None


def fields_of(params: Json) -> tuple[str, ...]:
    """Describe each field of the form in a line: its name, its type, and the value that a plain yes sends."""
    return tuple(_field_lines(params))


def _field_lines(params: Json) -> Iterator[str]:
    for field in form_of(params):
        several = "some of " if field.type == "array" else "one of "
        kind = several + ", ".join(field.choices) if field.choices else field.type
        about = f" ({field.description or field.title})" if field.description or field.title else ""
        sent = f"a plain yes sends {json.dumps(field.default)}" if field.default is not None else "optional"
        needed = "needed" if field.required and field.default is None else sent
        yield _middle_left_out(f"{field.name}{about}: {kind}; {needed}", QUESTION_SHOWN // 4)


def form_of(params: Json) -> tuple[FormField, ...]:
    """Return the fields that can be filled in: texts, numbers, yes or no, and choices, as the protocol has them."""
    required = _required_names(params)
    shown = list(_properties(params).items())[:FIELDS]
    found = (_field(name, given, needed=name in required) for name, given in shown)
    return tuple(field for field in found if field is not None)


def unanswerable_fields(params: Json) -> tuple[str, ...]:
    """Return the fields that are needed and can't be filled in, and those that would not be shown."""
    known = {field.name for field in form_of(params)}
    needed = (name for name in _required_names(params) if name not in known)
    return (*dict.fromkeys((*needed, *list(_properties(params))[FIELDS:])),)


def _field(name: str, given: Json, *, needed: bool) -> FormField | None:
    """Return a field, or None if it is of a type that the protocol does not have."""
    several = given.get("type") == "array"
    offered = given.get("items") if several else given
    choices, names = _choices(offered if isinstance(offered, dict) else {})
    kind = given.get("type", "string")
    if kind not in FORM_LIMITS or (several and not choices) or len(choices) > CHOICES:
        return None
    least, most = (_number(given.get(limit)) for limit in FORM_LIMITS[kind])
    field = FormField(
        name=name,
        title=_words(given.get("title")),
        description=_words(given.get("description")),
        type=kind,
        choices=choices,
        names=names,
        required=needed,
        least=least,
        most=most,
        format=_words(given.get("format")),
    )
    return field.model_copy(update={"default": _default(field, given.get("default"))})


def _choices(offered: Json) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the choices and their titles, in any of the spellings that the protocol has had."""
    titled = offered.get("oneOf") or offered.get("anyOf")
    if isinstance(titled, list):
        known = [choice for choice in titled if isinstance(choice, dict) and "const" in choice]
        return tuple(str(choice["const"]) for choice in known), tuple(_words(choice.get("title")) for choice in known)
    plain, names = offered.get("enum"), offered.get("enumNames")
    choices = tuple(map(str, plain)) if isinstance(plain, list) else ()
    return choices, tuple(map(_words, names)) if isinstance(names, list) and len(names) == len(choices) else ()


def _default(field: FormField, given: object) -> FormValue | None:
    """Return the field's default, if it fits the field."""
    if given is None:
        return None
    try:
        return field_value(field, given)
    except ValueError:
        return None


def _number(given: object) -> float | None:
    return given if isinstance(given, int | float) and abs(given) <= LARGEST_EXACT else None


def _words(given: object) -> str:
    return _middle_left_out(given, QUESTION_SHOWN // 4) if isinstance(given, str) else ""


def _properties(params: Json) -> Mapping[str, Json]:
    found = (params.get("requestedSchema") or {}).get("properties") or {}
    members = found.items() if isinstance(found, dict) else ()
    return {str(name): schema for name, schema in members if isinstance(schema, dict)}


def _required_names(params: Json) -> tuple[str, ...]:
    found = (params.get("requestedSchema") or {}).get("required") or ()
    return tuple(map(str, found))
