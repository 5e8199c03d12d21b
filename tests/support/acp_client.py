"""An ACP client over the daemon's socket, or over the pipes of a program: says JSON, keeps all that comes, waits.

A thread reads; every wait is bounded and says what came instead. Each line is judged by the official SDK's models,
unless the program is another's.
"""

import itertools
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

from tests.support.acp_judge import judge
from transports.address import use_short_path

Json = dict[str, Any]
PATIENCE_S = 20.0  # a daemon's start, on a machine that is very busy
END_S = 5.0  # a bridge leaves within a second


class Line(Protocol):
    """Both directions of a wire."""

    def write(self, data: bytes) -> None: ...

    def read(self) -> bytes: ...

    def end(self) -> str:
        """End it; what was wrong with its end, if anything."""
        ...


class SocketLine:
    """The daemon's socket, with a hello of the dialect before everything."""

    def __init__(self, path: str, hello: Mapping[str, Any]) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        use_short_path(path, self._socket.connect)
        said = {"protocol": 1, "dialect": "acp", **hello}
        self.write(json.dumps({"greenroom": said}).encode() + b"\n")
        welcome = b""
        while not welcome.endswith(b"\n"):
            welcome += self._socket.recv(1)
        self.welcome = json.loads(welcome)
        self._socket.settimeout(None)

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self) -> bytes:
        try:
            return self._socket.recv(1 << 16)
        except OSError:
            return b""

    def end(self) -> str:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return ""
        self._socket.close()
        return ""


class ProgramLine:
    """The standard streams of a program."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=cwd,
            bufsize=0,
        )

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        left = memoryview(data)
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]

    def read(self) -> bytes:
        assert self.process.stdout is not None
        piece = self.process.stdout.read(1 << 16) or b""
        if not piece:
            self.process.stdout.close()
        return piece

    def end(self) -> str:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_S)
            return "the program did not end by itself"
        return ""


class AcpClient:
    """A context manager; inside, it has introduced itself. `can`: its capabilities. `judged`: by the schema."""

    def __init__(self, line: Line, can: Json | None = None, *, name: str = "tester", judged: bool = True) -> None:
        self.line, self._can, self._name, self._judged = line, can or {}, name, judged
        self.lines: list[Json] = []
        self.faults: list[str] = []
        self.introduced: Json = {}
        self._changed = threading.Condition()  # guards lines, faults and over
        self._over = False
        self._methods: dict[int | str, str] = {}
        self._numbers = itertools.count(1000)  # ids that a test doesn't choose
        self._reader = threading.Thread(target=self._read, name="acp-client", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        info = {"name": self._name, "version": "1"}
        self.introduced = self.result("initialize", protocolVersion=1, clientCapabilities=self._can, clientInfo=info)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.leave()
        assert kind or not self.faults, self.faults

    def leave(self) -> float:
        """End the input; the seconds until the other end was gone."""
        began = time.monotonic()
        fault = self.line.end()
        took = time.monotonic() - began
        self._reader.join(END_S)
        self.faults += [fault] if fault else []
        return took

    # --- saying ---------------------------------------------------------------------------------------------------

    def say(self, *messages: Json) -> None:
        self.line.write(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages))

    def begin(self, method: str, *, request: int | str | None = None, key: str = "", **params: Any) -> int | str:
        """Send a request without waiting. `key`: that of a bridge, for a prompt."""
        number = next(self._numbers) if request is None else request
        self._methods[number] = method
        beside = {"greenroom": {"key": key}} if key else {}
        self.say({**beside, "id": number, "method": method, "params": params})
        return number

    def ask(self, method: str, **params: Any) -> Json:
        return self.answer(self.begin(method, **params))

    def result(self, method: str, **params: Any) -> Any:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method: str, **params: Any) -> Json:
        answer = self.ask(method, **params)
        assert "error" in answer, answer
        found: Json = answer["error"]
        return found

    def notify(self, method: str, **params: Any) -> None:
        self.say({"method": method, "params": params})

    def respond(self, number: int | str, result: Any) -> None:
        self.say({"id": number, "result": result})

    def choose(self, number: int | str, option: str) -> None:
        self.respond(number, {"outcome": {"outcome": "selected", "optionId": option}})

    # --- steps ----------------------------------------------------------------------------------------------------

    def new(self, cwd: Path | str, **more: Any) -> str:
        return str(self.result("session/new", cwd=str(cwd), mcpServers=[], **more)["sessionId"])

    def prompt(self, session: str, text: str, **more: Any) -> int | str:
        return self.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}], **more)

    def turn(self, session: str, text: str) -> str:
        """Prompt, wait for the end, and return the words that came meanwhile."""
        mark = self.mark()
        answer = self.answer(self.prompt(session, text))
        assert answer.get("result") == {"stopReason": "end_turn"}, answer
        return self.text(after=mark)

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
                    raise AssertionError(f"{what}: {why}; the last lines: {self.lines[-8:]}")
                self._changed.wait(left)

    def answer(self, request: int | str, **more: Any) -> Json:
        def is_it(line: Json) -> bool:
            return "method" not in line and line["id"] == request and type(line["id"]) is type(request)

        return self.wait(is_it, f"an answer to {request!r}", **more)

    def asked(self, method: str = "session/request_permission", **more: Any) -> Json:
        """The whole request from the agent."""
        return self.wait(lambda line: line.get("method") == method and "id" in line, method, **more)

    def withdrawn(self, number: int | str, **more: Any) -> None:
        """Wait until a request from the agent is taken back."""
        self.wait(
            lambda line: line.get("method") == "$/cancel_request" and line["params"]["requestId"] == number,
            f"the withdrawal of {number}",
            **more,
        )

    def update(self, kind: str, *, after: int = 0, **matching: Any) -> Json:
        """The update of this kind; `matching` are members of it."""

        def is_it(line: Json) -> bool:
            told = line["params"]["update"] if line.get("method") == "session/update" else {"sessionUpdate": None}
            return bool(told["sessionUpdate"] == kind and matching.items() <= told.items())

        told: Json = self.wait(is_it, f"the update {kind}", after=after)["params"]["update"]
        return told

    def mark(self) -> int:
        """The number of lines so far, to be given as `after`."""
        with self._changed:
            return len(self.lines)

    def updates(self, kind: str = "", *, after: int = 0, session: str = "") -> list[Json]:
        with self._changed:
            told = [one["params"] for one in self.lines[after:] if one.get("method") == "session/update"]
        mine = [one["update"] for one in told if session in {"", one["sessionId"]}]
        return [one for one in mine if kind in {"", one["sessionUpdate"]}]

    def text(self, kind: str = "agent_message", **more: Any) -> str:
        return "".join(words_of(one, kind) for one in self.updates(**more))

    def place(self) -> int:
        """The last stored event that the updates so far tell of."""
        with self._changed:
            told = [one["params"] for one in self.lines if one.get("method") == "session/update"]
        return int(told[-1]["_meta"]["greenroom"]["seq"]) if told else 0

    # --- the reader's thread --------------------------------------------------------------------------------------

    def _read(self) -> None:
        rest = b""
        while piece := self.line.read():
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
            if self._judged:
                judge(message, self._methods.get(message.get("id")))
        except (ValueError, AssertionError, KeyError) as error:
            message = {"method": "unreadable"}
            self.faults.append(f"{error!r} in {line[:500]!r}")
        with self._changed:
            self.lines.append(message)
            self._changed.notify_all()


def words_of(update: Json, kind: str) -> str:
    """The words of an update, if it is a piece of a message of this kind."""
    return str(update["content"].get("text", "")) if update["sessionUpdate"] == f"{kind}_chunk" else ""
