"""The answers of MCP that need no daemon, for the bridge: from `table.json`, which is written from the dialect.

Standard library alone. What is out of the ordinary in any way is left to the daemon.
"""

from __future__ import annotations

from transports.bridge.json_text import from_json
from transports.dialects.mcp.introduction import agreed, welcome

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transports.bridge.messages import Message

METHOD_NOT_FOUND = -32601


class Table:
    """`version`: the program's. `listed`: the tools that are listed, or None if only the daemon can tell."""

    def __init__(self, version: str, listed: Callable[[], Sequence[str] | None]) -> None:
        self._version = version
        self._listed = listed
        self._written: Message | None = None

    def answer(self, request: Message) -> Message | None:
        method, params = request["method"], {} if request.get("params") is None else request["params"]
        if request.get("jsonrpc", "2.0") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
            return None
        match method:
            case "initialize":
                return self._welcome(params)
            case _ if params.get("_meta") is not None:  # which may name a revision
                return None
            case "ping":
                return {"result": {}}
            case "tools/list" if params.get("cursor") is None:
                return self._tools()
            case "resources/templates/list" if params.get("cursor") is None:
                return {"result": {"resourceTemplates": self._table()["templates"]}}
            case _ if method not in self._table()["methods"]:
                return {"error": {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method}"}}
            case _:
                return None

    def _welcome(self, params: Message) -> Message | None:
        match params:
            case {
                "protocolVersion": str(wanted),
                "capabilities": dict(),
                "clientInfo": {"name": str(), "version": str()},
            }:
                listed = self._listed()
                return None if listed is None else {"result": welcome(agreed(wanted), self._version, listed)}
            case _:
                return None

    def _tools(self) -> Message | None:
        listed, tools = self._listed(), self._table()["tools"]
        return None if listed is None else {"result": {"tools": [tools[name] for name in listed if name in tools]}}

    def _table(self) -> Message:
        if self._written is None:
            with open(f"{__file__.rpartition('/')[0]}/table.json", encoding="utf-8") as written:  # noqa: PTH123  # fast
                self._written = from_json(written.read())
        return self._written
