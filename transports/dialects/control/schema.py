"""The JSON Schemas of the control API and of events, from the models that validate requests and describe answers.

Imported only when a client or a person asks for a schema: the models are a megabyte. Pure.
"""

from functools import cache
from typing import Literal, cast

from pydantic import TypeAdapter

from actors.vocabulary.events import Envelope
from transports.dialects.control.answer_models import with_models
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


@cache
def events_schema() -> JsonObject:
    """An event in its envelope, as the journal keeps it and readers get it."""
    return {"$schema": DIALECT, **TypeAdapter(Envelope).json_schema(mode="serialization")}


def _adapter(shape: object) -> TypeAdapter[object]:
    """The adapter of a model or a struct, or of a union of them."""
    return TypeAdapter(cast("type[object]", with_models(shape)))
