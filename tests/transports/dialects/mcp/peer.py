"""A client of the dialect: sends JSON, keeps what comes back, and fails on anything that MCP's schema forbids."""

import json
from functools import cache
from typing import Any

from actors.vocabulary.ids import RequestId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.json_schema import Schema, check, revision
from transports.dialects.codex.methods import METHODS
from transports.dialects.mcp.dialect import McpDialect
from transports.dialects.mcp.protocol.options import McpOptions
from transports.dialects.mcp.protocol.tools import BY_NAME
from transports.wire import LinesArrived

RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "logging/setLevel": "EmptyResult",
    "completion/complete": "CompleteResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tasks/get": "GetTaskResult",
    "tasks/list": "ListTasksResult",
    "tasks/cancel": "CancelTaskResult",
    "tasks/result": "CallToolResult",
}
NOTIFICATIONS = {
    "notifications/cancelled": "CancelledNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/tasks/status": "TaskStatusNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}
KNOWN = {"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
OTHERWISE = {"input_required": "InputRequiredResult", "task": "Result"}  # by the type of a result
REQUESTS = {"elicitation/create": "ElicitRequest"}
Json = dict[str, Any]


def kind_of(result: Json, method: str, protocol: str) -> str | None:
    """The name of a result in the schema; None if that has no word for it, as for tasks of the extension."""
    stateless = protocol == "2026-07-28"
    usual = None if stateless and method.startswith("tasks/") else RESULTS.get(method)
    return OTHERWISE.get(result.get("resultType", ""), usual)


@cache
def schema_of(name: str) -> Schema:
    return revision(name)


class McpClient:
    """`elicits`: whether it declares that it can be asked."""

    def __init__(
        self,
        daemon: Daemon,
        name: str = "c1",
        *,
        elicits: bool = True,
        protocol: str = "2025-06-18",
        hello: bool = True,
        title: str = "tester",
        **options: Any,
    ) -> None:
        self.daemon = daemon
        self.lines: list[Json] = []
        self.protocol = protocol
        self.title = title
        self._asked: dict[RequestId, tuple[str, Json]] = {}
        self._next = 100
        self.dialect: McpDialect
        self.mailbox = daemon.connect(name, self._make(McpOptions(**options)), self._receive)
        if hello:
            self.initialize(elicits=elicits)

    def _make(self, options: McpOptions) -> Any:
        def make(client: Any) -> McpDialect:
            self.dialect = McpDialect(client, lambda: options, METHODS)
            return self.dialect

        return make

    # --- saying ---------------------------------------------------------------------------------------------------

    def line(self, data: bytes, *, settle: bool = True) -> None:
        self.mailbox.tell(LinesArrived((data,)))
        if settle:
            self.daemon.settle()

    def say(self, message: Json, *, settle: bool = True) -> None:
        self.line(json.dumps(message).encode(), settle=settle)

    def begin(
        self, method: str, params: Json | None = None, request: RequestId | None = None, **how: bool
    ) -> RequestId:
        """Send a request without waiting for the answer."""
        if request is None:
            request, self._next = self._next, self._next + 1
        message: Json = {"jsonrpc": "2.0", "id": request, "method": method}
        if params is not None:
            message["params"] = params
        self._asked[request] = (method, params or {})
        self.say(message, **how)
        return request

    def ask(self, method: str, params: Json | None = None, request: RequestId | None = None) -> Json:
        return self.answer(self.begin(method, params, request))

    def tool(self, name: str, arguments: Any = None, request: RequestId | None = None, **more: Any) -> RequestId:
        how = {"settle": more.pop("settle")} if "settle" in more else {}
        params: Json = {"name": name, **more}
        if arguments is not None:
            params["arguments"] = arguments
        return self.begin("tools/call", params, request, **how)

    def result(self, name: str, arguments: Any = None) -> Json:
        result: Json = self.answer(self.tool(name, arguments))["result"]
        return result

    def cancel(self, request: RequestId, *, settle: bool = True) -> None:
        params = {"requestId": request, "reason": "user"}
        self.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}, settle=settle)

    def respond(self, number: int, result: Any) -> None:
        self.say({"jsonrpc": "2.0", "id": number, "result": result})

    def refuse(self, number: int) -> None:
        self.say({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}})

    def initialize(self, *, elicits: bool = True) -> Json:
        capabilities: Json = {"elicitation": {}} if elicits else {}
        answer = self.ask(
            "initialize",
            {
                "protocolVersion": self.protocol,
                "capabilities": capabilities,
                "clientInfo": {"name": self.title, "version": "1"},
            },
            0,
        )
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    # --- hearing --------------------------------------------------------------------------------------------------

    def answers(self, request: RequestId) -> list[Json]:
        return [
            one
            for one in self.lines
            if "method" not in one and one["id"] == request and type(one["id"]) is type(request)
        ]

    def statistics(self) -> dict[str, int]:
        """The sizes of everything that could grow."""
        state = self.dialect._state
        return {
            "requests": len(state.requests),
            "expected": len(state.scripts),
            "readers": len(state.readers._readers),
            "running": len(state.calls._calls),
            "questions": len(state.questions._open),
            "unasked": len(state.questions._unasked),
            "streams": len(state.streams),
            "listeners": len(state.listeners),
            "watched": len(state.watched_resources),
        }

    def answer(self, request: RequestId) -> Json:
        found = self.answers(request)
        assert len(found) == 1, f"request {request!r} has {len(found)} answers"
        return found[0]

    def told(self, method: str) -> list[Json]:
        """Params of the notifications with this method, or of the requests."""
        return [one.get("params", {}) for one in self.lines if one.get("method") == method]

    def events(self) -> list[Json]:
        return [params["msg"] for params in self.told("codex/event")]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def methods(self) -> list[str]:
        """All that came, in order: methods, and `=ID` for answers."""
        return [str(one.get("method") or f"={one['id']}") for one in self.lines]

    def forget(self) -> None:
        self.lines.clear()

    # --- judging --------------------------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        for line in data.splitlines():
            message = json.loads(line)
            self.lines.append(message)
            self._judge(message)

    def _judge(self, message: Json) -> None:
        protocol = self.protocol if self.protocol in KNOWN else "2025-11-25"
        root = schema_of(protocol)
        known = root.get("$defs") or root["definitions"]
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            name = {**NOTIFICATIONS, **REQUESTS}.get(message["method"])
            fallback = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
            check(message, known[fallback], root)
            if name in known:
                check(message, known[name], root)
        elif "result" in message:
            method, params = self._asked[message["id"]]
            as_task = method == "tools/call" and "task" in params and protocol == "2025-11-25"
            name = "CreateTaskResult" if as_task else kind_of(message["result"], method, protocol)
            if name is not None:
                check(message["result"], known[name], root)
            if method == "tools/call" and name == "CallToolResult" and not message["result"].get("isError"):
                schema = BY_NAME[params["name"]]["outputSchema"]
                check(message["result"]["structuredContent"], schema, schema)
        elif (
            message["id"] is not None
        ):  # JSON-RPC has null where no id could be read; MCP's schema has no word for it
            check(message, known.get("JSONRPCError") or known["JSONRPCErrorResponse"], root)


class StatelessClient(McpClient):
    """A client of the revision without a handshake: every request introduces it anew."""

    def __init__(
        self, daemon: Daemon, name: str = "c1", *, elicits: bool = True, tasks: bool = False, **how: Any
    ) -> None:
        self.meta = envelope(elicits=elicits, tasks=tasks)
        super().__init__(daemon, name, protocol="2026-07-28", hello=False, **how)

    def begin(
        self, method: str, params: Json | None = None, request: RequestId | None = None, **how: bool
    ) -> RequestId:
        given = params or {}
        return super().begin(method, {**given, "_meta": {**self.meta, **given.get("_meta", {})}}, request, **how)

    def _judge(self, message: Json) -> None:
        assert "method" not in message or "id" not in message, "a server asks nothing in this era"
        super()._judge(message)
        if "result" in message:
            assert message["result"]["resultType"]
            assert message["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]


def envelope(*, elicits: bool = True, tasks: bool = False) -> Json:
    extensions: Json = {"extensions": {"io.modelcontextprotocol/tasks": {}}} if tasks else {}
    return {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {**({"elicitation": {}} if elicits else {}), **extensions},
    }
