"""Pydantic AI: `python pydantic_ai_client.py SERVER SECONDS PID_FILE`."""

import asyncio
import sys
from typing import Any

from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset
from steps import told, walk

answers: list[str] = []


async def asked(*_: Any) -> Any:
    action = answers.pop(0)
    return ElicitResult(action=action, content={} if action == "accept" else None)


async def main() -> None:
    async with MCPToolset(StdioTransport(sys.argv[1], []), elicitation_handler=asked) as toolset:

        async def tools() -> list[str]:
            return [tool.name for tool in await toolset.list_tools()]

        async def say(name: str, arguments: dict[str, object]) -> str:
            return str(await toolset.direct_call_tool(name, arguments))

        told(await walk(tools, say, answers, patient=True))


asyncio.run(main())
