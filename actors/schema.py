"""Writes the JSON Schema of the vocabulary, and says when the committed one no longer tells the truth.

python -m actors.schema [--check] docs/schema/events.json
"""

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from actors.events import Envelope


def schema_text() -> str:
    schema = TypeAdapter(Envelope).json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    (target,) = (Path(word) for word in arguments if word != "--check")
    text = schema_text()
    if not check:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target} does not match the code: run `make reference` and commit the result\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
