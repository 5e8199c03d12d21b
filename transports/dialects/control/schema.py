"""The JSON Schema of the control API, from the models for params and answers."""

from functools import cache
from typing import Literal, cast

from pydantic import TypeAdapter

from transports.dialects.control.api.method_descriptions import DESCRIPTIONS
from transports.dialects.control.api.shapes import NOTIFICATIONS, ErrorMessage
from transports.dialects.control.methods import METHODS
from transports.jsonrpc import JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Mode = Literal["validation", "serialization"]
SchemaKey = tuple[str, Mode, TypeAdapter[object]]


@cache
def api_schema() -> JsonObject:
    inputs: list[SchemaKey] = [(name, "validation", _adapter(method.params)) for name, method in METHODS.items()]
    outputs: list[SchemaKey] = [
        *((name, "serialization", _adapter(DESCRIPTIONS[name].result)) for name in METHODS),
        *((name, "serialization", _adapter(params)) for name, (_, params) in NOTIFICATIONS.items()),
        ("error", "serialization", _adapter(ErrorMessage)),
    ]
    schemas, shared = TypeAdapter.json_schemas([*inputs, *outputs])
    return {
        "$schema": DIALECT,
        "title": "Greenroom control API, protocol 1",
        "methods": {
            name: {
                "summary": DESCRIPTIONS[name].summary,
                "params": schemas[name, "validation"],
                "result": schemas[name, "serialization"],
            }
            for name in METHODS
        },
        "notifications": {
            name: {"summary": summary, "params": schemas[name, "serialization"]}
            for name, (summary, _) in NOTIFICATIONS.items()
        },
        "error": schemas["error", "serialization"],
        **shared,
    }


def _adapter(shape: object) -> TypeAdapter[object]:
    """The adapter of a model, or of a union of models."""
    return TypeAdapter(cast("type[object]", shape))
