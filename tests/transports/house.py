"""Tools for the transport tests: a loop on its own thread, a clock that is moved by hand, and probes."""

import asyncio
import contextlib
import queue
import resource
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from actors.messages.conversation import Address
from actors.runtime.clock import Message
from actors.vocabulary.errors import ActorGone

PATIENCE_S = 30.0  # a busy machine; a test that waits this long has failed
T = TypeVar("T")


class LoopThread:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.errors: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.errors.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, name="loop", daemon=True)
        self._thread.start()

    def call(self, do: Callable[[], T]) -> T:
        async def run() -> T:
            return do()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_S)
        self.loop.close()


@contextlib.contextmanager
def running_loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    try:
        yield loop
    finally:
        loop.stop()
    assert not loop.errors, loop.errors


class ManualClock:
    """Time moves when a test says so."""

    def __init__(self) -> None:
        self._now = 0.0
        self._due: list[tuple[float, Address[Any], Any]] = []
        self._lock = threading.Lock()

    def now(self) -> float:
        return self._now

    def tell_later(self, delay_s: float, address: Address[Message], message: Message) -> None:
        with self._lock:
            self._due.append((self._now + delay_s, address, message))

    def waiting(self, kind: type) -> int:
        with self._lock:
            return sum(isinstance(message, kind) for _, _, message in self._due)

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds
            due = [one for one in self._due if one[0] <= self._now]
            self._due = [one for one in self._due if one[0] > self._now]
        for _, address, message in due:
            with contextlib.suppress(ActorGone):
                address.tell(message)


class Probe:
    """An address that keeps what it is told, or refuses it."""

    def __init__(self, failure: Exception | None = None) -> None:
        self._queue: queue.Queue[object] = queue.Queue()
        self.failure = failure

    def tell(self, message: object) -> None:
        if self.failure is not None:
            raise self.failure
        self._queue.put(message)

    def expect(self, kind: type[T], timeout_s: float = PATIENCE_S) -> T:
        message = self._queue.get(timeout=timeout_s)
        assert isinstance(message, kind), f"{kind.__name__} was expected, this came: {message}"
        return message

    @property
    def empty(self) -> bool:
        return self._queue.empty()


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition, with a bound; for what no message tells."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.002)


def descriptors() -> int:
    """The number of descriptors that this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


def resident_bytes() -> int:
    """Memory this process has in use now; where that can't be asked, what it had at most."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
