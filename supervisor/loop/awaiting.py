"""Waiting on the loop: for the one answer of an actor, and for work within a time limit."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

Message = TypeVar("Message")


class Awaited(Generic[Message]):
    """An address for one answer, which is told on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._future: asyncio.Future[Message] = loop.create_future()

    def tell(self, message: Message) -> None:
        if not self._future.done():
            self._future.set_result(message)

    async def answer(self) -> Message:
        return await self._future


async def done_in_time(
    work: Coroutine[Any, Any, object], limit_s: float, unless: asyncio.Event | None = None
) -> bool:
    """Wait for the work. False if the time ran out or `unless` was set first; then the work is cancelled."""
    working = asyncio.ensure_future(work)
    tasks = {working} if unless is None else {working, asyncio.ensure_future(unless.wait())}
    await asyncio.wait(tasks, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    done = working.done()
    for task in tasks:
        task.cancel()
    return done
