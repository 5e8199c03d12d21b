"""Both ends of a bridge, for tests: a client that runs a bridge, and a daemon that says what it is told to.

Run as a program it is the bridge itself, with another dialect or another daemon to start.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from supervisor.paths import locate, private_directory, socket_path
from transports.address import use_short_path

PATIENCE_S = 30.0  # for what takes milliseconds, on a machine that is very busy
BRIDGE = "tests.support.bridge"
NO_DAEMON = "import os; os.write(3, b'no daemon in this test')"  # so that a test starts one only if it means to
WELCOME = {"greenroom": {"protocol": 1, "version": "0.0.0", "instance": "fake"}}


def encoded(message: object) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message, separators=(",", ":")).encode() + b"\n"


def request(number: object, method: str = "tools/call", **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answer(number: object, **result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


class LineReader:
    """Whole lines from a descriptor, each within a bounded time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def line(self, limit_s: float = PATIENCE_S) -> bytes:
        """The next line; b"" at the end."""
        pieces, deadline = [self._rest], time.monotonic() + limit_s
        while b"\n" not in pieces[-1]:
            left = deadline - time.monotonic()
            assert select.select([self._descriptor], [], [], max(0.0, left))[0], "no line came in time"
            piece = os.read(self._descriptor, 1 << 16)
            if not piece:
                assert not b"".join(pieces), "the last line is not whole"
                return b""
            pieces.append(piece)
        line, newline, self._rest = b"".join(pieces).partition(b"\n")
        return line + newline

    def message(self, limit_s: float = PATIENCE_S) -> Any:
        return json.loads(self.line(limit_s))

    def silent(self, for_s: float) -> bool:
        return not self._rest and not select.select([self._descriptor], [], [], for_s)[0]


class Talk(LineReader):
    """One bridge that has dialled, from the daemon's side."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock.fileno())
        self.sock = sock

    def greet(self) -> dict[str, Any]:
        """Hear the hello and welcome it."""
        hello = self.message()["greenroom"]
        self.say(WELCOME)
        assert isinstance(hello, dict)
        return hello

    def say(self, *messages: object) -> None:
        self.sock.sendall(b"".join(encoded(message) for message in messages))

    def close(self) -> None:
        self.sock.close()


class FakeDaemon:
    """A fake daemon that listens at the socket of this home."""

    def __init__(self, home: Path) -> None:
        """Listen, in place of another daemon at once: no bridge ever finds the place empty."""
        paths = locate({"GREENROOM_HOME": str(home)})
        private_directory(paths.run)
        self.path = socket_path(paths)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.settimeout(PATIENCE_S)
        use_short_path(f"{self.path}.new", self._listener.bind)
        self._listener.listen()
        Path(f"{self.path}.new").rename(self.path)
        self.talks: list[Talk] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.die()

    def accept(self) -> Talk:
        sock, _ = self._listener.accept()
        sock.settimeout(PATIENCE_S)
        self.talks.append(Talk(sock))
        return self.talks[-1]

    def wait_dialled(self) -> None:
        """Wait until a bridge has dialled, without accepting it."""
        assert select.select([self._listener], [], [], PATIENCE_S)[0], "nobody dialled"

    def greet(self) -> Talk:
        talk = self.accept()
        talk.greet()
        return talk

    def die(self) -> None:
        """End as by kill -9: the socket's name stays."""
        self._listener.close()
        for talk in self.talks:
            talk.close()

    def vanish(self) -> None:
        self.die()
        Path(self.path).unlink()

    @contextlib.contextmanager
    def succeeded(self, home: Path) -> Iterator["FakeDaemon"]:
        """Die once the next daemon listens already."""
        with FakeDaemon(home) as successor:
            self.die()
            yield successor

    def nobody_comes(self, for_s: float) -> bool:
        self._listener.settimeout(for_s)
        try:
            self.accept()
        except TimeoutError:
            return True
        return False


class Client(LineReader):
    """An editor that runs a bridge. `program` is a module, or a path."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        env: Mapping[str, str] | None = None,
        program: str = BRIDGE,
    ) -> None:
        self.home = home
        if program == BRIDGE and "--launch" not in arguments:
            arguments = ("--launch", NO_DAEMON, *arguments)
        self.process = subprocess.Popen(
            [*([program] if "/" in program else [sys.executable, "-m", program]), *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "GREENROOM_HOME": str(home), "HOME": str(home), **(env or {})},
        )
        super().__init__(self.process.stdout.fileno() if self.process.stdout else -1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def say(self, *messages: object) -> None:
        assert self.process.stdin is not None
        left = memoryview(b"".join(encoded(message) for message in messages))
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]

    def ask(self, number: object, method: str = "tools/call", **params: object) -> Any:
        """Ask, and return what is answered under this id; what else comes meanwhile is skipped."""
        self.say(request(number, method, **params))
        while True:
            message = self.message()
            if message.get("id") == number and "method" not in message:
                return message

    def leave(self) -> float:
        """End the input; the seconds that the bridge took to end."""
        assert self.process.stdin is not None
        began = time.monotonic()
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        return time.monotonic() - began

    @property
    def log(self) -> str:
        path = self.home / "state" / "bridge.log"
        return path.read_text() if path.exists() else ""


def wait_until(condition: Callable[[], bool], otherwise: str, limit_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)


def play() -> int:
    """Run a bridge. Before its own arguments: `--verb NAME`, `--dialect NAME` (one that it knows nothing of), and
    `--launch CODE` (for a daemon, or `real`).
    """
    from supervisor.cli import acp, bridge_verb, mcp
    from supervisor.daemon import launch
    from transports.dialects.mcp.protocol.replay import McpReplay

    verb, arguments = mcp.verb(), sys.argv[1:]
    while arguments[:1] in (["--dialect"], ["--launch"], ["--verb"]):
        what, value, *arguments = arguments
        if what == "--dialect":
            verb = bridge_verb.BridgeVerb("mcp", value, lambda _: McpReplay(), {})
        elif what == "--verb":
            verb = {"acp": acp, "mcp": mcp}[value].verb()
        elif value != "real":
            launch.PROGRAM = ("-c", value)
    return bridge_verb.main(verb, arguments)


if __name__ == "__main__":
    sys.exit(play())
