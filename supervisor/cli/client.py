"""The control API from outside: one socket, one hello, requests and what comes back. Standard library only.

One thread. Everything that waits has a limit. Never starts a daemon.
"""

import json
import os
import select
import socket
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Self

from supervisor.cli.problems import Problem
from supervisor.dialling import dial
from supervisor.paths import UnsafePath, locate
from supervisor.umask import own_umask
from supervisor.version import VERSION

ANSWER_S = 30.0  # the daemon never waits for itself; this is for a machine that swaps
CONNECT_S = 5.0
CHUNK = 1 << 16
TOGETHER = 32  # requests under way at once; the daemon takes 64 of one client

HUNG = "try again if it may be busy; `greenroom up --force` ends it and starts another"

Json = dict[str, Any]
ADVICE = {
    "busy": "`greenroom wait` waits until it has ended",
    "config": "`greenroom help config` explains the configuration",
    "invalid_input": "`greenroom help` describes each verb and its arguments",
    "storage_full": "free some disk space; `greenroom df` shows what Greenroom uses",
    "storage_lost": "`greenroom doctor` says what to do",
}


class Refused(Problem):
    """The daemon's own answer. `data` is what it had to tell beyond the text."""

    def __init__(self, error: Json) -> None:
        self.data: Json = error.get("data") or {}
        code = self.data.get("code") or ("invalid_input" if error.get("code") == -32602 else "failed")
        message = str(error.get("message", "refused"))
        later = self.data.get("retryable") and "try again" not in message
        advice = "" if "; " in message else ADVICE.get(str(code)) or ("try again in a moment" if later else "")
        super().__init__(message, advice, code=str(code))


class Down(Problem):
    def __init__(self, message: str = "the daemon is not running", advice: str = "") -> None:
        super().__init__(message, advice or "`greenroom up` starts it", "daemon_down")


class Lost(Down):
    """It was there and went away in the middle."""


class Control:
    """`verb` names us to others; `environment` is sent where commands are to run with it."""

    def __init__(self, verb: str = "", *, environment: bool = False, timeout_s: float = CONNECT_S) -> None:
        self._buffer = b""
        self._requests = 0
        self._arrived: deque[Json] = deque()
        self.socket = _connect(timeout_s)
        env = dict(os.environ) if environment else {}
        client: Json = {
            "name": f"greenroom {verb}".strip(),
            "version": VERSION,
            "cwd": working_directory(),
            "env": env,
        }
        if environment:
            client["umask"] = own_umask()
        try:
            self._write({"greenroom": {"protocol": 1, "dialect": "control", "client": client}})
            welcome = self._next(time.monotonic() + timeout_s)
        except BaseException:
            self.socket.close()
            raise
        if "greenroom" not in welcome:
            raise _unwelcome(welcome)
        self.welcome: Json = welcome["greenroom"]

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- requests -------------------------------------------------------------------------------------------------

    def call(self, method: str, timeout_s: float = ANSWER_S, **params: Any) -> Json:
        """The result; raises Refused, Lost, or a Problem when it takes too long."""
        return self.answer(self.send(method, **params), timeout_s)

    def send(self, method: str, **params: Any) -> int:
        """Without waiting: the answer is fetched with `answer`, or found in `messages`."""
        self._requests += 1
        self._write({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        return self._requests

    def answer(self, request: int, timeout_s: float = ANSWER_S) -> Json:
        """Of one request. What arrives meanwhile is kept for whoever asks for it."""
        deadline = time.monotonic() + timeout_s
        for place, message in enumerate(self._arrived):
            if message.get("id") == request and "method" not in message:
                del self._arrived[place]
                return result_of(message)
        while True:
            message = self._next(deadline)
            if message.get("id") == request and "method" not in message:
                return result_of(message)
            if "id" in message and message["id"] is None:  # not even read, so nobody knows whose it was
                raise Refused(message.get("error") or {})
            self._arrived.append(message)

    def each(self, method: str, many: Iterable[Json], timeout_s: float = ANSWER_S) -> list[Json | Problem]:
        """One request for each, several under way at once; answers and refusals in the order of the questions."""
        waiting: deque[int] = deque()
        results: list[Json | Problem] = []
        deadline = time.monotonic() + timeout_s
        for params in many:
            if len(waiting) >= TOGETHER:
                results.append(self._outcome(waiting.popleft(), deadline))
            waiting.append(self.send(method, **params))
        results += [self._outcome(one, deadline) for one in waiting]
        return results

    def _outcome(self, request: int, deadline: float) -> Json | Problem:
        try:
            return self.answer(request, max(0.0, deadline - time.monotonic()))
        except Lost:
            raise
        except Problem as problem:
            return problem

    # --- what comes -----------------------------------------------------------------------------------------------

    def messages(self, timeout_s: float | None = 0.0) -> list[Json]:
        """All that is there, at least one unless the time runs out. For loops with a select of their own: 0."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._arrived and self._readable(deadline):
            self._receive()
        while self._readable(0.0):
            self._receive()
        found, self._arrived = list(self._arrived), deque()
        return found

    def _next(self, deadline: float) -> Json:
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                return _parsed(line)
            if not self._readable(deadline):
                raise Problem("the daemon did not answer in time", HUNG, "timed_out")
            self._fill()

    def _receive(self) -> None:
        """What one read brings, as messages."""
        self._fill()
        *lines, self._buffer = self._buffer.split(b"\n")
        self._arrived.extend(_parsed(line) for line in lines)

    def _readable(self, deadline: float | None) -> bool:
        if b"\n" in self._buffer:
            return True
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        return bool(select.select([self.socket], [], [], wait)[0])

    def _fill(self) -> None:
        if b"\n" in self._buffer:
            return
        try:
            pieces = [piece := self.socket.recv(CHUNK)]
            while piece and b"\n" not in piece:  # a long line: joined once, not once a piece
                pieces.append(piece := self.socket.recv(CHUNK))
        except OSError as error:
            raise _lost() from error
        if not piece:
            raise _lost()
        self._buffer += b"".join(pieces)

    def _write(self, message: Json) -> None:
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except TimeoutError as error:
            raise Problem("the daemon does not read requests", HUNG, "timed_out") from error
        except OSError as error:
            raise _lost() from error


def result_of(message: Json) -> Json:
    if "error" in message:
        raise Refused(message["error"])
    result: Json = message["result"]
    return result


def working_directory() -> str:
    """Also where the directory has been removed under our feet."""
    try:
        return os.getcwd()  # noqa: PTH109  # pathlib costs a third of this program's start
    except OSError:
        return "/"


def _connect(timeout_s: float) -> socket.socket:
    def make() -> socket.socket:
        fresh = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        fresh.settimeout(timeout_s)
        return fresh

    try:
        found = dial(locate(), make)
    except UnsafePath as error:
        raise Problem(str(error), "`greenroom doctor` checks the rest", "not_allowed") from error
    except (TimeoutError, BlockingIOError) as error:  # its backlog is full
        raise Problem("the daemon accepts no more clients", HUNG, "timed_out") from error
    except OSError as error:
        raise Problem(f"the daemon's socket can't be reached: {error}", "`greenroom doctor` finds out why") from error
    if found is None:
        raise Down
    return found


def _unwelcome(answer: Json) -> Problem:
    error = answer.get("error") or {}
    if (error.get("data") or {}).get("code") == "unknown_protocol":
        return Problem(
            "the running daemon has another version", "run `greenroom down && greenroom up` to start this version"
        )
    return Refused(error)


def _lost() -> Lost:
    return Lost("the daemon went away; every conversation is kept", "`greenroom up` starts it again")


def _parsed(line: bytes) -> Json:
    message: Json = json.loads(line)
    return message
