"""One connection to the daemon without its socket: bytes in, messages out, and each answer to its request.

Standard library only: the everyday verbs import this. Knows neither socket nor clock nor thread; its owner feeds it
and sends what it makes. Shared by the blocking client, the asyncio client, the command line and the tests.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

PROTOCOL = 1
Json = dict[str, Any]
AnswerHandler = Callable[[Json], object]  # is called with the answer


def line(message: Json) -> bytes:
    return json.dumps(message).encode() + b"\n"


def hello(
    name: str,
    version: str,
    cwd: str = "/",
    env: Mapping[str, str] | None = None,
    umask: int | None = None,
    dialect: str = "control",
) -> bytes:
    """The first line of a client."""
    client: Json = {"name": name, "version": version, "cwd": cwd, "env": dict(env or {})}
    if umask is not None:
        client["umask"] = umask
    return line({"greenroom": {"protocol": PROTOCOL, "dialect": dialect, "client": client}})


class ControlWire:
    """Requests and messages. `notified` is called with each that answers no open request, but the welcome."""

    def __init__(self, notified: Callable[[Json], object]) -> None:
        self.welcome: Json | None = None  # the first message, be it a welcome or a refusal
        self._notified = notified
        self._unfinished: list[bytes] = []  # pieces of a line, joined once
        self._numbers = 0
        self._open: dict[object, AnswerHandler] = {}  # by the number of the request

    def request(self, method: str, params: Mapping[str, Any], answered: AnswerHandler) -> tuple[int, bytes]:
        """The number of a new request, and the line to send."""
        self._numbers += 1
        self._open[self._numbers] = answered
        body = {"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params}
        return self._numbers, line(body)

    def feed(self, data: bytes) -> None:
        """Hand on each message that these bytes complete, in their order."""
        piece, newline, rest = data.partition(b"\n")
        self._unfinished.append(piece)
        if newline:
            lines = [b"".join(self._unfinished), *rest.split(b"\n")]
            self._unfinished = [lines.pop()]
            for text in lines:
                self._take(json.loads(text))

    def _take(self, message: Json) -> None:
        if self.welcome is None:
            self.welcome = message
        elif "method" in message:
            self._notified(message)
        elif message.get("id") is None and self._open:  # a line could not be read, and it is not said which
            open_, self._open = list(self._open.values()), {}
            for answered in open_:
                answered(message)
        else:
            self._open.pop(message.get("id"), self._notified)(message)
