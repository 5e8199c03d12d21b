"""The parts that both clients add to the wire: subscriptions, and scripts that are carried out.

Knows no socket, and no thread: its owner calls it from one at a time.
"""

from collections import deque
from collections.abc import Generator, Iterable
from typing import TypeVar

from greenroom import errors
from greenroom.wire import AnswerHandler, ControlWire, Json


class Exchange(ControlWire):
    """The wire with subscriptions. Its owner sends `goodbyes` with a request, and calls `lose` at the end."""

    def __init__(self) -> None:
        super().__init__(self._arrive)
        self.lost = False
        self._arrived: dict[str, deque[Json]] = {}  # by subscription, not taken yet
        self._left: list[str] = []  # subscriptions that are to be ended

    @property
    def held_count(self) -> int:
        """The number of notifications that are not taken yet."""
        return sum(map(len, self._arrived.values()))

    def has_next(self, subscription: str) -> bool:
        return bool(self._arrived.get(subscription))

    def take_next(self, subscription: str) -> Json:
        """The oldest notification of a subscription that has one."""
        return self._arrived[subscription].popleft()

    def leave(self, subscription: str) -> None:
        """End a subscription with the next request. May be called at any moment, also by a garbage collector."""
        self._left.append(subscription)

    def detach_requests(self) -> bytes:
        """The lines that end the subscriptions that were left."""
        lines = b""
        while self._left:
            name = self._left.pop()
            lines += self.request("conversation/detach", {"subscription": name}, self._forget_later(name))[1]
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
        """Forget all open requests, because the connection has ended."""
        self.lost = True
        self._open.clear()

    def _forget_later(self, subscription: str) -> AnswerHandler:
        return lambda _: self._arrived.pop(subscription, None)

    def _arrive(self, message: Json) -> None:
        params = message.get("params") or {}
        if "subscription" in params:
            self._arrived.setdefault(params["subscription"], deque()).append(message)
        elif message.get("method") == "announcement":
            import logging  # announcements are rare, and it is slow to import

            logging.getLogger("greenroom").warning(params["message"])


def result_of(message: Json) -> Json:
    """The result of an answer, or its error raised."""
    if "error" in message:
        raise errors.error_of(message["error"])
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
