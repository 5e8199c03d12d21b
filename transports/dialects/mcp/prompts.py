"""Prompts for a client's menu: saved prompts and skills, found by the supervisor in the client's directory."""

from collections.abc import Mapping

from msgspec import UNSET, Struct, UnsetType
from pydantic import Field

from transports.dialects.kit.script import Script, ask
from transports.dialects.mcp.protocol.resources import ListPage, one_page
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.supervisor_answers import MenuPrompts
from transports.supervisor_requests import ListPrompts, ReadPrompt


class GetPrompt(McpParams):
    name: str
    arguments: Mapping[str, str] = Field(default_factory=dict)


class PromptContent(Struct, frozen=True):
    type: str
    text: str


class PromptMessage(Struct, frozen=True):
    role: str
    content: PromptContent


class PromptMessages(Struct, frozen=True):
    description: str | UnsetType
    messages: tuple[PromptMessage, ...]


def list_all(_: McpCall, params: ListPage) -> Script[MenuPrompts]:
    return one_page(params, (yield from ask(ListPrompts())))


def get(_: McpCall, params: GetPrompt) -> Script[PromptMessages]:
    prompt = yield from ask(ReadPrompt(params.name, params.arguments))
    message = PromptMessage("user", PromptContent("text", prompt.text))
    return PromptMessages(prompt.description or UNSET, (message,))
