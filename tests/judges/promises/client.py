"""The client's side of a trial: turns, replies, stops, and what was told of them. It reads the wire and nothing else.

The session id comes from `session_configured`, as the oldest clients take it; under which name `codex-reply` wants
it, the list of tools says. A line that is no valid MCP is noted, and used as it is.
"""

from typing import Any

from tests.support.line_client import Json
from tests.support.mcp_client import McpClient

WAIT_S = 15.0  # for anything; what takes milliseconds and has not come by then does not come
TERMINAL = {"task_complete", "turn_aborted"}
SESSION_NAMES = ("sessionId", "threadId", "conversationId")


class Client(McpClient):
    patience_s = WAIT_S

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._session_name = ""

    def let_go(self) -> None:
        """Close the connection to a server that has been ended, and wait for its end."""
        self.reading.set()
        self.leave()

    def raw(self, line: bytes) -> None:
        self.line.write(line + b"\n")

    def ping(self) -> None:
        """Send a ping: its answer proves that all earlier lines were read, and that the server is well."""
        assert self.ask("ping").get("result") == {}, "ping was not answered with {}"

    def error_of(self, request: int | str | None, *, after: int = 0) -> int:
        """The code of the JSON-RPC error for this id; None: of an error without an id."""

        def is_it(line: Json) -> bool:
            return "error" in line and "method" not in line and line.get("id") in {request, None}

        error = self.wait(is_it, f"an error for {request!r}", after=after)["error"]
        return int(error["code"])

    # --- turns ----------------------------------------------------------------------------------------------------

    def codex(self, settings: Json, prompt: str, request: int | str | None = None, **more: Any) -> int | str:
        params = {"name": "codex", "arguments": {**settings, "prompt": prompt}}
        return self.begin("tools/call", params, request, **more)

    def reply(self, session: str, prompt: str, request: int | str | None = None, **more: Any) -> int | str:
        arguments = {self.session_name(): session, "prompt": prompt}
        return self.begin("tools/call", {"name": "codex-reply", "arguments": arguments}, request, **more)

    def session_name(self) -> str:
        if not self._session_name:
            (tool,) = [one for one in self.ask("tools/list", {})["result"]["tools"] if one["name"] == "codex-reply"]
            known = tool["inputSchema"]["properties"]
            self._session_name = next(name for name in SESSION_NAMES if name in known)
        return self._session_name

    def opened(self, settings: Json, prompt: str = "say begun") -> str:
        """A session whose first turn is over."""
        call = self.codex(settings, prompt)
        said(self.answer(call))
        return self.session(call)

    def session(self, call: int | str) -> str:
        return str(self.event_of(call, "session_configured")["session_id"])

    def replied(self, session: str, prompt: str) -> str:
        return said(self.answer(self.reply(session, prompt)))

    def stopped(self, call: int | str) -> None:
        """Stop a call and wait for the event of its end."""
        self.cancel(call)
        self.event_of(call, "turn_aborted")

    # --- events ---------------------------------------------------------------------------------------------------

    def event_of(self, call: int | str, kind: str, *, after: int = 0) -> Json:
        """The `msg` of an event."""

        def is_it(line: Json) -> bool:
            return belongs(line, call) and bool(line["params"]["msg"]["type"] == kind)

        told: Json = self.wait(is_it, f"the event {kind}", after=after)["params"]["msg"]
        return told

    def events_of(self, call: int | str, after: int = 0) -> list[Json]:
        with self._changed:
            return [line["params"]["msg"] for line in self.lines[after:] if belongs(line, call)]

    def kinds_of(self, call: int | str, after: int = 0) -> list[str]:
        return [str(one["type"]) for one in self.events_of(call, after)]

    def terminals_of(self, call: int | str, after: int = 0) -> list[str]:
        return [kind for kind in self.kinds_of(call, after) if kind in TERMINAL]

    def number_of_end(self, call: int | str) -> int:
        """The number of the line that told the end of the call's turn."""
        with self._changed:
            ends = [
                number
                for number, line in enumerate(self.lines)
                if belongs(line, call) and line["params"]["msg"]["type"] in TERMINAL
            ]
        assert len(ends) == 1, f"{len(ends)} terminal events"
        return ends[0]


def belongs(line: Json, call: int | str) -> bool:
    """Whether an event belongs to this call; the ids `1` and `"1"` differ."""
    if line.get("method") != "codex/event":
        return False
    owner = line["params"].get("_meta", {}).get("requestId")
    return bool(owner == call and type(owner) is type(call))


def said(answer: Json) -> str:
    """The text of a call that went well."""
    assert "result" in answer, f"answered with an error: {answer.get('error')}"
    result = answer["result"]
    assert not result.get("isError"), f"answered with an error: {result}"
    assert "content" in result, f"the result has no content: {result}"
    return "".join(str(one["text"]) for one in result["content"] if one["type"] == "text")


def is_error(answer: Json) -> bool:
    """Whether an answer is an error of MCP: of the protocol, or of the tool."""
    return "error" in answer or answer["result"].get("isError") is True
