"""An MCP client over the pipes of a real `greenroom mcp`: says JSON, keeps all that comes, waits for what is wanted.

A thread reads; every wait is bounded and says what came instead. Each line is judged by the JSON Schema of the
revision that was negotiated.
"""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.transports.dialects.mcp.json_schema import check, revision
from tests.transports.dialects.mcp.peer import KNOWN, NOTIFICATIONS, REQUESTS, kind_of

Json = dict[str, Any]
GREENROOM_MCP = (sys.executable, "-P", "-m", "supervisor.cli.app", "mcp")
ROOT = str(Path(__file__).resolve().parents[2])  # -P keeps the working directory out of the way of imports
PATIENCE_S = 20.0  # a daemon's start, on a machine that is very busy
END_S = 5.0  # a bridge leaves within a second


class McpClient:
    """A context manager; inside, the handshake is done unless `hello` is false."""

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
        self.lines: list[Json] = []
        self.faults: list[str] = []
        self.protocol, self.elicits, self._hello = protocol, elicits, hello
        self._changed = threading.Condition()  # guards lines, faults and over
        self._over = False
        self._asked: dict[int | str, str] = {}
        self._numbers = itertools.count(1000)  # ids that a test doesn't choose
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": ROOT, **env},
            cwd=cwd,
            bufsize=0,
        )
        self._reader = threading.Thread(target=self._read, name="mcp-client", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        if self._hello:
            self.initialize()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.leave()
        assert kind or not self.faults, self.faults

    def leave(self) -> float:
        """End the input; the seconds until the server ended. A server that does not end by itself is killed."""
        began = time.monotonic()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_S)
            self.faults.append("the bridge did not end by itself")
        took = time.monotonic() - began
        self._reader.join(END_S)
        self.process.stdout.close()
        return took

    # --- saying ---------------------------------------------------------------------------------------------------

    def say(self, *messages: Json) -> None:
        data = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
        assert self.process.stdin is not None
        left = memoryview(data)
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]

    def begin(
        self, method: str, params: Any = None, request: int | str | None = None, *, cancelled: bool = False
    ) -> int | str:
        """Send a request without waiting. `cancelled`: cancel it with the same write."""
        number = next(self._numbers) if request is None else request
        self._asked[number] = method
        asked = {"id": number, "method": method, **({} if params is None else {"params": params})}
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

    def respond(self, number: int, result: Any) -> None:
        self.say({"id": number, "result": result})

    def refuse(self, number: int) -> None:
        self.say({"id": number, "error": {"code": -32601, "message": "no"}})

    def initialize(self) -> Json:
        capabilities: Json = {"elicitation": {}} if self.elicits else {}
        who = {"name": "tester", "version": "1"}
        params = {"protocolVersion": self.protocol, "capabilities": capabilities, "clientInfo": who}
        answer = self.ask("initialize", params, 0)
        self.say({"method": "notifications/initialized"})
        return answer

    # --- hearing --------------------------------------------------------------------------------------------------

    def wait(self, wanted: Callable[[Json], bool], what: str, *, after: int = 0, limit_s: float = PATIENCE_S) -> Json:
        """Wait for the first wanted line from number `after` on."""
        deadline = time.monotonic() + limit_s
        with self._changed:
            while True:
                for line in self.lines[after:]:
                    if wanted(line):
                        return line
                after = max(after, len(self.lines))
                left = deadline - time.monotonic()
                if self._over or left <= 0:
                    why = "the output ended" if self._over else "not in time"
                    raise AssertionError(f"{what}: {why}; the last lines: {self.lines[-8:]}; {self.faults}")
                self._changed.wait(left)

    def answer(self, request: int | str, **more: Any) -> Json:
        def is_it(line: Json) -> bool:
            return "method" not in line and line["id"] == request and type(line["id"]) is type(request)

        return self.wait(is_it, f"an answer to {request!r}", **more)

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

    def mark(self) -> int:
        """The number of lines so far, to be given as `after`."""
        with self._changed:
            return len(self.lines)

    def told(self, method: str, after: int = 0) -> list[Any]:
        with self._changed:
            return [line.get("params") for line in self.lines[after:] if line.get("method") == method]

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

    # --- the reader's thread --------------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while piece := self.process.stdout.read(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._take(line)
        with self._changed:
            if rest:
                self.faults.append(f"the last line is not whole: {rest[:200]!r}")
            self._over = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        """Take a line; its faults fail the test when the client leaves."""
        try:
            message = json.loads(line)
            self._judge(message)
        except (ValueError, AssertionError, KeyError) as error:
            message = {"method": "unreadable"}
            self.faults.append(f"{error!r} in {line[:500]!r}")
        with self._changed:
            self.lines.append(message)
            self._changed.notify_all()

    def _judge(self, message: Json) -> None:
        root = _schema(self.protocol)
        known = root.get("$defs") or root["definitions"]
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            general = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
            kind = {**NOTIFICATIONS, **REQUESTS}.get(message["method"])
            check(message, known[kind if kind in known else general], root)
        elif "result" in message:
            kind = kind_of(message["result"], self._asked[message["id"]], self.protocol)
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
