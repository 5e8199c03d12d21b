"""The published JSON Schema of protocol 1, from the TypeScript SDK, and what is wrong with a message by it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.judges.promise import BesideThePoint

MODULES = Path(os.environ.get("JUDGES_MODULES") or Path(__file__).resolve().parents[1] / "node_modules")
FILE = MODULES / "@agentclientprotocol" / "sdk" / "schema" / "v1" / "schema.json"
Json = dict[str, Any]


class Schema:
    def __init__(self) -> None:
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            raise BesideThePoint("the judge needs jsonschema") from None
        if not FILE.exists():
            raise BesideThePoint("the judge needs npm's @agentclientprotocol/sdk")
        self._kinds: dict[str, Json] = json.loads(FILE.read_text(encoding="utf-8"))["$defs"]
        self._validator = Draft202012Validator
        self._names = {
            (str(kind["x-method"]), name.rpartition("Re")[2] == "sponse"): name
            for name, kind in self._kinds.items()
            if "x-method" in kind
        }

    def fault(self, message: Json, asked: Mapping[int | str, str]) -> str:
        """Name the fault; "" if there is none, or it is an extension. `asked` are the client's requests."""
        if "method" in message:
            method, value, is_answer = str(message["method"]), message.get("params"), False
        elif "error" in message:
            return self._check("Error", message["error"])
        elif message.get("id") not in asked:
            return f"an answer to {message.get('id')!r}, which was not asked"
        else:
            method, value, is_answer = asked[message["id"]], message.get("result"), True
        name = self._names.get((method, is_answer))
        if name is None:
            return "" if method.startswith("_") or is_answer else f"no method {method} in the schema"
        return self._check(name, value)

    def _check(self, name: str, value: Any) -> str:
        errors = list(self._validator({"$ref": f"#/$defs/{name}", "$defs": self._kinds}).iter_errors(value))
        if not errors:
            return ""
        deepest = max(errors, key=lambda error: len(error.absolute_path))
        return f"{name}: {deepest.message[:200]} at {'/'.join(map(str, deepest.absolute_path))}"
