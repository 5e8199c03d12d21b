"""An MCP server over streamable HTTP, made of the official SDK: `python http_mcp_server.py PORT TOKEN`."""

import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.types import ASGIApp, Receive, Scope, Send

server = MCPServer("over-http")


@server.tool()
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@server.tool()
async def grow(context: Context) -> str:
    """Have one tool more from now on."""
    server.add_tool(half, name="half")
    await context.notify_tools_changed()
    return "grown"


def half(number: int) -> float:
    """Halve a number."""
    return number / 2


class Guarded:
    """An app behind a bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != self._token:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)


if __name__ == "__main__":
    uvicorn.run(
        Guarded(server.streamable_http_app(), sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), log_level="error"
    )
