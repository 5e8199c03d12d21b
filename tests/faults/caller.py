"""A client of the control API with a reading thread, and a bound on every wait. Standard library only."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

WAIT_S = 30.0  # a busy machine; who waits longer has found a hang
Message = dict[str, Any]
Taker = Callable[[Message], None]


class Refused(Exception):
    """The error that a request was answered with."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.data: Message = error.get("data") or {}
        self.name = str(self.data.get("code", ""))


class Gone(Exception):
    """The connection ended before the answer."""


def hello(name: str, cwd: Path) -> bytes:
    client = {"name": name, "version": "1", "cwd": str(cwd), "env": {"PATH": "/usr/local/bin:/usr/bin:/bin"}}
    return json.dumps({"greenroom": {"protocol": 1, "dialect": "control", "client": client}}).encode() + b"\n"


def dial(path: Path, name: str, cwd: Path) -> tuple[socket.socket, Message]:
    """A connection that has been welcomed."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(WAIT_S)
    try:
        sock.connect(str(path))
        with contextlib.suppress(BrokenPipeError):  # turned away before it could speak; it was told why
            sock.sendall(hello(name, cwd))
        said = _line(sock)
    except BaseException:
        sock.close()
        raise
    return sock, json.loads(said)


def _line(sock: socket.socket) -> bytes:
    """Read one line. Nothing follows the welcome until the first request, so nothing is lost."""
    said = b""
    while not said.endswith(b"\n"):
        piece = sock.recv(65536)
        if not piece:
            raise Gone(f"no welcome: {said!r}")
        said += piece
    return said


class Caller:
    """A client whose public methods may be used from any thread; takers run on the reading thread."""

    def __init__(self, path: Path, name: str, cwd: Path) -> None:
        self._sock, self.welcome = dial(path, name, cwd)
        self._sock.settimeout(None)
        self._lock = threading.RLock()  # guards what follows, and keeps lines whole; takers may ask
        self._number = 0
        self._open: dict[Any, Future[Any]] = {}
        self._takers: dict[str, Taker] = {}
        self._early: dict[str, list[Message]] = {}
        self.strays: list[Message] = []  # answers that no request of ours explains
        self.gone = threading.Event()
        self._thread = threading.Thread(target=self._read, name=f"caller-{name}", daemon=True)
        self._thread.start()

    def start(self, method: str, **params: Any) -> Future[Any]:
        """Send a request; the future of its answer: a result, Refused or Gone."""
        answer: Future[Any] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            self._open[number] = answer
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            self.raw(json.dumps(body).encode() + b"\n")
        except OSError as error:
            with self._lock:
                self._open.pop(number, None)
            if not answer.done():
                answer.set_exception(Gone(str(error)))
        return answer

    def raw(self, data: bytes) -> None:
        with self._lock:
            self._sock.sendall(data)

    def call(self, method: str, **params: Any) -> Any:
        return self.start(method, **params).result(WAIT_S)

    def refusal(self, method: str, **params: Any) -> Refused:
        error = self.start(method, **params).exception(WAIT_S)
        assert isinstance(error, Refused), f"{method} was not refused: {error!r}"
        return error

    def listen(self, subscription: str, taker: Taker) -> None:
        """Take every notification of a subscription, with those that came before its name was known."""
        with self._lock:
            for message in self._early.pop(subscription, ()):
                taker(message)
            self._takers[subscription] = taker

    # --- what tests do often --------------------------------------------------------------------------------------

    def create(self, **params: Any) -> str:
        return str(self.call("conversation/create", **params)["conversation"])

    def send(self, conversation: str, prompt: str, **params: Any) -> Any:
        return self.call("conversation/send", conversation=conversation, prompt=prompt, **params)

    def history(self, conversation: str) -> list[Message]:
        events: list[Message] = []
        while True:
            after = events[-1]["seq"] if events else 0
            page = self.call("conversation/history", conversation=conversation, after=after, limit=1000)
            events += page["events"]
            if not page["events"] or page["complete"]:
                return events

    def delete(self, conversation: str) -> None:
        """Delete a conversation, once its last turn is stored: until then the daemon refuses."""
        deadline = time.monotonic() + WAIT_S
        while True:
            error = self.start("conversation/delete", conversation=conversation).exception(WAIT_S)
            if error is None:
                return
            if not (isinstance(error, Refused) and "being stored" in str(error) and time.monotonic() < deadline):
                raise error
            time.sleep(0.005)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive(), "the reading thread hangs"
        self._sock.close()

    # --- the reading thread ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            for line in self._lines():
                self._take(json.loads(line))
        finally:
            self.gone.set()
            with self._lock:
                unanswered, self._open = list(self._open.values()), {}
            for answer in unanswered:
                answer.set_exception(Gone("the connection ended"))

    def _lines(self) -> Iterator[bytes]:
        with contextlib.suppress(OSError, ValueError), self._sock.makefile("rb") as stream:
            yield from stream

    def _take(self, message: Message) -> None:
        if "method" in message:
            subscription = message["params"]["subscription"]
            with self._lock:
                taker = self._takers.get(subscription)
                if taker is None:
                    self._early.setdefault(subscription, []).append(message)
            if taker is not None:
                taker(message)
            return
        with self._lock:
            answer = self._open.pop(message["id"], None)
        if answer is None:
            self.strays.append(message)
        elif "error" in message:
            answer.set_exception(Refused(message["error"]))
        else:
            answer.set_result(message["result"])
