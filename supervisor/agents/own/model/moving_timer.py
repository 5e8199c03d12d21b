"""Repeated waits for the next of many small things, each with a time-out. Loop thread."""

import asyncio


class MovingTimer:
    """One timer for a whole stream: each wait only moves its deadline."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[None] | None = None
        self._deadline: float | None = None
        self._alarm: asyncio.TimerHandle | None = None  # fires at the deadline or before it

    async def wait(self, timeout_s: float | None) -> None:
        """Wait until `end` is called. Raises TimeoutError when that takes too long."""
        self._waiting = self._loop.create_future()
        self._deadline = None if timeout_s is None else self._loop.time() + timeout_s
        if self._deadline is not None and (self._alarm is None or self._alarm.when() > self._deadline):
            self._ring_at(self._deadline)
        try:
            await self._waiting
        finally:
            self._waiting = None

    def end(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def close(self) -> None:
        """End the wait, and the timer for good."""
        self.end()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _ring_at(self, when: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._waiting is None or self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._ring_at(self._deadline)
        elif not self._waiting.done():
            self._waiting.set_exception(TimeoutError())
