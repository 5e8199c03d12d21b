"""`greenroom mcp-servers`: start each configured MCP server from here, and list what it offers. Needs no daemon.

The agent's modules and the SDK are imported by the run alone: this one is also read for completions.
"""

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from supervisor.cli.listing import ListLayout, present
from supervisor.cli.problems import Problem
from supervisor.cli.table import Column, Row
from supervisor.cli.terminal import is_terminal
from supervisor.cli.words import clean, one_line

if TYPE_CHECKING:
    from supervisor.agent.mcp_client.connections import Connections
    from supervisor.config.mcp_servers import McpServer

SERVERS = ListLayout(
    {
        "name": "Its name in the config.",
        "state": "One of ready, failed, off.",
        "approval": "Its default_tools_approval_mode.",
        "tools": "Its tools, as a list: name, offered (the name for models, or null), approval, description.",
        "about": "Its own name and version, as it says.",
        "where": "Its command or its address.",
        "wrong": "Why it has no tools; empty: it has.",
    },
    (
        Column("NAME", lambda row: clean(row["name"])),
        Column("STATE", lambda row: row["state"]),
        Column("APPROVAL", lambda row: row["approval"]),
        Column("TOOLS", lambda row: one_line(row["wrong"] or _told(row)), gives=True),
        Column("WHERE", lambda row: clean(row["where"]), gives=True),
    ),
    "no MCP servers; `[mcp_servers.NAME]` in the config adds one",
    key="name",
)


def run(chosen: Namespace) -> int:
    found = list[Row]()

    def fetch() -> list[Row]:
        found[:] = _rows()
        return found

    code = present(SERVERS, fetch, chosen)
    if is_terminal() and chosen.json is None and chosen.format is None and not chosen.quiet:
        _tell_whole(found)
    return code


def _tell_whole(rows: list[Row]) -> None:
    """Say why servers have no tools, of which a table on a terminal has no more than the first words."""
    for row in rows:
        if row["state"] == "failed":
            print(f"{clean(row['name'])}: {one_line(row['wrong'])}")


def _told(row: Row) -> str:
    names = [tool["name"] for tool in row["tools"] if tool["offered"]]
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def _rows() -> list[Row]:
    import asyncio

    from actors.vocabulary.errors import ConfigError
    from supervisor.config.load import load
    from supervisor.logs.setup import silence

    silence()
    try:
        servers = load(environ=os.environ).config.mcp_servers
    except ConfigError as error:
        raise Problem(error.message, code=error.code) from error
    return asyncio.run(_looked_at(dict(servers))) if servers else []


async def _looked_at(servers: "dict[str, McpServer]") -> list[Row]:
    import asyncio
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from supervisor.agent.bounds import DEFAULTS
    from supervisor.agent.mcp_client.connections import Connections
    from supervisor.agent.processes.processes import Processes

    with TemporaryDirectory(prefix="greenroom-") as folder:
        async with Processes(Path(folder), folder, guarded=True) as processes:
            connections = Connections(processes, DEFAULTS.frame_bytes)
            try:
                return await asyncio.gather(*(_row(connections, name, one) for name, one in servers.items()))
            finally:
                await connections.close()


async def _row(connections: "Connections", name: str, server: "McpServer") -> Row:
    row: Row = {
        "name": name,
        "state": "off",
        "approval": server.default_tools_approval_mode.value,
        "tools": [],
        "about": "",
        "where": server.url or " ".join((server.command or "", *server.args)),
        "wrong": "",
    }
    if server.is_ourselves:
        return {**row, "wrong": "it is Greenroom itself, which is no server for its own conversations"}
    if not server.enabled:
        return {**row, "wrong": "enabled = false"}
    return {**row, **await _tried(connections, name, server)}


async def _tried(connections: "Connections", name: str, server: "McpServer") -> Row:
    from supervisor.agent.environments import Around
    from supervisor.agent.mcp_client.failures import Unavailable
    from supervisor.agent.mcp_client.offers import offered

    try:
        connection = connections.of(name, server, Around(dict(os.environ)))
        tools = await connection.tools()
    except Unavailable as error:
        return {"state": "failed", "wrong": str(error)}
    names = {one.tool.name: one.name for one in offered([(name, server, tools)], ())[0]}
    listed = [
        {
            "name": tool.name,
            "offered": names.get(tool.name),
            "approval": server.approval_of(tool.name).value,
            "description": tool.description,
        }
        for tool in tools
    ]
    return {"state": "ready", "tools": listed, "about": connection.about}
