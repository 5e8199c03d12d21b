"""The time, and timers of the event loop, which tell a message later."""

import asyncio
import time
from contextvars import Context
from typing import Protocol, TypeVar

import structlog

from actors.messages.conversation import Address
from actors.vocabulary.errors import GreenroomError

log = structlog.get_logger()
Message = TypeVar("Message")


class Clock(Protocol):
    """The time, and timers. A timer can't be taken back: the receiver checks whether it still means anything."""

    def now(self) -> float: ...

    def tell_later(self, delay_s: float, address: Address[Message], message: Message) -> None: ...


class LoopClock:
    """The clock of a loop, used on its thread. Messages that are not due when the loop ends are never told.

    Delays are monotonic, so that a jump of the wall clock fires nothing early.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = Context()  # of all timers: that of an actor would stay until its last timer is due

    def now(self) -> float:
        return time.time()

    def tell_later(self, delay_s: float, address: Address[Message], message: Message) -> None:
        self._loop.call_later(delay_s, _tell, address, message, context=self._context)


def _tell(address: Address[Message], message: Message) -> None:
    try:
        address.tell(message)
    except GreenroomError as error:  # gone or full: nobody is owed a timer
        log.debug("timer.undelivered", kind=type(message).__name__, reason=error.code)
