"""OpenAI Agents, as its documentation starts a server: `python openai_agents_client.py SERVER SECONDS PID_FILE`.

Its patience is five seconds unless one says otherwise, and it can't be asked.
"""

import asyncio
import json
import sys

from agents import RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from steps import told, walk


async def main() -> None:
    async with MCPServerStdio(params={"command": sys.argv[1], "args": []}) as server:

        async def tools() -> list[str]:
            return [tool.name for tool in await server.list_tools()]

        async def say(name: str, arguments: dict[str, object]) -> str:
            (tool,) = (one for one in await server.list_tools() if one.name == name)
            context = RunContextWrapper(context=None)
            return str(await MCPUtil.invoke_mcp_tool(server, tool, context, json.dumps(arguments)))

        told(await walk(tools, say, [], can=(), patient=False))


asyncio.run(main())
