"""The results of tools: contents for models, the same as a structure for programs, and errors. Pure."""

from collections.abc import Mapping

from msgspec import Struct, to_builtins

from actors.vocabulary.errors import GreenroomError
from transports import jsonrpc
from transports.dialects.kit.identifiers import uri_of
from transports.dialects.mcp.protocol.revisions import LINKS_FROM, WITHOUT_LINKS, Introduction
from transports.jsonrpc import JsonObject


class ToolError(GreenroomError):
    """A refusal in a tool's own words."""


def text(*texts: str) -> list[JsonObject]:
    return [{"text": part, "type": "text"} for part in texts]


def tool_error(*texts: str) -> JsonObject:
    """An error as an ordinary result, which is how Codex reports all failures of a tool."""
    return {"content": text(*texts), "isError": True}


def payload(value: Mapping[str, object] | Struct, *, error: bool = False) -> JsonObject:
    """The same object twice: as JSON text for models, as structure for programs."""
    structure = to_builtins(value, enc_hook=jsonrpc.plain)
    return {"content": text(jsonrpc.to_json(structure)), "isError": error, "structuredContent": structure}


def with_link(result: JsonObject, peer: Introduction) -> JsonObject:
    """The result with a link to its conversation, last: many clients show their model the contents alone.

    LangChain makes a file of a link, which OpenAI's API refuses, with the whole request. It has the default name of a
    client without one, so all of these get words instead; so does OpenCode, which drops links.
    """
    thread = result.get("structuredContent", {}).get("threadId")
    if thread is None or peer.revision < LINKS_FROM:
        return result
    if peer.name in WITHOUT_LINKS:
        return {**result, "content": [*result["content"], *text(f"{uri_of(thread)}: {how_to_reply(thread)}")]}
    link = {
        "type": "resource_link",
        "uri": uri_of(thread),
        "name": thread,
        "title": f"Conversation {thread}",
        "description": how_to_reply("this id"),
        "mimeType": "text/markdown",
    }
    return {**result, "content": [*result["content"], link]}


def how_to_reply(thread: str) -> str:
    return f"Say more in it with `codex-reply` and {thread} as threadId."
