"""Completion of arguments: conversation ids for the resource templates; prompts have free text."""

from actors.messages.routing import ListBeginning
from transports import jsonrpc
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, ask, look_up
from transports.dialects.mcp.protocol.resources import TEMPLATES
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import ListPrompts

VALUES = 100  # values of a completion; MCP allows no more


class Argument(McpParams):
    name: str
    value: str


class Complete(McpParams):
    ref: JsonObject
    argument: Argument


def complete(_: McpCall, params: Complete) -> Script[JsonObject]:
    match params.ref:
        case {"type": "ref/resource", "uri": uri} if uri in {template["uriTemplate"] for template in TEMPLATES}:
            _insist(params.argument.name, ["id"])
            found = (yield from look_up(ListBeginning(params.argument.value, VALUES + 1))).conversations
        case {"type": "ref/prompt", "name": str(name)}:
            prompts = (yield from ask(ListPrompts())).prompts
            chosen = next((prompt for prompt in prompts if prompt.name == name), None)
            if chosen is None:
                raise MethodError(jsonrpc.INVALID_PARAMS, f"no prompt {name!r}")
            _insist(params.argument.name, [argument.name for argument in chosen.arguments])
            found = ()
        case _:
            raise MethodError(jsonrpc.INVALID_PARAMS, "only prompts and the templates of resources can be completed")
    total = {"total": len(found)} if len(found) <= VALUES else {}
    return {"completion": {"values": found[:VALUES], "hasMore": not total, **total}}


def _insist(name: str, known: list[str]) -> None:
    if name not in known:
        raise MethodError(jsonrpc.INVALID_PARAMS, f"no argument {name!r}")
