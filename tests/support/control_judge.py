"""Checks a daemon's messages by the schema of the control API, with a validator that is not ours."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.control_peer import Message
from transports.dialects.control.schema import api_schema


@cache
def document() -> dict[str, Any]:
    """The schema as a client reads it: what `schema` answers, and `greenroom schema control` prints."""
    found: dict[str, Any] = json.loads(json.dumps(api_schema()))
    return found


@cache
def validator(*path: str) -> Draft202012Validator:
    part: Any = document()
    for key in path:
        part = part[key]
    return Draft202012Validator({**part, "$defs": document()["$defs"]})


def judge(method: str | None, message: Message) -> None:
    """Raise for a message that the schema does not allow. `method`: that of the request it answers."""
    if "error" in message:
        validator("error").validate(message)
    elif method is not None:
        validator("methods", method, "result").validate(message["result"])
    elif "method" in message:
        validator("notifications", message["method"], "params").validate(message["params"])
