"""`greenroom mcp-servers`: start each configured MCP server from here, and list its tools. Needs no daemon.

With a conversation: list the servers that clients have given it, as the daemon knows them.

The agent's modules and the SDK are imported only when the verb runs: completion imports this module too.
"""

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from greenroom.answers import Server
from supervisor.cli.kit import ids
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.formatting import clean, one_line
from supervisor.cli.kit.listing import ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row
from supervisor.cli.kit.terminal import is_terminal
from transports.question_text import command_line

if TYPE_CHECKING:
    from supervisor.agents.own.mcp_client.connections import ServerConnections
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
        Column("TOOLS", lambda row: one_line(row["wrong"] or _tool_names(row)), shrinks=True),
        Column("WHERE", lambda row: clean(row["where"]), shrinks=True),
    ),
    "no MCP servers; `[mcp_servers.NAME]` in the config adds one",
    key="name",
)


ANSWERS = {True: "yes", False: "no", None: "not asked"}  # to the question whether the server may be started
GIVEN_SERVERS = ListLayout(
    {
        "name": "Its name.",
        "kind": "One of stdio, http, sse.",
        "approved": "The answer of a person; null: nobody was asked.",
        "where": "Its command, or its address without a query.",
        "values": "The names of the variables or headers that it is given.",
    },
    (
        Column("NAME", lambda row: clean(row["name"])),
        Column("KIND", lambda row: row["kind"]),
        Column("APPROVED", lambda row: ANSWERS[row["approved"]]),
        Column("WHERE", lambda row: one_line(row["where"]), shrinks=True),
        Column("VALUES", lambda row: one_line(", ".join(row["values"])), shrinks=True),
    ),
    "no client has given it any",
    key="name",
)


def run(chosen: Namespace) -> int:
    return _list_configured(chosen) if chosen.conversation is None else _list_given(chosen)


def _list_given(chosen: Namespace) -> int:
    with Control("mcp-servers") as control:

        def fetch() -> list[Row]:
            return list(map(given_row, ids.about(control, chosen.conversation, control.servers)))

        return present(GIVEN_SERVERS, fetch, chosen)


def given_row(server: Server) -> Row:
    if server.kind == "stdio":
        return {**vars(server), "where": command_line(server.command), "values": server.variables}
    return {**vars(server), "where": server.url, "values": server.headers}


def _list_configured(chosen: Namespace) -> int:
    found = list[Row]()

    def fetch() -> list[Row]:
        found[:] = _rows()
        return found

    code = present(SERVERS, fetch, chosen)
    if is_terminal() and chosen.json is None and chosen.format is None and not chosen.quiet:
        _tell_whole(found)
    return code


def _tell_whole(rows: list[Row]) -> None:
    """Say in full why servers have no tools: a table on a terminal has room for the first words only."""
    for row in rows:
        if row["state"] == "failed":
            print(f"{clean(row['name'])}: {one_line(row['wrong'])}")


def _tool_names(row: Row) -> str:
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
    return asyncio.run(_try_all(dict(servers))) if servers else []


async def _try_all(servers: "dict[str, McpServer]") -> list[Row]:
    import asyncio
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from supervisor.agents.own.mcp_client.connections import ServerConnections
    from supervisor.config.bounds import DEFAULTS
    from supervisor.work.processes.processes import Processes

    with TemporaryDirectory(prefix="greenroom-") as folder:
        async with Processes(Path(folder), folder, guarded=True) as processes:
            connections = ServerConnections(processes, DEFAULTS.frame_bytes)
            try:
                return await asyncio.gather(*(_row(connections, name, server) for name, server in servers.items()))
            finally:
                await connections.close()


async def _row(connections: "ServerConnections", name: str, server: "McpServer") -> Row:
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
    return {**row, **await _try_server(connections, name, server)}


async def _try_server(connections: "ServerConnections", name: str, server: "McpServer") -> Row:
    from supervisor.agents.environments import CommandEnvironment
    from supervisor.agents.own.mcp_client.failures import Unavailable
    from supervisor.agents.own.mcp_client.offered_tools import offer_tools

    try:
        connection = connections.connection_to(name, server, CommandEnvironment(dict(os.environ)))
        tools = await connection.tools()
    except Unavailable as error:
        return {"state": "failed", "wrong": str(error)}
    names = {offer.tool.name: offer.name for offer in offer_tools([(name, server, tools)], ())[0]}
    listed = [
        {
            "name": tool.name,
            "offered": names.get(tool.name),
            "approval": server.approval_of(tool.name).value,
            "description": tool.description,
        }
        for tool in tools
    ]
    return {"state": "ready", "tools": listed, "about": connection.server_info}
