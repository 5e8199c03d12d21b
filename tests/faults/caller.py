"""A client of the control API with a reading thread, and a bound on every wait. Standard library only."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from greenroom.wire import ControlWire, hello

WAIT_S = 30.0  # a busy machine; who waits longer has found a hang
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
CHUNK = 1 << 16
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


def dial(
    path: Path, name: str, cwd: Path, wire: ControlWire | None = None, wait_s: float = WAIT_S
) -> tuple[socket.socket, Message]:
    """A connection and the first answer on it: a welcome, or a refusal."""
    sock, wire = socket.socket(socket.AF_UNIX), wire or ControlWire(print)
    sock.settimeout(wait_s)
    try:
        sock.connect(str(path))
        with contextlib.suppress(BrokenPipeError):  # turned away before it could speak; it was told why
            sock.sendall(hello(name, "1", str(cwd), ENV))
        while wire.welcome is None and (piece := sock.recv(CHUNK)):
            wire.feed(piece)
    except BaseException:
        sock.close()
        raise
    if wire.welcome is None:
        sock.close()
        raise Gone("no welcome")
    return sock, wire.welcome


class Caller:
    """A client whose public methods may be used from any thread; takers run on the reading thread."""

    def __init__(self, path: Path, name: str, cwd: Path) -> None:
        self._wire = ControlWire(self._told)
        self._sock, self.welcome = dial(path, name, cwd, self._wire)
        self._sock.settimeout(None)
        self._lock = threading.RLock()  # guards what follows, and keeps lines whole; takers may ask
        self._open: set[Future[Any]] = set()
        self._takers: dict[str, Taker] = {}
        self._early: dict[str, list[Message]] = {}
        self._strays: list[Message] = []  # answers that no request of ours explains
        self.gone = threading.Event()
        self._thread = threading.Thread(target=self._read, name=f"caller-{name}", daemon=True)
        self._thread.start()

    def start(self, method: str, **params: Any) -> Future[Any]:
        """Send a request; the future of its answer: a result, Refused or Gone."""
        answer: Future[Any] = Future()
        with self._lock:
            self._open.add(answer)
            _, line = self._wire.request(method, params, partial(self._answered, answer))
            try:
                self._sock.sendall(line)
            except OSError as error:
                self._fail(answer, Gone(str(error)))
        return answer

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
        assert not self._strays, self._strays

    # --- the reading thread ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            with contextlib.suppress(OSError):
                while piece := self._sock.recv(CHUNK):
                    self._wire.feed(piece)
        finally:
            self.gone.set()
            with self._lock:
                for answer in tuple(self._open):
                    self._fail(answer, Gone("the connection ended"))

    def _told(self, message: Message) -> None:
        if "method" not in message:
            self._strays.append(message)
            return
        subscription = message["params"]["subscription"]
        with self._lock:
            taker = self._takers.get(subscription)
            if taker is None:
                self._early.setdefault(subscription, []).append(message)
        if taker is not None:
            taker(message)

    def _answered(self, answer: Future[Any], message: Message) -> None:
        if "error" in message:
            self._fail(answer, Refused(message["error"]))
        elif self._settles(answer):
            answer.set_result(message["result"])

    def _fail(self, answer: Future[Any], error: Exception) -> None:
        if self._settles(answer):
            answer.set_exception(error)

    def _settles(self, answer: Future[Any]) -> bool:
        """True for the first that wants to settle it."""
        with self._lock:
            mine = answer in self._open
            self._open.discard(answer)
            return mine
