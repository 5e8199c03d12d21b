"""The page of the MCP server, from the tables of its dialect: tools, resources, and Codex's conversation methods.

Also the table from which a bridge answers while there is no daemon.
"""

from collections.abc import Iterator

from supervisor.config.greenroom_table import Mcp
from tools.reference.members import Schema, member_table, page
from transports import jsonrpc
from transports.dialects.codex.methods import METHODS
from transports.dialects.mcp import methods, stateless
from transports.dialects.mcp.protocol.introduction import SUPPORTED
from transports.dialects.mcp.protocol.resources import TEMPLATES
from transports.dialects.mcp.protocol.tools import ALL, BY_NAME

HEAD = """# The MCP server

This page is written from the code by `make reference`.

`greenroom mcp` is an MCP server over stdio. It speaks these revisions: {revisions}. How it works is in
[MCP, as Codex clients know it](../mcp.md), how to come from Codex in
[migrating](../how-to/migrating-from-codex-mcp-server.md).

## Tools

All of them can be called. Which ones `tools/list` shows is the choice of `greenroom.mcp.tools` in the
[configuration](../config.md); by default {listed}.
"""

RESOURCES = """## Resources

| address | type | content |
|---|---|---|"""

METHODS_HEAD = """## Conversation methods

Codex's own JSON-RPC methods, on the same connection. They are not part of MCP.
"""


def mcp_page() -> str:
    default = Mcp()
    listed = ", ".join(f"`{name}`" for name in default.tools)
    parts = [HEAD.format(revisions=", ".join(reversed(SUPPORTED)), listed=listed), *_tools()]
    rows = (
        f"| `{template.uri_template}` | {template.mime_type} | {template.description} |" for template in TEMPLATES
    )
    parts += [RESOURCES, *rows, "", METHODS_HEAD]
    parts += (f"- `{name}`" for name in METHODS)
    return page(parts)


def mcp_table() -> str:
    known = dict.fromkeys((*methods.METHODS, *stateless.METHODS, *METHODS))
    return jsonrpc.line({"methods": [*known], "templates": TEMPLATES, "tools": BY_NAME}).decode()


def _tools() -> Iterator[str]:
    for tool in ALL:
        yield f"### `{tool['name']}`\n"
        yield f"{tool['description']}\n"
        yield from _table("Arguments", tool["inputSchema"], asked=True)
        yield from _table("Result (`structuredContent`)", tool["outputSchema"])


def _table(title: str, schema: Schema, *, asked: bool = False) -> Iterator[str]:
    if schema["properties"]:
        yield f"{title}:\n"
        yield from member_table(schema, asked=asked)
        yield ""
