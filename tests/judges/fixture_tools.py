"""The tools that the conformance suite calls by name, plugged into the real dialect's tables. A test-only provider.

They are what is judged least: admission, ids, progress tokens, log levels, cancelling and the bytes are the dialect's
own. Only what a tool asks its client is kept here, until the answer comes.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from actors.vocabulary.ids import Caller
from supervisor.config.whole_config import Config
from supervisor.daemon.dialects import dialects, mcp_options
from supervisor.paths import Paths
from tests.judges import fixture_rounds
from transports import jsonrpc
from transports.dialect import Action, Client, Write
from transports.dialects.codex.methods import METHODS
from transports.dialects.kit.methods import method
from transports.dialects.kit.script import Script
from transports.dialects.mcp import methods
from transports.dialects.mcp.calls.results import CallResult, tool_error
from transports.dialects.mcp.dialect import McpDialect
from transports.dialects.mcp.protocol import tools
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS
from transports.dialects.mcp.protocol.state import McpCall
from transports.hello import Dialects, Options


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


Json = dict[str, Any]
Handler = Callable[[McpCall, Anything], Script[object]]
Answer = TypeVar("Answer")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
SECRET = b"known to these tools" * 2
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def resource(uri: str, kind: str, words: str) -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def answer(value: Answer) -> Script[Answer]:
    yield from ()
    return value


CONTENTS: Mapping[str, list[Json]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}],
    "test_embedded_resource": [resource("test://embedded-resource", "text/plain", "An embedded resource.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "json_schema_2020_12_tool": [text("Its arguments are what matters.")],
}


def _gives(contents: list[Json]) -> Handler:
    return lambda _, __: answer({"content": contents})


def _fails(_: McpCall, __: Anything) -> Script[CallResult]:
    return answer(tool_error("This tool intentionally returns an error for testing"))


def _progresses(call: McpCall, _: Anything) -> Script[Json]:
    for progress in (0, 50, 100):
        if call.progress is not None:
            params = {"progressToken": call.progress, "progress": progress, "total": 100}
            call.do(Write(jsonrpc.notification("notifications/progress", params)))
    return answer({"content": [text("All of it is done.")]})


def _logs(call: McpCall, _: Anything) -> Script[Json]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.state.log.say("info", words)
    return answer({"content": [text("All of it was logged.")]})


# --- what is asked of the client ------------------------------------------------------------------------------------

_numbers = count()
_waiting: dict[str, Caller] = {}  # by the id of the request to the client


def _asks(method: str, params: Callable[[Json], Json]) -> Handler:
    def ask(_: McpCall, arguments: Anything) -> Script[object]:
        def question(caller: Caller) -> Action:
            number = f"fixture-{next(_numbers)}"
            _waiting[number] = caller
            return Write(jsonrpc.request(number, method, params(arguments.model_dump())))

        (said,) = yield (question,)
        return tool_error("The client could not say") if said is None else {"content": [text(str(said))]}

    return ask


class FixtureDialect(McpDialect):
    """The real dialect, and the answers to the fixtures' questions."""

    def receive_line(self, line: bytes) -> Iterable[Action]:
        match jsonrpc.read(line):
            case jsonrpc.Request() as request:
                fixture_rounds.note_capabilities(request)
            case jsonrpc.Response(number, result) if number in _waiting:
                return self.take_answer(_waiting.pop(str(number)), f"The client said {json.dumps(result)}")
            case jsonrpc.ErrorResponse(number) if number in _waiting:
                return self.take_answer(_waiting.pop(str(number)), None)
        return super().receive_line(line)


def _sampling(arguments: Json) -> Json:
    return {"messages": [{"role": "user", "content": text(arguments["prompt"])}], "maxTokens": 100}


def _form(properties: Json, message: str = "Please fill in") -> Callable[[Json], Json]:
    def params(arguments: Json) -> Json:
        schema = {"type": "object", "properties": properties}
        return {"message": arguments.get("message", message), "requestedSchema": schema}

    return params


WHO: Json = {name: {"type": "string", "description": f"Your {name}."} for name in ("username", "email")}
DEFAULTS: Json = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}


def _titled(*values: str) -> list[Json]:
    return [{"const": value, "title": f"The {value}"} for value in values]


ENUMS: Json = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": _titled("value1", "value2", "value3")},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": _titled("value1", "value2", "value3")}},
}
DEEP_SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {"address": {"$ref": "#/$defs/address"}, "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"required": ["address"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

HANDLERS: Mapping[str, Handler] = {
    **{name: _gives(contents) for name, contents in CONTENTS.items()},
    "test_error_handling": _fails,
    "test_tool_with_progress": _progresses,
    "test_tool_with_logging": _logs,
    "test_logging_tool": _logs,
    **fixture_rounds.HANDLERS,
    "test_sampling": _asks("sampling/createMessage", _sampling),
    "test_elicitation": _asks("elicitation/create", _form(WHO)),
    "test_elicitation_sep1034_defaults": _asks("elicitation/create", _form(DEFAULTS)),
    "test_elicitation_sep1330_enums": _asks("elicitation/create", _form(ENUMS)),
}
SCHEMAS: Mapping[str, Json] = {"json_schema_2020_12_tool": DEEP_SCHEMA}


def plugged_in(config: Callable[[], Config], paths: Paths, instance: str) -> Dialects:
    """The daemon's own table of dialects, with these tools added."""
    methods.OWN = {**methods.OWN, **{name: method(Anything, handler) for name, handler in HANDLERS.items()}}
    described = {
        name: {
            "name": name,
            "description": "For the conformance suite.",
            "inputSchema": SCHEMAS.get(name, NO_ARGUMENTS),
        }
        for name in HANDLERS
    }
    tools.BY_NAME = {**tools.BY_NAME, **described}

    def made(client: Client, said: Options) -> FixtureDialect:
        return FixtureDialect(
            client, lambda: replace(mcp_options(config(), said, SECRET), tools=(*LISTED_TOOLS, *HANDLERS)), METHODS
        )

    return {**dialects(config, paths, instance), "mcp": made}
