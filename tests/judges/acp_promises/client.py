"""The client's side of a trial: requests, prompts, permissions, and what was told. It reads the wire, nothing else.

Lines that are no JSON-RPC are noted as faults.
"""

import contextlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from tests.support.line_client import Json, LineClient, ProgramLine

WAIT_S = 40.0  # for anything: what takes a second here takes many on a busy machine
START_S = 60.0  # some agents take eight seconds to start alone, and load much more with their first session
ASK = "session/request_permission"
ANSWER = Literal["allow", "reject"]
TELLING = frozenset({"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"})  # a turn


class Client(LineClient):
    """An agent's process and its pipes. `permits` answers permission requests at once; None leaves them open."""

    patience_s = WAIT_S
    line: ProgramLine

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, errors: Path) -> None:
        self.permits: ANSWER | None = "allow"
        self.offered: Json = {}
        super().__init__(ProgramLine(argv, env, cwd, errors), "acp-client")

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        return self.line.process

    # --- saying -------------------------------------------------------------------------------------------------

    def begin(self, method: str, params: Json, number: int | str | None = None) -> int | str:
        message = self.request(method, params, number)
        self.say(message)
        chosen: int | str = message["id"]
        return chosen

    def ask(self, method: str, params: Json, *, limit_s: float = WAIT_S) -> Json:
        """Send a request; its answer, which may be an error."""
        return self.answer(self.begin(method, params), limit_s=limit_s)

    def result(self, method: str, params: Json, *, limit_s: float = WAIT_S) -> Json:
        return result_of(self.ask(method, params, limit_s=limit_s), method)

    def initialize(self, version: int = 1) -> Json:
        params = {
            "protocolVersion": version,
            "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
            "clientInfo": {"name": "judge", "title": "Judge", "version": "1"},
        }
        self.offered = self.result("initialize", params, limit_s=START_S)
        return self.offered

    def can(self, name: str) -> bool:
        """Whether the agent offers `load`, `resume`, `list` …"""
        capabilities = self.offered.get("agentCapabilities") or {}
        if name == "load":
            return capabilities.get("loadSession") is True
        return (capabilities.get("sessionCapabilities") or {}).get(name) is not None

    def new(self, cwd: Path, servers: Sequence[Json] = ()) -> str:
        params = {"cwd": str(cwd), "mcpServers": list(servers)}
        return str(self.result("session/new", params, limit_s=START_S)["sessionId"])

    def prompt(self, session: str, text: str) -> int | str:
        return self.begin("session/prompt", prompt(session, text))

    def ended(self, call: int | str, reason: str = "end_turn", *, limit_s: float = WAIT_S) -> None:
        """Wait for the end of a prompt, which has to have this reason."""
        why = result_of(self.answer(call, limit_s=limit_s), "the prompt").get("stopReason")
        assert why == reason, f"it ended with {why!r} instead of {reason!r}"

    def turn(self, session: str, text: str) -> str:
        """Carry out a prompt that ends well; the words of the answer."""
        mark = self.mark()
        self.ended(self.prompt(session, text))
        return self.words(session, mark)

    def cancel(self, session: str) -> None:
        self.say(cancel(session))

    def decide(self, question: Json, decision: ANSWER | Literal["cancelled"]) -> None:
        self.respond(question["id"], {"outcome": outcome(question, decision)})

    def let_go(self) -> None:
        """Close what is left of an agent that has been killed."""
        self.reading.set()
        self.leave()

    # --- hearing ------------------------------------------------------------------------------------------------

    def answers(self, call: int | str) -> list[int]:
        """The numbers of the lines that answer a request."""
        with self._changed:
            return [place for place, line in enumerate(self.lines) if "method" not in line and line.get("id") == call]

    def question(self, session: str, *, after: int = 0, limit_s: float = WAIT_S) -> Json:
        def is_it(line: Json) -> bool:
            return line.get("method") == ASK and line["params"].get("sessionId") == session

        return self.wait(is_it, "a permission request", after=after, limit_s=limit_s)

    def withdrawn(self, question: Json) -> bool:
        return any(one.get("requestId") == question["id"] for one in self.told("$/cancel_request"))

    def updates(self, session: str, after: int = 0, before: int | None = None) -> list[Json]:
        told = self.told("session/update", after, before)
        return [one["update"] for one in told if one["sessionId"] == session]

    def words(self, session: str, after: int = 0) -> str:
        return "".join(text_of(one) for one in self.updates(session, after) if kind(one) == "agent_message_chunk")

    def until_told(self, session: str, wanted: str, *, after: int = 0) -> None:
        """Wait for an update of this kind."""

        def is_it(line: Json) -> bool:
            if line.get("method") != "session/update" or line["params"]["sessionId"] != session:
                return False
            return kind(line["params"]["update"]) == wanted

        self.wait(is_it, f"an update {wanted}", after=after)

    # --- the reader's thread ------------------------------------------------------------------------------------

    def _serve(self, message: Json) -> None:
        if "method" not in message or "id" not in message:
            return
        with contextlib.suppress(OSError):  # it has gone meanwhile
            if message["method"] != ASK:
                self.refuse(message["id"])
            elif self.permits is not None:
                self.decide(message, self.permits)


def prompt(session: str, text: str) -> Json:
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


def cancel(session: str) -> Json:
    return {"method": "session/cancel", "params": {"sessionId": session}}


def outcome(question: Json, decision: str) -> Json:
    """Choose the option of the kind that is wanted, rather for once than for always."""
    if decision == "cancelled":
        return {"outcome": "cancelled"}
    options = question["params"]["options"]
    fits = [one for one in options if str(one["kind"]).startswith(decision)]
    assert fits, f"no option to {decision} in {options}"
    chosen = min(fits, key=lambda one: not str(one["kind"]).endswith("once"))
    return {"outcome": "selected", "optionId": chosen["optionId"]}


def result_of(answer: Json, what: str) -> Json:
    assert "result" in answer, f"{what} was answered with an error: {json.dumps(answer.get('error'))[:400]}"
    return answer["result"] or {}


def kind(update: Json) -> str:
    return str(update.get("sessionUpdate"))


def text_of(update: Json) -> str:
    content = update.get("content")
    return str(content.get("text") or "") if isinstance(content, dict) else ""
