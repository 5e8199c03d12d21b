"""A small client of the control dialect: one socket, no thread, every wait bounded."""

import contextlib
import itertools
import json
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Self

from transports.address import reached

PATIENCE_S = 20.0  # for what takes milliseconds, on a machine that is very busy


class Refused(Exception):
    """What a daemon answers a request with instead of a result."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error
        self.code = error.get("data", {}).get("code")


class Gone(Exception):
    """The daemon has closed the connection."""


class ControlClient:
    """`events` are the notifications that nobody has looked at yet, oldest first."""

    def __init__(self, path: str, name: str = "test", env: Mapping[str, str] | None = None) -> None:
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.settimeout(PATIENCE_S)
        self._rest = b""
        self._numbers = itertools.count(1)
        self._answers: dict[object, Any] = {}
        self.events: deque[dict[str, Any]] = deque()
        client = {"name": name, "version": "0", "pid": os.getpid(), "cwd": "/", "env": dict(env or {})}
        try:
            reached(path, self._sock.connect)
            with contextlib.suppress(Gone):  # turned away before it could speak; it was told why
                self._write({"greenroom": {"protocol": 1, "dialect": "control", "client": client}})
            self.welcome = self._message(time.monotonic() + PATIENCE_S)
        except BaseException:
            self._sock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._sock.close()

    # --- requests -------------------------------------------------------------------------------------------------

    def ask(self, method: str, **params: object) -> Any:
        return self.answer(self.send(method, **params))

    def send(self, method: str, **params: object) -> int:
        """Without waiting for the answer; see `answer`."""
        number = next(self._numbers)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self, number: int, limit_s: float = PATIENCE_S) -> Any:
        self._pump(lambda: number in self._answers, limit_s)
        message = self._answers.pop(number)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    # --- events ---------------------------------------------------------------------------------------------------

    def next_events(self, limit_s: float = PATIENCE_S) -> dict[str, Any]:
        """The params of the next `events` notification."""
        while True:
            self._pump(lambda: bool(self.events), limit_s)
            message = self.events.popleft()
            if message["method"] == "events":
                params: dict[str, Any] = message["params"]
                return params

    def until(self, type_: str, limit_s: float = PATIENCE_S) -> list[dict[str, Any]]:
        """The envelopes up to and with the first stored event of this type."""
        seen: list[dict[str, Any]] = []
        deadline = time.monotonic() + limit_s
        while True:
            for envelope in self.next_events(deadline - time.monotonic())["events"]:
                seen.append(envelope)
                if envelope["event"]["type"] == type_:
                    return seen

    def wait_gone(self, limit_s: float = PATIENCE_S) -> None:
        """Until the daemon has hung up."""
        try:
            self._pump(lambda: False, limit_s)
        except Gone:
            return

    # --- the wire -------------------------------------------------------------------------------------------------

    def _pump(self, condition: Callable[[], bool], limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while not condition():
            message = self._message(deadline)
            if "id" in message and "method" not in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._rest:
            left = max(0.0, deadline - time.monotonic())
            assert select.select([self._sock], [], [], left)[0], "the daemon said nothing in time"
            try:
                data = self._sock.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Gone
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _write(self, message: object) -> None:
        try:
            self._sock.sendall(json.dumps(message).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone from error
