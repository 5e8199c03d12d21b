"""The answers of MCP that need no daemon, for the bridge: read from `table.json`, which the dialect writes.

Standard library alone. An unusual request is left to the daemon.
"""

from __future__ import annotations

from transports.bridge.json_text import from_json
from transports.dialects.mcp.protocol.introduction import (
    DISCOVER,
    META_REVISION,
    agreed_revision,
    complete_result,
    discovery_result,
    refusal,
    welcome,
)

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transports.bridge.messages import Message

METHOD_NOT_FOUND = -32601


class OfflineAnswers:
    """`version`: our program's. `listed_tools`: the listed tools, or None if only the daemon knows them."""

    def __init__(self, version: str, listed_tools: Callable[[], Sequence[str] | None]) -> None:
        self._version = version
        self._listed = listed_tools
        self._written: Message | None = None

    def answer(self, request: Message, *, introduced: bool = False) -> Message | None:
        """The outcome of a request. `introduced`: the client has shaken hands, which decides its further requests."""
        method, params = request["method"], {} if request.get("params") is None else request["params"]
        if request.get("jsonrpc", "2.0") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
            return None
        meta = {} if params.get("_meta") is None else params["_meta"]
        if not isinstance(meta, dict):
            return None
        if method == "initialize":
            return None if introduced else self._welcome(params, meta)
        if META_REVISION in meta or method == DISCOVER:
            return None if introduced else self._stateless(method, params, meta)
        match method:
            case "ping":
                return {"result": {}}
            case _ if method not in self._table()["methods"]:
                return {"error": {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method}"}}
            case _:
                listing = self._list(method, params)
                return None if listing is None else {"result": listing}

    def _stateless(self, method: str, params: Message, meta: Message) -> Message | None:
        """The outcome of a request that introduces its client itself, or has to."""
        why = refusal(meta)
        if why is not None:
            code, text, data = why
            return {"error": {"code": code, "message": text, **({} if data is None else {"data": data})}}
        if method == DISCOVER:
            tools = self._listed()
            return None if tools is None else {"result": discovery_result(self._version, tools)}
        listing = self._list(method, params)
        return None if listing is None else {"result": complete_result(method, listing, self._version)}

    def _welcome(self, params: Message, meta: Message) -> Message | None:
        if refusal(meta) is None:  # a stateless request, for which there is no handshake
            return None
        match params:
            case {
                "protocolVersion": str(wanted),
                "capabilities": dict(),
                "clientInfo": {"name": str(), "version": str()},
            }:
                tools = self._listed()
                return None if tools is None else {"result": welcome(agreed_revision(wanted), self._version, tools)}
            case _:
                return None

    def _list(self, method: str, params: Message) -> Message | None:
        """A list that fits on one page."""
        if params.get("cursor") is not None:
            return None
        if method == "resources/templates/list":
            return {"resourceTemplates": self._table()["templates"]}
        names = self._listed() if method == "tools/list" else None
        tools = self._table()["tools"]
        return None if names is None else {"tools": [tools[name] for name in names if name in tools]}

    def _table(self) -> Message:
        if self._written is None:
            with open(f"{__file__.rpartition('/')[0]}/table.json", encoding="utf-8") as written:  # noqa: PTH123  # fast
                self._written = from_json(written.read())
        return self._written
