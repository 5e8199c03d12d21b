"""Prompts for a client's menu: saved prompts and skills, found by the supervisor in the client's directory."""

from collections.abc import Mapping

from msgspec import to_builtins
from pydantic import Field

from transports.dialects.kit.script import Script, ask
from transports.dialects.mcp.protocol.resources import ListPage, one_page
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import ListPrompts, ReadPrompt


class GetPrompt(McpParams):
    name: str
    arguments: Mapping[str, str] = Field(default_factory=dict)


def list_all(_: McpCall, params: ListPage) -> Script[JsonObject]:
    return one_page(params, to_builtins((yield from ask(ListPrompts()))))


def get(_: McpCall, params: GetPrompt) -> Script[JsonObject]:
    prompt = yield from ask(ReadPrompt(params.name, params.arguments))
    described = {"description": prompt.description} if prompt.description else {}
    return {**described, "messages": [{"role": "user", "content": {"type": "text", "text": prompt.text}}]}
