"""The generated modules of `greenroom`: events and answers as classes, from the schema of the control API.

An event or an answer is an object; its members are still JSON, described by TypedDicts.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from textwrap import indent
from typing import Any

from transports.dialects.control.schema import api_schema

Schema = dict[str, Any]
NAMED_IN_REQUESTS = ("SandboxMode",)
ANSWERS = (
    "Agent",
    "AgentTrial",
    "CreatedConversation",
    "ConversationRow",
    "SearchHit",
    "Job",
    "JobOutput",
    "ConversationSummary",
    "AcceptedInput",
    "TurnResult",
    "InterruptedTurn",
    "ChangedSettings",
    "WaitingInputs",
    "AnsweredApproval",
    "DaemonStatus",
    "Usage",
    "BudgetRow",
    "ClientRow",
    "Server",
    "ImportedConversation",
    "ReloadedConfig",
    "ConfigValue",
    "StoppingDaemon",
)
QUESTION = "ApprovalRequested"
ASKED = "AskedQuestion"  # the same with its place, as lists have it
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

WIDTH = 118
HEAD = '"""{what} Written from the code by `make reference`."""\n{long}\n{imports}\n'
FUTURE = "from __future__ import annotations"
LONG = "\n# ruff: noqa: E501  # a line is as long as the description of its member\n"


def events_module() -> str:
    events = _events()
    classes = (*map(_type_definition, _parts(events)), *(_class(name, _base(name)) for name in events))
    text = "".join(classes)
    imports = (
        _typing(text),
        "",
        "from greenroom.record import Event, QuestionEvent, fresh",
    )
    return _module("The events of conversations, as typed objects.", imports, text)


def _base(name: str) -> str:
    return "QuestionEvent" if name == QUESTION else "Event"


def answers_module() -> str:
    there = {*_events(), *_parts(_events())}
    parts = (name for name in _parts(ANSWERS) if name not in there)
    text = "".join((*map(_type_definition, parts), *(_class(name, "FromJson") for name in ANSWERS)))
    used = sorted(name for name in there if re.search(rf"\b{name}\b(?=[,\]| \n])", _code(text)))
    imports = (
        *(_typing(f"TYPE_CHECKING {text}"), ""),
        *("from greenroom.record import FromJson", "", "if TYPE_CHECKING:"),
        indent(_import_statement("greenroom.events", used), "    "),
    )
    return _module("The daemon's answers, as typed objects.", imports, text)


def _import_statement(module: str, names: list[str]) -> str:
    """The import on one line, or with a line for each name, as the formatter would have it."""
    line = f"from {module} import {', '.join(names)}"
    return (
        line
        if len(line) <= WIDTH
        else f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
    )


def _module(what: str, imports: Iterable[str], text: str) -> str:
    long = LONG if any(len(line) > WIDTH for line in text.splitlines()) else ""
    return HEAD.format(what=what, long=long, imports="\n".join((FUTURE, "", *imports))) + text


def _events() -> list[str]:
    mapping = _definitions()["Envelope"]["properties"]["event"]["discriminator"]["mapping"]
    return [ref.rpartition("/")[2] for ref in mapping.values()]


def _parts(names: Iterable[str]) -> list[str]:
    """All structures inside these, at any depth: enumerations, then the rest, innermost first."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        for inner in _references(_definitions()[name]):
            if inner not in found and inner != ASKED:
                visit(inner)
                found[inner] = None

    for name in names:
        visit(name)
    found |= dict.fromkeys(NAMED_IN_REQUESTS)
    return sorted(found, key=lambda name: "enum" not in _definitions()[name])


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for key, value in schema.items():
            if key != "discriminator":
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


@cache
def _definitions() -> Schema:
    definitions: Schema = api_schema()["$defs"]
    return definitions


# --- writing --------------------------------------------------------------------------------------------------------


def _type_definition(name: str) -> str:
    """An enumeration as a Literal, anything else as a TypedDict."""
    schema = _definitions()[name]
    if "enum" in schema:
        return f"\n{name} = {_kind(schema)}\n"
    lines = [f"    {key}: {_described(member)}" for key, member in schema["properties"].items()]
    return "\n".join(("", "", f"class {name}(TypedDict):", *_doc(schema), *lines, ""))


def _class(name: str, base: str) -> str:
    schema = _definitions()[name]
    lines = []
    for key, member in schema["properties"].items():
        if key == "type" and base != "FromJson":
            lines.append(f'    type: ClassVar[str] = "{member["const"]}"')
        else:
            lines.append(f"    {key}: {_described(member)}{_default(member)}")
    return "\n".join(("", "", f"class {name}({base}):", *_doc(schema), *lines, ""))


def _doc(schema: Schema) -> list[str]:
    return [f'    """{schema["description"].splitlines()[0]}"""', ""] if "description" in schema else []


def _described(schema: Schema) -> str:
    """The type of a member with its description, which `--json` shows."""
    if "description" not in schema:
        return _kind(schema)
    return f"Annotated[{_kind(schema)}, {json.dumps(schema['description'], ensure_ascii=False)}]"


def _default(schema: Schema) -> str:
    if "default" not in schema:
        return ""
    match schema["default"]:
        case []:
            return " = fresh(default_factory=list)"
        case dict() as members if not members:
            return " = fresh(default_factory=dict)"
        case dict() as members:
            given = ", ".join(f"{name}={_literal(value)}" for name, value in members.items())
            return f" = fresh(default_factory=lambda: {_kind(schema)}({given}))"
        case value:
            return f" = {_literal(value)}"


def _kind(schema: Schema) -> str:
    if "$ref" in schema:
        name: str = schema["$ref"].rpartition("/")[2]
        return QUESTION if name == ASKED else name
    if "anyOf" in schema or "oneOf" in schema:
        return " | ".join(dict.fromkeys(map(_kind, schema.get("anyOf") or schema["oneOf"])))
    if "const" in schema or "enum" in schema:
        return f"Literal[{', '.join(map(_literal, schema.get('enum', [schema.get('const')])))}]"
    if schema.get("contentEncoding") == "base64":
        return "bytes"
    match schema.get("type"):
        case "array":
            return f"list[{_kind(schema.get('items', {}))}]"
        case "object":
            inner = schema.get("additionalProperties")
            return f"dict[str, {_kind(inner) if isinstance(inner, dict) else 'Any'}]"
        case str() as kind:
            return SIMPLE[kind]
        case _:
            return "Any"


def _literal(value: object) -> str:
    """A string literal as the formatter writes it."""
    return repr(value).replace("'", '"')


def _typing(text: str) -> str:
    names = [
        name
        for name in ("TYPE_CHECKING", "Annotated", "Any", "ClassVar", "Literal", "TypedDict")
        if re.search(rf"\b{name}\b", _code(text))
    ]
    return f"from typing import {', '.join(names)}"


def _code(text: str) -> str:
    return re.sub(r", \".*\"\]", "]", text)
