"""The client's side of a trial: requests, prompts, permissions, and what was told. It reads the wire, nothing else.

A thread reads; every wait is bounded and says what came instead. Lines that are no JSON-RPC are noted as faults.
"""

import contextlib
import itertools
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

Json = dict[str, Any]
WAIT_S = 40.0  # for anything: what takes a second here takes many on a busy machine
START_S = 60.0  # some agents take eight seconds to start alone, and load much more with their first session
ASK = "session/request_permission"
ANSWER = Literal["allow", "reject"]
TELLING = frozenset({"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"})  # a turn


class Client:
    """An agent's process and its pipes. `permits` answers permission requests at once; None leaves them open."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, errors: Path) -> None:
        self.lines: list[Json] = []
        self.asked: dict[int | str, str] = {}  # our requests and their methods
        self.faults: list[str] = []
        self.permits: ANSWER | None = "allow"
        self.offered: Json = {}
        self.reading = threading.Event()  # while it is cleared, everything is left in the pipe
        self.reading.set()
        self._changed = threading.Condition()  # guards lines, faults and over
        self._over = False
        self._numbers = itertools.count(1)
        with errors.open("ab") as stderr:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env, cwd=cwd, bufsize=0
            )
        self._reader = threading.Thread(target=self._read, name="acp-client", daemon=True)
        self._reader.start()

    # --- saying -------------------------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        left = memoryview(data)
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]

    def say(self, *messages: Json) -> None:
        self.raw(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))

    def request(self, method: str, params: Json, number: int | str | None = None) -> Json:
        """Make the message of a request."""
        number = f"judge-{next(self._numbers)}" if number is None else number
        self.asked[number] = method
        return {"id": number, "method": method, "params": params}

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

    def respond(self, question: Json, decision: ANSWER | Literal["cancelled"]) -> None:
        self.say({"id": question["id"], "result": {"outcome": outcome(question, decision)}})

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def let_go(self) -> None:
        """Close what is left of an agent that has been killed."""
        self.reading.set()
        self.hang_up()
        self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()

    # --- hearing ------------------------------------------------------------------------------------------------

    def wait(self, wanted: Callable[[Json], bool], what: str, *, after: int = 0, limit_s: float = WAIT_S) -> Json:
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
                    why = "the output ended" if self._over else f"nothing within {limit_s:g} s"
                    raise AssertionError(f"{what}: {why}; the last lines: {json.dumps(self.lines[-6:])[:3000]}")
                self._changed.wait(left)

    def answer(self, call: int | str, *, limit_s: float = WAIT_S) -> Json:
        def is_it(line: Json) -> bool:
            return "method" not in line and line.get("id") == call and type(line["id"]) is type(call)

        return self.wait(is_it, f"an answer to {self.asked.get(call, call)}", limit_s=limit_s)

    def answers(self, call: int | str) -> list[int]:
        """The numbers of the lines that answer a request."""
        with self._changed:
            return [place for place, line in enumerate(self.lines) if "method" not in line and line.get("id") == call]

    def mark(self) -> int:
        """The number of lines so far, to be given as `after`."""
        with self._changed:
            return len(self.lines)

    def question(self, session: str, *, after: int = 0, limit_s: float = WAIT_S) -> Json:
        def is_it(line: Json) -> bool:
            return line.get("method") == ASK and line["params"].get("sessionId") == session

        return self.wait(is_it, "a permission request", after=after, limit_s=limit_s)

    def withdrawn(self, question: Json) -> bool:
        with self._changed:
            return any(
                line.get("method") == "$/cancel_request" and line["params"].get("requestId") == question["id"]
                for line in self.lines
            )

    def updates(self, session: str, after: int = 0, before: int | None = None) -> list[Json]:
        with self._changed:
            return [
                line["params"]["update"]
                for line in self.lines[after:before]
                if line.get("method") == "session/update" and line["params"]["sessionId"] == session
            ]

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

    def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while piece := self.process.stdout.read(1 << 16):
            self.reading.wait()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._take(line)
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            assert isinstance(message, dict), "no object"
            assert message.get("jsonrpc") == "2.0", "no JSON-RPC 2.0"
        except (ValueError, AssertionError) as error:
            self.faults.append(f"{error} in {line[:200]!r}")
            return
        with self._changed:
            self.lines.append(message)
            self._changed.notify_all()
        if "method" in message and "id" in message:
            self._serve(message)

    def _serve(self, request: Json) -> None:
        with contextlib.suppress(OSError):  # it has gone meanwhile
            if request["method"] != ASK:
                self.say({"id": request["id"], "error": {"code": -32601, "message": "not offered"}})
            elif self.permits is not None:
                self.respond(request, self.permits)


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
