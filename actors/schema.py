"""The JSON Schema of the vocabulary, as text: who reads our events elsewhere has it from `docs/schema`."""

import json

from pydantic import TypeAdapter

from actors.events import Envelope


def schema_text() -> str:
    schema = TypeAdapter(Envelope).json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=1) + "\n"
