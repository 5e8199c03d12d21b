"""The JSON Schema of the control API, from the models that judge what comes in and describe what goes out.

python -m transports.dialects.control.schema [--check] docs/schema/control.json
"""

import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
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


def schema_text() -> str:
    return json.dumps(api_schema(), indent=1) + "\n"


def main(arguments: Sequence[str]) -> int:
    (target,) = (Path(word) for word in arguments if word != "--check")
    if "--check" not in arguments:
        target.write_text(schema_text(), encoding="utf-8")
    elif not target.exists() or target.read_text(encoding="utf-8") != schema_text():
        sys.stderr.write(f"{target} does not match the code: run `make reference` and commit the result\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
