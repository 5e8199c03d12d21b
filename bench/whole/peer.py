"""An MCP client that does the same to any server of the codex shape over stdio: ours, or one named by its command.

It knows `initialize`, `tools/list`, the tools `codex` and `codex-reply`, `codex/event` notifications and
`notifications/cancelled`. The model is the scripted one; the server is told of it by `config` and by the environment.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from bench.whole import floors
from bench.whole.rows import Figure, p50, p99
from bench.whole.stage import cpu_s
from tests.support.command_line import words_of

WAIT_S = 30.0
GONE_S = 2.0  # for processes of a cancelled command; a server that leaves them for longer leaves them for good
LOOK_S = 0.0005
TURNS, DELTAS, INTERRUPTS = 50, 50_000, 20
Message = dict[str, Any]


class Unanswered(Exception):
    """The server did not answer in time, or ended."""


class McpClient:
    """A client that sends a request at a time; the waiting call looks at all messages meanwhile."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, cwd=cwd
        )
        self._came: queue.Queue[Message | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def cpu_s(self) -> float:
        return cpu_s(self._process.pid)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                with contextlib.suppress(ValueError):
                    self._came.put(json.loads(line))
        self._came.put(None)

    def say(self, body: Message) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **body}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise Unanswered(f"the server went: {error}") from error

    def start(self, method: str, params: Message) -> int:
        self._number += 1
        self.say({"id": self._number, "method": method, "params": params})
        return self._number

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                message = self._came.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Unanswered("the server said nothing in time") from None
            if message is None:
                raise Unanswered("the server went")
            if wanted(message):
                return message

    def answer(self, request: int) -> Message:
        message = self.wait_for(lambda message: message.get("id") == request and "method" not in message)
        if "error" in message:
            raise Unanswered(f"refused: {message['error']}")
        result: Message = message["result"]
        return result

    def call(self, method: str, params: Message) -> Message:
        return self.answer(self.start(method, params))


class Workload:
    """The same conversation with every server."""

    def __init__(
        self,
        command: str,
        base_url: str,
        cwd: Path,
        environ: Mapping[str, str] | None = None,
        *,
        configured: bool = False,
        daemon: Callable[[], float] = lambda: 0.0,
        bare: floors.Bare | None = None,
    ) -> None:
        """`configured`: the server knows the model already, from a file. `daemon`: CPU used by its second half.

        `bare`: the cost of its model and its commands without it.
        """
        self._bare = bare
        self._daemon_cpu_s = daemon
        self._commands = 0
        self._command = words_of(command)
        self._cwd = cwd
        self._environ = {**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": base_url, **(environ or {})}
        self._arguments: Message = {
            "cwd": str(cwd),
            "model": "scripted",
            "approval-policy": "never",
            "sandbox": "danger-full-access",
            "config": {} if configured else provider(base_url),
        }

    def rows(self, name: str) -> list[Figure]:
        starts = [self._start_ms() for _ in range(5)]
        least = floors.interpreter_ms()
        rows = [Figure(f"{name}: start to the answer of initialize", p50(starts), "ms", least, "bare interpreter")]
        with self._connect() as client:
            return [*rows, *self._turns(name, client), *self._one_stream(name, client), *self._cancels(name, client)]

    def _turns(self, name: str, client: McpClient) -> list[Figure]:
        times = [self._turn_ms(client, "say x") for _ in range(TURNS)]
        least = self._bare.turn_ms if self._bare else None
        what, floor = f"{name}: `codex` with a one-word turn", "bare HTTP read"
        return [
            Figure(f"{what}, p50", p50(times), "ms", p50(least) if least else None, floor),
            Figure(f"{what}, p99", p99(times), "ms", p99(least) if least else None, floor),
        ]

    def _one_stream(self, name: str, client: McpClient) -> list[Figure]:
        before = client.cpu_s() + self._daemon_cpu_s()
        took = self._turn_ms(client, f"pack 4096; stream {DELTAS} word")
        cost = (client.cpu_s() + self._daemon_cpu_s() - before) / DELTAS * 1e6
        speed, least = (self._bare.deltas_per_s, self._bare.delta_us) if self._bare else (None, None)
        return [
            Figure(
                f"{name}: deltas in one stream", DELTAS / took * 1e3, "/s", speed, "read bare", more_is_better=True
            ),
            Figure(f"{name}: CPU per delta, all of its processes", cost, "µs", least, "read bare", "≤ 12"),
        ]

    def _cancels(self, name: str, client: McpClient) -> list[Figure]:
        told, gone = zip(*(self._cancel_ms(client) for _ in range(INTERRUPTS)), strict=True)
        least = p50(self._bare.kill_ms) if self._bare else None
        what, floor = f"{name}: cancelled while a command runs", "TERM to a bare process"
        return [
            Figure(f"{what}: until that is said, p50", p50(told), "ms", least, floor),
            Figure(f"{what}: until its processes are gone, p50", p50(gone), "ms", least, floor),
        ]

    def _connect(self) -> McpClient:
        client = McpClient(self._command, self._environ, self._cwd)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        try:
            client.call("initialize", hello)
            client.say({"method": "notifications/initialized"})
        except BaseException:
            client.__exit__()
            raise
        return client

    def _start_ms(self) -> float:
        began = time.perf_counter()
        with self._connect() as client:
            took = (time.perf_counter() - began) * 1e3
            names = {tool["name"] for tool in client.call("tools/list", {})["tools"]}
            if "codex" not in names:
                raise Unanswered(f"no tool `codex` among {sorted(names)}")
        return took

    def _begin(self, client: McpClient, prompt: str) -> int:
        return client.start("tools/call", {"name": "codex", "arguments": {**self._arguments, "prompt": prompt}})

    def _turn_ms(self, client: McpClient, prompt: str) -> float:
        began = time.perf_counter()
        result = client.answer(self._begin(client, prompt))
        if result.get("isError") or "error" in result:
            raise Unanswered(f"the turn failed: {str(result)[:300]}")
        return (time.perf_counter() - began) * 1e3

    def _cancel_ms(self, client: McpClient) -> tuple[float, float]:
        """The times until the event that ends the turn, and until the command and its child have ended."""
        self._commands += 1
        seconds = f"300.{os.getpid()}{self._commands:04}"  # so that no other sleep is meant
        script = {"command": ["sh", "-c", f"sleep {seconds} & sleep {seconds}"], "timeout": 600_000}
        request = self._begin(client, f"call shell {json.dumps(script)}")
        client.wait_for(lambda message: event_type(message) == "exec_command_begin")
        if not wait_until(lambda: len(processes_with(seconds)) > 1, WAIT_S):
            raise Unanswered("its command did not start")
        began = time.perf_counter()
        client.say({"method": "notifications/cancelled", "params": {"requestId": request}})
        client.wait_for(lambda message: event_type(message) in {"turn_aborted", "error"})
        told = (time.perf_counter() - began) * 1e3
        wait_until(lambda: not processes_with(seconds), GONE_S)
        gone = (time.perf_counter() - began) * 1e3
        for pid in processes_with(seconds):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return told, gone


def provider(base_url: str) -> dict[str, str]:
    return {
        "model_provider": "bench",
        "model_providers.bench.name": "bench",
        "model_providers.bench.base_url": base_url,
        "model_providers.bench.wire_api": "chat",
    }


def processes_with(word: str) -> list[int]:
    """Processes with this word in their command line, without zombies."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended while we looked
            if word.encode() in place.read_bytes():
                found.append(int(place.parent.name))
    return found


def wait_until(true: Callable[[], bool], limit_s: float) -> bool:
    """False when the time was over first."""
    deadline = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True


def event_type(message: Message) -> str:
    if message.get("method") != "codex/event":
        return ""
    return str(message["params"].get("msg", {}).get("type", ""))
