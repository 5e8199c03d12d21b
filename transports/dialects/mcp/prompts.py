"""Prompts for a client's menu: saved ones and skills, as the supervisor finds them in the client's directory."""

from collections.abc import Mapping

from pydantic import Field

from transports.dialects.kit.script import Script, ask
from transports.dialects.mcp.protocol.resources import ListPage, one_page
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.jsonrpc import JsonObject
from transports.requests import ListPrompts, ReadPrompt


class GetPrompt(McpParams):
    name: str
    arguments: Mapping[str, str] = Field(default_factory=dict)


def list_all(_: McpCall, wanted: ListPage) -> Script[JsonObject]:
    found = yield from ask(ListPrompts())
    return one_page(wanted, dict(found.value))


def get(_: McpCall, wanted: GetPrompt) -> Script[JsonObject]:
    found = (yield from ask(ReadPrompt(wanted.name, wanted.arguments))).value
    described = {"description": found["description"]} if found["description"] else {}
    return {**described, "messages": [{"role": "user", "content": {"type": "text", "text": found["text"]}}]}
