"""The JSON Schema of the control API, from the models that judge it and the events that it sends."""

from typing import Any

from pydantic import TypeAdapter

from actors.events import Envelope


def api_schema() -> dict[str, Any]:
    from transports.dialects.control.methods import METHODS  # the table knows the handler that answers with this

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Greenroom control API, protocol 1",
        "methods": {
            name: {"summary": method.summary, "params": method.params.model_json_schema()}
            for name, method in METHODS.items()
        },
        "notifications": {
            "events": {
                "summary": "What a subscription has not seen: stored events, then the unfinished tail.",
                "event": TypeAdapter(Envelope).json_schema(mode="serialization"),
            },
            "ended": {"summary": "The conversation ended a subscription by itself; attach again by cursor."},
        },
    }
