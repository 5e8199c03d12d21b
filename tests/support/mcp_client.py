"""An MCP client over the pipes of a real `greenroom mcp`.

Each line is judged by the JSON Schema of the revision that was negotiated.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.line_client import Json, LineClient, ProgramLine
from tests.transports.dialects.mcp.json_schema import check, revision
from tests.transports.dialects.mcp.peer import KNOWN, NOTIFICATIONS, REQUESTS, kind_of

GREENROOM_MCP = (sys.executable, "-P", "-m", "supervisor.cli.app", "mcp")
ROOT = str(Path(__file__).resolve().parents[2])  # -P keeps the working directory out of the way of imports


class McpClient(LineClient):
    """A context manager; inside, the handshake is done unless `hello` is false."""

    line: ProgramLine

    def __init__(
        self,
        env: Mapping[str, str],
        *arguments: str,
        protocol: str = "2025-06-18",
        elicits: bool = True,
        hello: bool = True,
        cwd: Path | None = None,
        command: Sequence[str] = GREENROOM_MCP,
    ) -> None:
        self.protocol, self.elicits, self._hello = protocol, elicits, hello
        super().__init__(ProgramLine([*command, *arguments], {"PYTHONPATH": ROOT, **env}, cwd), "mcp-client")

    def __enter__(self) -> Self:
        if self._hello:
            self.initialize()
        return self

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        return self.line.process

    # --- saying ---------------------------------------------------------------------------------------------------

    def begin(
        self, method: str, params: Any = None, request: int | str | None = None, *, cancelled: bool = False
    ) -> int | str:
        """Send a request without waiting. `cancelled`: cancel it with the same write."""
        asked = self.request(method, params, request)
        number: int | str = asked["id"]
        taken_back = {"method": "notifications/cancelled", "params": {"requestId": number}}
        self.say(asked, *([taken_back] if cancelled else []))
        return number

    def ask(self, method: str, params: Any = None, request: int | str | None = None) -> Json:
        return self.answer(self.begin(method, params, request))

    def tool(
        self, name: str, arguments: Json | None = None, request: int | str | None = None, **more: Any
    ) -> int | str:
        params = {"name": name, **({} if arguments is None else {"arguments": arguments}), **more}
        return self.begin("tools/call", params, request)

    def result(self, name: str, arguments: Json | None = None, request: int | str | None = None, **more: Any) -> Json:
        answer = self.answer(self.tool(name, arguments, request, **more))
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def cancel(self, request: int | str) -> None:
        self.say({"method": "notifications/cancelled", "params": {"requestId": request, "reason": "user"}})

    def initialize(self) -> Json:
        capabilities: Json = {"elicitation": {}} if self.elicits else {}
        who = {"name": "tester", "version": "1"}
        params = {"protocolVersion": self.protocol, "capabilities": capabilities, "clientInfo": who}
        answer = self.ask("initialize", params, 0)
        self.say({"method": "notifications/initialized"})
        return answer

    # --- hearing --------------------------------------------------------------------------------------------------

    def notified(self, method: str, **more: Any) -> Any:
        """Params of the notification, or of the request from the server."""
        return self.wait(lambda line: line.get("method") == method, method, **more).get("params")

    def asked(self, method: str = "elicitation/create", **more: Any) -> Json:
        """The whole request from the server."""
        return self.wait(lambda line: line.get("method") == method and "id" in line, method, **more)

    def event(self, kind: str, *, after: int = 0, **matching: Any) -> Json:
        """Params of a `codex/event`, or of a listener's `codex/event/KIND`; `matching` are members of its `msg`."""

        def is_it(line: Json) -> bool:
            told = line["params"]["msg"] if str(line.get("method")).startswith("codex/event") else {"type": None}
            return bool(told["type"] == kind and matching.items() <= told.items())

        params: Json = self.wait(is_it, f"the event {kind}", after=after)["params"]
        return params

    def types(self, after: int = 0) -> list[str]:
        return [params["msg"]["type"] for params in self.told("codex/event", after)]

    def settle(self) -> None:
        """Wait until the daemon has said all about earlier messages, which a ping's answer proves."""
        answer = self.ask("ping")
        if (
            "error" in answer
        ):  # it was on its way to a daemon that had just died: the bridge says so, and to ask again
            assert answer["error"]["data"]["retryable"]
            answer = self.ask("ping")
        assert answer["result"] == {}

    def _judge(self, message: Json) -> None:
        root = _schema(self.protocol)
        known = root.get("$defs") or root["definitions"]
        if "method" in message:
            general = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
            kind = {**NOTIFICATIONS, **REQUESTS}.get(message["method"])
            check(message, known[kind if kind in known else general], root)
        elif "result" in message:
            kind = kind_of(message["result"], self.methods[message["id"]], self.protocol)
            if kind is not None:
                check(message["result"], known[kind], root)
        else:
            check(message["error"], {"type": "object", "required": ["code", "message"]}, root)


_SCHEMAS: dict[str, Any] = {}


def _schema(protocol: str) -> Any:
    """The schema of a revision; for one without a schema here, that of our newest, which is negotiated then."""
    name = protocol if protocol in KNOWN else "2025-11-25"
    if name not in _SCHEMAS:
        _SCHEMAS[name] = revision(name)
    return _SCHEMAS[name]
