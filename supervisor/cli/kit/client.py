"""The control API for verbs: requests, their answers, and problems in the wording of the command line.

One thread. Every wait has a limit. Never starts a daemon. Standard library only.
"""

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import greenroom  # its errors are loaded when one is raised
from greenroom import wire
from greenroom.connection import CONNECT_S, connect
from greenroom.methods import BlockingApi
from greenroom.scripts import ANSWER_S, ApiCall, Request, Script
from supervisor.cli.kit.problems import Problem
from supervisor.disk.umask import own_umask

Json = wire.Json
T = TypeVar("T")
TICK_S = 0.1  # between calls of an onlooker
MOST_AT_ONCE = 32  # requests under way at once; the daemon takes 64 of one client

HUNG_ADVICE = "try again if it may be busy; `greenroom up --force` ends it and starts another"

ADVICE = {
    "busy": "`greenroom wait` waits until it has ended",
    "config": "`greenroom help config` explains the configuration",
    "invalid_input": "`greenroom help` describes each verb and its arguments",
    "storage_full": "free some disk space; `greenroom df` shows what Greenroom uses",
    "storage_lost": "`greenroom doctor` says what to do",
}


class RequestRefused(Problem):
    """A refusal by the daemon. `data` has its details beyond the message."""

    def __init__(self, error: Json) -> None:
        self.error = error
        self.data: Json = error.get("data") or {}
        code = self.data.get("code") or ("invalid_input" if error.get("code") == -32602 else "failed")
        message = str(error.get("message", "refused"))
        later = self.data.get("retryable") and "try again" not in message
        advice = "" if "; " in message else ADVICE.get(str(code)) or ("try again in a moment" if later else "")
        super().__init__(message, advice, code=str(code))


class NoDaemon(Problem):
    def __init__(self, message: str = "the daemon is not running", advice: str = "") -> None:
        super().__init__(message, advice or "`greenroom up` starts it", "daemon_down")


class DaemonLost(NoDaemon):
    """The daemon went away in the middle. `control` had the connection, if there was one already."""

    def __init__(self, message: str, advice: str = "", control: "Control | None" = None) -> None:
        super().__init__(message, advice)
        self.control = control


@contextmanager
def as_problems(control: "Control | None" = None) -> Iterator[None]:
    """Turn the errors of a connection into problems."""
    try:
        yield
    except greenroom.GreenroomError as error:
        raise _problem_with(error, control) from error


def _problem_with(error: "greenroom.GreenroomError", control: "Control | None") -> Problem:
    match error.code:
        case "connection_lost":
            return DaemonLost(error.message, "`greenroom up` starts it again", control)
        case "daemon_down":
            return NoDaemon()
        case "timed_out":
            return Problem(error.message, HUNG_ADVICE, error.code)
        case "unreachable":
            return Problem(error.message, "`greenroom doctor` finds out why")
        case "start_failed":
            return Problem(error.message, "`greenroom doctor` finds out more")
        case "unknown_protocol":
            return Problem(*error.message.split("; "))
        case "not_allowed":
            return Problem(error.message, "`greenroom doctor` checks the rest", error.code)
        case code:
            return RequestRefused({"message": error.message, "data": {"code": code, "retryable": error.retryable}})


class Onlooker:
    """An observer of the wait for an answer. A control that has one waits without a limit of its own."""

    def note_wait(self, waited_s: float) -> None:
        """Watch the wait, several times a second; an exception ends it."""

    def note_answer(self) -> None:
        """Take note that the answer has come."""


class Control(BlockingApi):
    """A connection to the daemon with the methods of `greenroom`. Other clients see `verb` as our name.

    `environment`: whether our variables are sent along, because commands are to run with them. `answer_s`: the most
    that each request may take.
    """

    onlooker: Onlooker | None = None

    def __init__(
        self,
        verb: str = "",
        *,
        environment: bool = False,
        timeout_s: float = CONNECT_S,
        answer_s: float | None = None,
    ) -> None:
        self._arrived: deque[Json] = deque()
        self._name, self._environment = f"greenroom {verb}".strip(), environment
        self._answer_s = answer_s
        self._connect(timeout_s)

    def _connect(self, timeout_s: float) -> None:
        with as_problems():
            self._connection = connect(
                self._name,
                wire.ControlWire(self._arrived.append),
                env=os.environ if self._environment else None,
                umask=own_umask() if self._environment else None,
                timeout_s=timeout_s,
            )
        self.socket = self._connection.socket
        self.welcome = self._connection.welcome

    def connect_again(self, timeout_s: float) -> None:
        """Replace a lost connection, whose requests and subscriptions are forgotten."""
        self._connection.close()
        self._arrived.clear()
        self._connect(timeout_s)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- requests -------------------------------------------------------------------------------------------------

    def _carry_out(self, script: Script[T]) -> T:
        """Return the result of a script. A refusal, a lost daemon and a late answer are Problems."""
        try:
            request = next(script)
            while True:
                request = script.send(self._ask(request))
        except StopIteration as end:
            result: T = end.value
            return result

    def _ask(self, request: Request) -> Json:
        if not isinstance(request, ApiCall):
            raise NotImplementedError("verbs hear notifications by themselves")
        wait_s = ANSWER_S if request.wait_s is None else request.wait_s
        number = self.begin(request.method, **request.params)
        return self.take_result(number, wait_s if self._answer_s is None else self._answer_s)

    def begin(self, method: str, **params: Any) -> int:
        """Send a request without waiting, and return its id: the answer comes from `take_result` or in `messages`."""
        with as_problems(self):
            return self._connection.send(method, params, self._arrived.append)

    def take_result(self, request: int, timeout_s: float = ANSWER_S) -> Json:
        """Wait for the answer to a request, and return its result. Other messages are kept for later."""
        began, looked_at = time.monotonic(), 0
        while True:
            for at in range(looked_at, len(self._arrived)):
                message = self._arrived[at]
                if "method" not in message and message.get("id") in {request, None}:
                    del self._arrived[at]
                    if self.onlooker is not None:
                        self.onlooker.note_answer()
                    return result_of(message)
            looked_at = len(self._arrived)
            self._wait_for_more(began, timeout_s)

    def _wait_for_more(self, began: float, timeout_s: float) -> None:
        if self.onlooker is not None:
            if not self._receive(time.monotonic() + TICK_S):
                self.onlooker.note_wait(time.monotonic() - began)
        elif not self._receive(began + timeout_s):
            raise Problem("the daemon did not answer in time", HUNG_ADVICE, "timed_out")

    def call_each(self, method: str, many: Iterable[Json], timeout_s: float = ANSWER_S) -> list[Json | Problem]:
        """Call the method once for each set of parameters, several at a time; return the outcomes in that order."""
        waiting: deque[int] = deque()
        results: list[Json | Problem] = []
        deadline = time.monotonic() + timeout_s
        for params in many:
            if len(waiting) >= MOST_AT_ONCE:
                results.append(self._outcome(waiting.popleft(), deadline))
            waiting.append(self.begin(method, **params))
        results += [self._outcome(request, deadline) for request in waiting]
        return results

    def _outcome(self, request: int, deadline: float) -> Json | Problem:
        try:
            return self.take_result(request, max(0.0, deadline - time.monotonic()))
        except DaemonLost:
            raise
        except Problem as problem:
            return problem

    # --- messages -------------------------------------------------------------------------------------------------

    def messages(self, timeout_s: float | None = 0.0) -> list[Json]:
        """All messages so far, at least one unless the time runs out. A loop with a select of its own passes 0."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._arrived and self._receive(deadline):
            pass
        while self._receive(0.0):
            pass
        found = list(self._arrived)
        self._arrived.clear()
        return found

    def _receive(self, deadline: float | None) -> bool:
        with as_problems(self):
            return self._connection.receive(deadline)


def result_of(message: Json) -> Json:
    if "error" in message:
        raise RequestRefused(message["error"])
    result: Json = message["result"]
    return result
