"""The JSON Schema of the control API, from the models that judge what comes in and describe what goes out."""

import json
import re
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from actors.errors import GreenroomError
from transports import hello as _hello  # noqa: F401  # its errors are in the table too
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


def with_errors(page: str) -> str:
    """The page with the table of errors between its marks."""
    before, start, rest = page.partition("<!-- errors -->")
    _, end, after = rest.partition("<!-- /errors -->")
    return f"{before}{start}\n\n{errors_table()}\n{end}{after}"


def errors_table() -> str:
    rows = ["| code | number | again? | means |", "|---|---|---|---|"]
    for error in sorted(_below(GreenroomError), key=lambda one: (-one.jsonrpc, one.code)):
        again = "yes" if error.retryable else ""
        rows.append(f"| `{error.code}` | {error.jsonrpc} | {again} | {_means(error)} |")
    return "\n".join(rows) + "\n"


def _below(kind: type[GreenroomError]) -> list[type[GreenroomError]]:
    """Those that actors/errors.py and the hello may say."""
    here = [kind] if kind.__module__ in {"actors.errors", "transports.hello"} else []
    return [*here, *(one for sub in kind.__subclasses__() for one in _below(sub))]


def _means(error: type[GreenroomError]) -> str:
    if error is GreenroomError:
        return "A bug of Greenroom; see the daemon's log."
    said = (vars(error).get("__doc__") or "").partition("\n")[0]
    return said or re.sub(r"(?<!^)(?=[A-Z])", " ", error.__name__).capitalize() + "."
