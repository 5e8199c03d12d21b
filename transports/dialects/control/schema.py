"""The JSON Schema of the control API, from the models that judge what comes in and describe what goes out."""

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from transports.dialects.control.shapes import NOTIFICATIONS, RESULTS, ErrorMessage

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Mode = Literal["validation", "serialization"]
Key = tuple[str, Mode, TypeAdapter[Any]]


@cache
def api_schema() -> dict[str, Any]:
    from transports.dialects.control.methods import METHODS  # the table knows the handler that answers with this

    inputs: list[Key] = [(name, "validation", TypeAdapter(method.params)) for name, method in METHODS.items()]
    outputs: list[Key] = [
        *((name, "serialization", TypeAdapter(RESULTS.get(name, Any))) for name in METHODS),
        *((name, "serialization", TypeAdapter(params)) for name, (_, params) in NOTIFICATIONS.items()),
        ("error", "serialization", TypeAdapter(ErrorMessage)),
    ]
    schemas, shared = TypeAdapter.json_schemas([*inputs, *outputs])
    return {
        "$schema": DIALECT,
        "title": "Greenroom control API, protocol 1",
        "methods": {
            name: {
                "summary": method.summary,
                "params": schemas[name, "validation"],
                "result": schemas[name, "serialization"],
            }
            for name, method in METHODS.items()
        },
        "notifications": {
            name: {"summary": summary, "params": schemas[name, "serialization"]}
            for name, (summary, _) in NOTIFICATIONS.items()
        },
        "error": schemas["error", "serialization"],
        **shared,
    }
