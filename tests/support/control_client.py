"""A small client of the control dialect: one socket, no thread, every wait bounded."""

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Self

from greenroom.wire import ControlWire, Json, hello
from transports.address import use_short_path

PATIENCE_S = 30.0  # for what takes milliseconds, on a machine that is very busy


class Refused(Exception):
    """The error with which a daemon answers a request."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error
        self.code = error.get("data", {}).get("code")


class Gone(Exception):
    """The daemon has closed the connection."""


class ControlClient:
    """A client whose `events` are the notifications not taken yet, oldest first."""

    def __init__(self, path: str, name: str = "test", env: Mapping[str, str] | None = None) -> None:
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.settimeout(PATIENCE_S)
        self.events: deque[Json] = deque()
        self._wire = ControlWire(self.events.append)
        self._answers: dict[object, Json] = {}
        try:
            use_short_path(path, self._sock.connect)
            with contextlib.suppress(Gone):  # turned away before it could speak; it was told why
                self._write(hello(name, "0", env=env))
            self._pump(lambda: self._wire.welcome is not None, PATIENCE_S)
        except BaseException:
            self._sock.close()
            raise

    @property
    def welcome(self) -> Json:
        return self._wire.welcome or {}

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
        """Send a request without waiting for the answer; see `answer`."""
        number, data = self._wire.request(method, params, self._answered)
        self._write(data)
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
        """Wait until the daemon has hung up."""
        try:
            self._pump(lambda: False, limit_s)
        except Gone:
            return

    # --- the wire -------------------------------------------------------------------------------------------------

    def _pump(self, condition: Callable[[], bool], limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while not condition():
            left = max(0.0, deadline - time.monotonic())
            assert select.select([self._sock], [], [], left)[0], "the daemon said nothing in time"
            try:
                data = self._sock.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                raise Gone
            self._wire.feed(data)

    def _answered(self, message: Json) -> None:
        self._answers[message["id"]] = message

    def _write(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone from error
