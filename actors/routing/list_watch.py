"""Callers that wait to hear that a conversation has come or gone. Part of the registry's core; pure.

A long poll, so that only callers that asked get news: the answer has a number, and a caller that asks again with it
misses nothing that happened in between.
"""

from actors.messages.effects import ReplyTo
from actors.messages.routing import WatchList
from actors.vocabulary.answers import ListChanged
from actors.vocabulary.ids import Caller, ConnectionId


class ListWatch:
    def __init__(self) -> None:
        self._number = 0
        self._waiting: list[Caller] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def watch(self, query: WatchList, caller: Caller) -> list[ReplyTo]:
        if query.seen is not None and query.seen != self._number:
            return [ReplyTo(caller, ListChanged(self._number))]
        self._waiting.append(caller)
        return []

    def announce_change(self) -> list[ReplyTo]:
        self._number += 1
        callers, self._waiting = self._waiting, []
        return [ReplyTo(caller, ListChanged(self._number)) for caller in callers]

    def forget(self, gone: ConnectionId) -> None:
        self._waiting = [caller for caller in self._waiting if caller.connection != gone]
