"""The answers this connection waits for: the actors' under names of our own, the supervisor's under tokens.

The client's ids are the client's business; ours are never used twice.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from actors.ids import Caller, ConnectionId
from transports.dialect import Action

Then = Callable[[Any], Iterable[Action]]


class Expected:
    def __init__(self, connection: ConnectionId) -> None:
        self._connection = connection
        self._numbers = count(1)
        self._replies: dict[Caller, Then] = {}
        self._served: dict[object, Then] = {}

    def number(self) -> int:
        return next(self._numbers)

    def reply(self, then: Then) -> Caller:
        caller = Caller(self._connection, self.number())
        self._replies[caller] = then
        return caller

    def serving(self, then: Then) -> object:
        token = self.number()
        self._served[token] = then
        return token

    def replied(self, caller: Caller, answer: Any) -> Iterable[Action]:
        then = self._replies.pop(caller, None)
        return then(answer) if then is not None else ()

    def served(self, token: object, answer: Any) -> Iterable[Action]:
        then = self._served.pop(token, None)
        return then(answer) if then is not None else ()

    def __len__(self) -> int:
        return len(self._replies) + len(self._served)
