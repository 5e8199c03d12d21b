"""The part of JSON Schema that MCP's own schemas and our tools' are written in. Anything else is an error."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[3] / "data" / "mcp-schema"

Schema = Mapping[str, Any]
SAYS_NOTHING = {"description", "$schema", "format", "definitions", "$defs", "title", "default", "examples"}
KINDS: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


class Invalid(AssertionError):
    pass


def revision(name: str) -> Schema:
    schema: Schema = json.loads((DATA / f"{name}.json").read_text())
    return schema


def check(value: Any, schema: Schema, root: Schema, place: str = "$") -> None:
    for keyword, argument in schema.items():
        if keyword not in SAYS_NOTHING:
            CHECKS[keyword](value, argument, schema, root, place)


def _insist(holds: bool, place: str, what: str) -> None:
    if not holds:
        raise Invalid(f"{place}: {what}")


def _reference(value: Any, argument: Any, _: Schema, root: Schema, place: str) -> None:
    target: Any = root
    for part in argument.removeprefix("#/").split("/"):
        target = target[part]
    check(value, target, root, place)


def _type(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    kinds = [argument] if isinstance(argument, str) else argument
    _insist(any(KINDS[kind](value) for kind in kinds), place, f"{value!r} is not {argument}")


def _properties(value: Any, argument: Any, _: Schema, root: Schema, place: str) -> None:
    if isinstance(value, dict):
        for name, schema in argument.items():
            if name in value:
                check(value[name], schema, root, f"{place}.{name}")


def _required(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    if isinstance(value, dict):
        missing = [name for name in argument if name not in value]
        _insist(not missing, place, f"{missing} missing")


def _additional(value: Any, argument: Any, schema: Schema, root: Schema, place: str) -> None:
    if not isinstance(value, dict):
        return
    others = [name for name in value if name not in schema.get("properties", {})]
    if argument is False:
        _insist(not others, place, f"{others} not allowed")
    elif isinstance(argument, dict):
        for name in others:
            check(value[name], argument, root, f"{place}.{name}")


def _items(value: Any, argument: Any, _: Schema, root: Schema, place: str) -> None:
    if isinstance(value, list):
        for number, item in enumerate(value):
            check(item, argument, root, f"{place}[{number}]")


def _any_of(value: Any, argument: Any, _: Schema, root: Schema, place: str) -> None:
    reasons = []
    for schema in argument:
        try:
            check(value, schema, root, place)
        except Invalid as error:
            reasons.append(str(error))
        else:
            return
    raise Invalid(f"{place}: none of {len(argument)} fits: {'; '.join(reasons)}")


def _all_of(value: Any, argument: Any, _: Schema, root: Schema, place: str) -> None:
    for schema in argument:
        check(value, schema, root, place)


def _const(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    _insist(value == argument, place, f"{value!r} is not {argument!r}")


def _enum(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    _insist(value in argument, place, f"{value!r} is none of {argument}")


def _minimum(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    _insist(not KINDS["number"](value) or value >= argument, place, f"{value} < {argument}")


def _maximum(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    _insist(not KINDS["number"](value) or value <= argument, place, f"{value} > {argument}")


def _most_items(value: Any, argument: Any, _: Schema, __: Schema, place: str) -> None:
    _insist(not isinstance(value, list) or len(value) <= argument, place, f"more than {argument}")


CHECKS: Mapping[str, Callable[[Any, Any, Schema, Schema, str], None]] = {
    "$ref": _reference,
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "anyOf": _any_of,
    "allOf": _all_of,
    "const": _const,
    "enum": _enum,
    "minimum": _minimum,
    "maximum": _maximum,
    "maxItems": _most_items,
}
