"""The parts that both clients add to the wire: subscriptions, and scripts that are carried out.

Knows no socket, and no thread: its owner calls it from one at a time.
"""

import time
from collections import deque
from collections.abc import Generator, Iterable
from typing import Generic, TypeVar

from greenroom import errors
from greenroom.wire import Answered, ControlWire, Json


class Exchange(ControlWire):
    """The owner sends `goodbyes` with its next request, and calls `lose` when the connection has ended."""

    def __init__(self) -> None:
        super().__init__(self._arrive)
        self.lost = False
        self._arrived: dict[str, deque[Json]] = {}  # by subscription, not taken yet
        self._left: list[str] = []  # subscriptions that are to be ended

    @property
    def held(self) -> int:
        """The number of notifications that are not taken yet."""
        return sum(map(len, self._arrived.values()))

    def has_next(self, subscription: str) -> bool:
        return bool(self._arrived.get(subscription))

    def next(self, subscription: str) -> Json:
        """The oldest notification of a subscription that has one."""
        return self._arrived[subscription].popleft()

    def leave(self, subscription: str) -> None:
        """End a subscription with the next thing that is sent. May be called at any moment, also by a collector."""
        self._left.append(subscription)

    def goodbyes(self) -> bytes:
        """The lines that end what was left."""
        lines = b""
        while self._left:
            name = self._left.pop()
            lines += self.request("conversation/detach", {"subscription": name}, self._ended(name))[1]
        return lines

    def forget(self, number: int, answers: Iterable[Json] = ()) -> None:
        """Drop the answer when it comes, or the one that is here; end the subscription that it begins."""
        if number in self._open:
            self._open[number] = self.drop
        for message in answers:
            self.drop(message)

    def drop(self, message: Json) -> None:
        subscription = (message.get("result") or {}).get("subscription")
        if subscription is not None:
            self.leave(subscription)

    def lose(self) -> None:
        """The connection has ended, and with it everything that was open."""
        self.lost = True
        self._open.clear()

    def _ended(self, subscription: str) -> Answered:
        return lambda _: self._arrived.pop(subscription, None)

    def _arrive(self, message: Json) -> None:
        params = message.get("params") or {}
        if "subscription" in params:
            self._arrived.setdefault(params["subscription"], deque()).append(message)
        elif message.get("method") == "announcement":
            import logging  # announcements are rare, and it is slow to import

            logging.getLogger("greenroom").warning(params["message"])


E = TypeVar("E", bound=Exchange)


class ScriptRun(Generic[E]):
    """A script that is carried out: its time limit, and the subscriptions it has begun."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self._begun: list[tuple[E, str]] = []

    @property
    def exchange(self) -> E:
        """The connection of the last subscription."""
        return self._begun[-1][0]

    def limit(self, limit_s: float | None) -> Json:
        self.deadline = None if limit_s is None else time.monotonic() + limit_s
        return {}

    def until(self, wait_s: float | None) -> float | None:
        """The deadline of a request that may take so long."""
        limits = [self.deadline] if self.deadline is not None else []
        limits += [time.monotonic() + wait_s] if wait_s is not None else []
        return min(limits, default=None)

    def began(self, exchange: E, answer: Json) -> Json:
        if "subscription" in answer:
            self._begun.append((exchange, answer["subscription"]))
        return answer

    def end(self) -> None:
        while self._begun:
            exchange, subscription = self._begun.pop()
            exchange.leave(subscription)


def result_of(message: Json) -> Json:
    """The result of an answer, or its error raised."""
    if "error" in message:
        raise errors.of(message["error"])
    result: Json = message["result"]
    return result


S = TypeVar("S")


class ScriptEnded(Exception):
    """A script has ended, with its result. A coroutine could not raise StopIteration."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


def advance(script: Generator[S, Json, object], answer: Json | errors.GreenroomError | None = None) -> S:
    """Give a script its answer, and return its next step; without an answer it begins, or goes on."""
    try:
        if isinstance(answer, errors.GreenroomError):
            return script.throw(answer)
        return next(script) if answer is None else script.send(answer)
    except StopIteration as end:
        raise ScriptEnded(end.value) from None
