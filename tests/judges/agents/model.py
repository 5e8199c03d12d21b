"""A model server for third-party agents, on the four wires that they speak. What it answers stands in the prompt.

Agents put words of their own around a prompt, so only lines that begin with `@@` count: `@@say WORDS`,
`@@run COMMAND`, `@@outside COMMAND` (which asks to leave the agent's own sandbox), `@@slow COUNT MS [WORD]`,
`@@count` (how many prompts the agent remembers). Each line is one answer; after the last comes `done`.
"""

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from tests.judges.agents import wires

LINE = re.compile(r"^@@(\w+) ?(.*)$", re.MULTILINE)
SHELLS = {
    "Bash": "command",
    "bash": "command",
    "run_shell_command": "command",
    "exec_command": "cmd",
    "shell_command": "command",
    "shell": "command",
}
WORDS = frozenset({"shell"})  # these take a list
# Questions that agents ask a model beside the conversation: a title, which model is to answer, what is risky.
ASIDE = {
    "title": "A title",
    "complexity_reasoning": "short",
    "complexity_score": 10,
    "model_choice": "flash",
    "reasoning": "short",
    "next_speaker": "user",
    "risk_level": "low",
    "risk_score": 1,
    "user_authorization": "high",
    "outcome": "allow",
    "rationale": "a test",
    "evidence": [],
}


class Step(NamedTuple):
    """One answer: words, in pieces with a pause between them, or a call."""

    pieces: tuple[str, ...] = ()
    pause_s: float = 0.0
    tool: str = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012  # nobody writes to it


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of an agent that has been killed, or has hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@dataclass
class AgentModel:
    """The server. `prompts`: how many scripted prompts each request held, in order; `bodies`: these requests."""

    prompts: list[int] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                self._whole(b"")

            def do_GET(self) -> None:
                self._whole(b'{"object":"list","data":[],"models":[]}')

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                wire = wires.of(self.path)
                if wire is None:
                    self._whole(b'{"input_tokens":10,"totalTokens":10}')
                    return
                asked = wire.read(body)
                if asked.tools:
                    model.bodies.append(json.dumps(body, ensure_ascii=False))
                step = model.answer(asked)
                if wire.streams(self.path, body):
                    self._stream(wire.stream(step), step.pause_s)
                else:
                    self._whole(json.dumps(wire.whole(step)).encode())

            def _whole(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _stream(self, events: Iterator[str], pause_s: float) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                try:
                    for event in (*events, ""):
                        data = event.encode()
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                        self.wfile.flush()
                        time.sleep(pause_s)
                except OSError:
                    self.close_connection = True  # the agent was interrupted

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="agents-model", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, asked: wires.Asked) -> Step:
        scripted = [place for place, said in enumerate(asked.said) if said.by_user and LINE.search(said.text)]
        if not asked.tools:
            return Step((json.dumps(ASIDE) if asked.wants_json else "A title",))
        if not scripted:
            return Step(("nothing was scripted",))
        self.prompts.append(len(scripted))
        lines = LINE.findall(asked.said[scripted[-1]].text)
        done = [said.text for said in asked.said[scripted[-1] :] if not said.by_user]
        if len(done) >= len(lines):
            return Step((f"done: {done[-1][-300:]}" if done else "done",))
        verb, rest = lines[len(done)]
        return _step(verb, rest, asked.tools, len(scripted))


def _step(verb: str, rest: str, tools: frozenset[str], prompts: int) -> Step:
    if verb in {"run", "outside"}:
        return _run(rest, tools, outside=verb == "outside")
    if verb == "slow":
        count, pause_ms, *word = rest.split()
        name = word[0] if word else "tick"
        return Step(tuple(f"{name}{number} " for number in range(int(count))), float(pause_ms) / 1000)
    return Step((f"count={prompts}" if verb == "count" else rest,))


def _run(command: str, tools: frozenset[str], *, outside: bool) -> Step:
    """Call the shell that the agent offers."""
    tool = next((one for one in SHELLS if one in tools), "")
    arguments: dict[str, Any] = {SHELLS[tool]: ["sh", "-c", command] if tool in WORDS else command}
    if tool == "exec_command":
        escalated = {"sandbox_permissions": "require_escalated", "justification": "a test"}
        arguments |= escalated if outside else {"yield_time_ms": 60_000}
    elif tool not in WORDS:
        arguments["description"] = "run it"
    return Step(tool=tool, arguments=arguments)
