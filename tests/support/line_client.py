"""A JSON-RPC client over a line: says JSON, keeps all that comes, waits for what is wanted. It knows no dialect.

A thread reads; every wait is bounded and says what came instead. A line that breaks the protocol is a fault: it is
noted, and fails the test when the client leaves.
"""

import contextlib
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

from transports.address import use_short_path

Json = dict[str, Any]
PATIENCE_S = 30.0  # a daemon's start, on a machine that is very busy
END_S = 5.0  # a bridge leaves within a second


class Line(Protocol):
    """Both directions of a wire."""

    def write(self, data: bytes) -> None: ...

    def read(self) -> bytes: ...

    def end(self) -> str:
        """End it; what was wrong with its end, if anything."""
        ...


class SocketLine:
    """The daemon's socket, with a hello before everything."""

    def __init__(self, path: str, hello: Mapping[str, Any]) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        use_short_path(path, self._socket.connect)
        self.write(json.dumps({"greenroom": {"protocol": 1, **hello}}).encode() + b"\n")
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
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        return ""


class ProgramLine:
    """The standard streams of a program."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], cwd: Path | None = None, errors: Path | None = None
    ) -> None:
        with errors.open("ab") if errors else contextlib.nullcontext(subprocess.DEVNULL) as stderr:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
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

    def hang_up(self) -> None:
        """End its input."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self) -> str:
        self.hang_up()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_S)
            return "the program did not end by itself"
        return ""


class LineClient:
    """A context manager. While `reading` is cleared it leaves everything in the line, like a busy client."""

    patience_s = PATIENCE_S

    def __init__(self, line: Line, name: str) -> None:
        self.line = line
        self.lines: list[Json] = []
        self.faults: list[str] = []
        self.methods: dict[int | str, str] = {}  # of our requests
        self.reading = threading.Event()
        self.reading.set()
        self._changed = threading.Condition()  # guards lines, faults and over
        self._over = False
        self._numbers = itertools.count(1000)  # ids that a test doesn't choose
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
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

    def request(self, method: str, params: Any = None, number: int | str | None = None) -> Json:
        """Make the message of a request."""
        number = next(self._numbers) if number is None else number
        self.methods[number] = method
        return {"id": number, "method": method, **({} if params is None else {"params": params})}

    def respond(self, number: int | str, result: Any) -> None:
        self.say({"id": number, "result": result})

    def refuse(self, number: int | str) -> None:
        self.say({"id": number, "error": {"code": -32601, "message": "not offered"}})

    # --- hearing --------------------------------------------------------------------------------------------------

    def wait(
        self, wanted: Callable[[Json], bool], what: str, *, after: int = 0, limit_s: float | None = None
    ) -> Json:
        """Wait for the first wanted line from number `after` on."""
        deadline = time.monotonic() + (self.patience_s if limit_s is None else limit_s)
        with self._changed:
            while True:
                for line in self.lines[after:]:
                    if wanted(line):
                        return line
                after = max(after, len(self.lines))
                left = deadline - time.monotonic()
                if self._over or left <= 0:
                    why = "the output ended" if self._over else "not in time"
                    last = json.dumps(self.lines[-8:])[-3000:]
                    raise AssertionError(f"{what}: {why}; the last lines: {last}; {self.faults}")
                self._changed.wait(left)

    def answer(self, request: int | str, *, after: int = 0, limit_s: float | None = None) -> Json:
        def is_it(line: Json) -> bool:
            return "method" not in line and line.get("id") == request and type(line["id"]) is type(request)

        what = f"an answer to {request!r}, {self.methods.get(request)}"
        return self.wait(is_it, what, after=after, limit_s=limit_s)

    def mark(self) -> int:
        """The number of lines so far, to be given as `after`."""
        with self._changed:
            return len(self.lines)

    def told(self, method: str, after: int = 0, before: int | None = None) -> list[Any]:
        """Params of the notifications and requests of this method."""
        with self._changed:
            return [line.get("params") for line in self.lines[after:before] if line.get("method") == method]

    # --- the reader's thread --------------------------------------------------------------------------------------

    def _read(self) -> None:
        rest = b""
        while piece := self.line.read():
            self.reading.wait()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._take(line)
        with self._changed:
            if rest:
                self.faults.append(f"the last line is not whole: {rest[:200]!r}")
            self._over = True
            self._changed.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            assert isinstance(message, dict), "no object"
            assert message.get("jsonrpc") == "2.0", "no JSON-RPC 2.0"
        except (ValueError, AssertionError) as error:
            self.faults.append(f"{error} in {line[:500]!r}")
            return
        try:
            self._judge(message)
        except (ValueError, AssertionError, KeyError) as error:
            self.faults.append(f"{error!r} in {line[:500]!r}")
        with self._changed:
            self.lines.append(message)
            self._changed.notify_all()
        self._serve(message)

    def _judge(self, message: Json) -> None:
        """Raise if the dialect has no such message."""

    def _serve(self, message: Json) -> None:
        """Answer a request that needs no test."""
