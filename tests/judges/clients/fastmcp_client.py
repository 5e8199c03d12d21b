"""FastMCP's client: `python fastmcp_client.py SERVER SECONDS PID_FILE`."""

import asyncio
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from steps import told, walk

answers: list[str] = []


async def asked(*_: Any) -> Any:
    action = answers.pop(0)
    return ElicitResult(action=action, content={} if action == "accept" else None)


async def main() -> None:
    async with Client(StdioTransport(sys.argv[1], []), elicitation_handler=asked) as client:

        async def tools() -> list[str]:
            return [tool.name for tool in await client.list_tools()]

        async def say(name: str, arguments: dict[str, object]) -> str:
            result = await client.call_tool(name, arguments, raise_on_error=False)
            return " ".join(str(block.model_dump(exclude_none=True)) for block in result.content)

        told(await walk(tools, say, answers, patient=True))


asyncio.run(main())
