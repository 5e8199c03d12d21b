"""LangChain's adapters: `python langchain_client.py SERVER SECONDS PID_FILE`. It can't be asked."""

import asyncio
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from steps import told, walk


async def main() -> None:
    client = MultiServerMCPClient({"greenroom": {"transport": "stdio", "command": sys.argv[1], "args": []}})
    async with client.session("greenroom") as session:
        known = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def tools() -> list[str]:
            return list(known)

        async def say(name: str, arguments: dict[str, object]) -> str:
            return str(await known[name].ainvoke(arguments))

        told(await walk(tools, say, [], can=(), patient=False))


asyncio.run(main())
