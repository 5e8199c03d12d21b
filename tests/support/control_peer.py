"""A client of the control API for tests: standard library only, a thread that reads, and a bound on every wait."""

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from greenroom import wire
from transports.address import use_short_path

WAIT_S = 30.0  # a busy machine; a test that waits longer has failed
Message = dict[str, Any]
Judge = Callable[[str | None, Message], None]  # the method that is answered, None for a notification
CHUNK = 1 << 16
TERMINAL = frozenset({"task_complete", "turn_aborted"})


class Refused(Exception):
    """The error that a request was answered with."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Message = error.get("data") or {}

    @property
    def name(self) -> str:
        return str(self.data.get("code", ""))


def hello(name: str = "test", cwd: Path = Path("/"), environ: Mapping[str, str] | None = None) -> bytes:
    return wire.hello(name, "1", str(cwd), environ)


def dial(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(WAIT_S)
    use_short_path(str(path), sock.connect)
    return sock


@dataclass
class Subscription:
    """Messages for one subscription: `slices` whole, `envelopes` in order."""

    name: str
    answer: Message
    slices: list[Message] = field(default_factory=list)
    ended: str | None = None

    @property
    def envelopes(self) -> list[Message]:
        return [one for slice_ in self.slices for one in slice_["events"]]

    @property
    def stored(self) -> list[Message]:
        return [one for one in self.envelopes if one["seq"] is not None]

    @property
    def seqs(self) -> list[int]:
        return [one["seq"] for one in self.stored]

    @property
    def types(self) -> list[str]:
        return [one["event"]["type"] for one in self.stored]


class ControlPeer:
    """A client whose public methods may be used from any thread of the test."""

    def __init__(
        self,
        path: Path,
        name: str = "test",
        *,
        cwd: Path = Path("/"),
        environ: Mapping[str, str] | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._sock = dial(path)
        self._wire = wire.ControlWire(self._take)
        self._sock.sendall(hello(name, cwd, environ))
        while self._wire.welcome is None:
            self._wire.feed(self._sock.recv(CHUNK))
        self.welcome = self._wire.welcome
        self._judge = judge
        self._changed = threading.Condition()  # guards all that follows; notified whenever something came
        self._asked: dict[int | str, str] = {}
        self._answers: dict[int | str | None, Message] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self.strays: queue.Queue[Message] = queue.Queue()  # answers that no request of ours explains
        self._next = 0
        self._broken: Exception | None = None
        self.gone = False
        self._sock.settimeout(None)
        self._thread = threading.Thread(target=self._read, name=f"peer-{name}", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- asking ---------------------------------------------------------------------------------------------------

    def call(self, method: str, **params: Any) -> Any:
        return self.answer(self.start(method, **params))

    def start(self, method: str, **params: Any) -> int:
        with self._changed:
            self._next += 1
            request = self._next
        self.say(request, method, params)
        return request

    def say(self, request: int | str, method: str, params: Any) -> None:
        with self._changed:
            self._asked[request] = method
        self.raw(wire.line({"jsonrpc": "2.0", "id": request, "method": method, "params": params}))

    def raw(self, data: bytes) -> None:
        self._sock.sendall(data)

    def answer(self, request: int | str | None, timeout_s: float = WAIT_S) -> Any:
        """The result, or Refused."""
        self.wait_for(lambda: request in self._answers, f"no answer to request {request!r}", timeout_s)
        with self._changed:
            message = self._answers.pop(request)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def answered(self, request: int | str) -> bool:
        with self._changed:
            return request in self._answers

    def refusal(self, method: str, **params: Any) -> Refused:
        try:
            result = self.call(method, **params)
        except Refused as refused:
            return refused
        raise AssertionError(f"{method} was not refused: {result}")

    # --- what tests do often --------------------------------------------------------------------------------------

    def create(self, **params: Any) -> str:
        return str(self.call("conversation/create", **params)["conversation"])

    def send(self, conversation: str, prompt: str, *, wait: bool = True, **params: Any) -> Message:
        answer: Message = self.call(
            "conversation/send", conversation=conversation, prompt=prompt, wait=wait, **params
        )
        return answer

    def attach(self, conversation: str, after: int | None = 0, **params: Any) -> Subscription:
        answer = self.call("conversation/attach", conversation=conversation, after=after, **params)
        with self._changed:
            subscription = self._subscription(answer["subscription"])
            subscription.answer = answer
        return subscription

    def wait_seq(self, subscription: Subscription, seq: int) -> None:
        """Wait for the event with this number."""
        self.wait_for(
            lambda: any(one["seq"] is not None and one["seq"] >= seq for one in subscription.envelopes[-2000:]),
            f"event {seq} never came; there are {len(subscription.envelopes)}",
        )

    def wait_type(self, subscription: Subscription, kind: str, count: int = 1) -> None:
        self.wait_for(
            lambda: sum(one["event"]["type"] == kind for one in subscription.envelopes) >= count,
            f"{count} {kind} never came",
        )

    def wait_live(self, subscription: Subscription) -> None:
        self.wait_for(
            lambda: any(one["live"] for one in subscription.slices), "the subscription never reached the present"
        )

    def wait_ended(self, subscription: Subscription) -> None:
        self.wait_for(lambda: subscription.ended is not None, "the subscription was never ended")

    def wait_gone(self) -> None:
        self.wait_for(lambda: self.gone, "the daemon never hung up", alive=False)

    def wait_for(
        self, condition: Callable[[], bool], otherwise: str, timeout_s: float = WAIT_S, *, alive: bool = True
    ) -> None:
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not condition():
                if self._broken is not None:
                    raise self._broken
                assert not (alive and self.gone), f"the connection ended: {otherwise}"
                assert self._changed.wait(deadline - time.monotonic()) or condition(), otherwise
            if self._broken is not None:
                raise self._broken

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(WAIT_S)
        self._sock.close()
        if self._broken is not None:
            raise self._broken

    # --- the reading thread ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._sock.recv(CHUNK):
                with self._changed:
                    try:
                        self._wire.feed(data)
                    except Exception as error:  # noqa: BLE001  # raised where somebody waits
                        self._broken = self._broken or error
                    self._changed.notify_all()
        with self._changed:
            self.gone = True
            self._changed.notify_all()

    def _take(self, message: Message) -> None:
        if "method" in message:
            self._notified(message)
            method = None
        else:
            request = message["id"]
            method = self._asked.pop(request, None)
            if method is None:
                self.strays.put(message)
            else:
                self._answers[request] = message
        if self._judge is not None:
            self._judge(method, message)

    def _notified(self, message: Message) -> None:
        params = message["params"]
        subscription = self._subscription(params["subscription"])
        if message["method"] == "ended":
            subscription.ended = params["reason"]
        else:
            subscription.slices.append(params)

    def _subscription(self, name: str) -> Subscription:
        return self._subscriptions.setdefault(name, Subscription(name, {}))
