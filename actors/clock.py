"""The one clock: what time it is, and messages that are to be told later. One thread for all timers."""

import heapq
import itertools
import threading
import time
from typing import Any, Protocol, TypeVar

import structlog

from actors.errors import GreenroomError
from actors.messages import Address

LONGEST_WAIT_S = 86_400.0  # then it looks again: the system refuses to wait for centuries, as an import may ask

log = structlog.get_logger()
Message = TypeVar("Message")
Entry = tuple[float, int, Address[Any], Any]  # each message fits its address: `after` has seen to that


class Clock(Protocol):
    """A timer can't be taken back: the receiver looks whether it still means anything."""

    def now(self) -> float: ...

    def after(self, delay_s: float, address: Address[Message], message: Message) -> None: ...


class ThreadClock:
    """Delays are monotonic, so that a jump of the wall clock fires nothing early."""

    def __init__(self) -> None:
        self._due: list[Entry] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="clock", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        with self._changed:
            self._stopped = True
            self._due.clear()
            self._changed.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def now(self) -> float:
        return time.time()

    def after(self, delay_s: float, address: Address[Message], message: Message) -> None:
        entry = (time.monotonic() + delay_s, next(self._order), address, message)
        with self._changed:
            heapq.heappush(self._due, entry)
            if self._due[0] is entry:
                self._changed.notify()

    def _run(self) -> None:
        while (entry := self._wait()) is not None:
            _, _, address, message = entry
            try:
                address.tell(message)
            except GreenroomError as error:  # gone or overwhelmed: a timer is never worth more than that
                log.debug("timer.undelivered", kind=type(message).__name__, reason=error.code)
            except Exception:  # one bad address must not stop everybody's time
                log.exception("timer.failed", kind=type(message).__name__)
            del entry, address, message

    def _wait(self) -> Entry | None:
        with self._changed:
            while not self._stopped:
                delay = self._due[0][0] - time.monotonic() if self._due else None
                if delay is not None and delay <= 0:
                    return heapq.heappop(self._due)
                self._changed.wait(None if delay is None else min(delay, LONGEST_WAIT_S))
        return None
