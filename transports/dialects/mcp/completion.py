"""Completion of arguments: conversation ids for the resource templates; prompts have free text."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from actors.messages.routing import ListBeginning
from transports import jsonrpc
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, ask, look_up
from transports.dialects.mcp.protocol.resources import TEMPLATES
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.supervisor_requests import ListPrompts

VALUES = 100  # values of a completion; MCP allows no more


class Argument(McpParams):
    name: str
    value: str


class CompletionReference(McpParams):
    type: str = ""
    uri: str = ""
    name: str | None = None


class Complete(McpParams):
    ref: CompletionReference
    argument: Argument


class CompletedValues(Struct, frozen=True, rename="camel"):
    values: Sequence[str]
    has_more: bool
    total: int | UnsetType


class CompletionResult(Struct, frozen=True):
    completion: CompletedValues


def complete(_: McpCall, params: Complete) -> Script[CompletionResult]:
    found: Sequence[str] = ()
    match params.ref:
        case CompletionReference(type="ref/resource", uri=uri) if uri in {
            template.uri_template for template in TEMPLATES
        }:
            _insist(params.argument.name, ["id"])
            found = (yield from look_up(ListBeginning(params.argument.value, VALUES + 1))).conversations
        case CompletionReference(type="ref/prompt", name=str(name)):
            prompts = (yield from ask(ListPrompts())).prompts
            chosen = next((prompt for prompt in prompts if prompt.name == name), None)
            if chosen is None:
                raise MethodError(jsonrpc.INVALID_PARAMS, f"no prompt {name!r}")
            _insist(params.argument.name, [argument.name for argument in chosen.arguments])
        case _:
            raise MethodError(jsonrpc.INVALID_PARAMS, "only prompts and the templates of resources can be completed")
    more = len(found) > VALUES
    return CompletionResult(CompletedValues(found[:VALUES], more, UNSET if more else len(found)))


def _insist(name: str, known: list[str]) -> None:
    if name not in known:
        raise MethodError(jsonrpc.INVALID_PARAMS, f"no argument {name!r}")
