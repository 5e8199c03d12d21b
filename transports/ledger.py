"""What the bridge must know of the lines it moves: the handshake to replay, and the requests open on either side.

Pure; standard library only. Only lines that can matter are parsed: all of the client's, which are few, and of the
daemon's those that begin like an answer or a request.
"""

import json
from typing import Any

HAS_ID = b'{"jsonrpc":"2.0","id":'  # how our own encoder begins every answer and every request
LOST = -31302  # as errors.ActorGone, which is too expensive to import here


class Ledger:
    def __init__(self) -> None:
        self._initialize: bytes | None = None
        self._initialized: bytes | None = None
        self._open: dict[str, Any] = {}  # requests of the client, by their id as JSON: 1 and "1" differ
        self._asked: dict[str, Any] = {}  # requests of the daemon
        self._replayed: str | None = None

    @property
    def waiting(self) -> int:
        """Requests of the client that are not answered."""
        return len(self._open)

    def from_client(self, line: bytes) -> None:
        message = _parsed(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            self._initialize = self._initialize or line
        elif method == "notifications/initialized":
            self._initialized = line
        if "id" in message and method is not None:
            self._open[_key(number)] = number
        elif "id" in message:
            self._asked.pop(_key(number), None)

    def from_daemon(self, line: bytes) -> bool:
        """Whether the client is to see it: the answer to a replayed handshake is for us."""
        if not line.startswith(HAS_ID):
            return True
        message = _parsed(line)
        key = _key(message.get("id"))
        if "method" in message:
            self._asked[key] = message.get("id")
        elif key == self._replayed and key not in self._open:
            self._replayed = None
            return False
        else:
            self._open.pop(key, None)
        return True

    def lost(self, why: str) -> list[bytes]:
        """The daemon is gone: what to tell the client. Nothing stays open."""
        told = [
            _line({"jsonrpc": "2.0", "id": number, "error": {"code": LOST, "message": why, "data": _RETRY}})
            for key, number in self._open.items()
            if not self._is_handshake(key)
        ]
        told += [
            _line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n, "reason": why}})
            for n in self._asked.values()
        ]
        self._open = {key: number for key, number in self._open.items() if self._is_handshake(key)}
        self._asked.clear()
        return told

    def replay(self) -> list[bytes]:
        """What the next daemon has to hear first."""
        if self._initialize is None:
            return []
        self._replayed = _key(_parsed(self._initialize).get("id"))
        return [line for line in (self._initialize, self._initialized) if line is not None]

    def _is_handshake(self, key: str) -> bool:
        """An initialize that was never answered is simply said again, and answered then."""
        return self._initialize is not None and key == _key(_parsed(self._initialize).get("id"))


_RETRY = {"code": "daemon_restarted", "retryable": True}


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # the daemon will say what is wrong with it
    return value if isinstance(value, dict) else {}


def _key(number: object) -> str:
    return json.dumps(number)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
