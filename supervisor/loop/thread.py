"""The asyncio loop on its thread, which runs the actors, does all waiting and spawns every child."""

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import structlog

from actors.vocabulary.errors import DeadlineExceeded

Result = TypeVar("Result")

WORKERS = 64  # started when needed; each may hang for long on a lost disk, and the others must not wait for it
SWITCH_S = 0.0005  # a computing worker yields to the loop after this time; Python's default is ten times as much
WORKERS_END_S = 2.0  # for reads under way; all writes have ended by then

log = structlog.get_logger()


class LoopThread:
    """A thread that lives as long as the process, as Linux may kill the children of a thread that ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._workers = ThreadPoolExecutor(WORKERS, "worker")
        self.loop.set_default_executor(self._workers)
        self._thread = threading.Thread(target=self._run, name="loop", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, Result], timeout_s: float) -> Result:
        """Run a coroutine on the loop from another thread, and wait for it. For start and stop only."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError as error:
            if future.done():
                raise
            future.cancel()
            raise DeadlineExceeded(f"the loop did not answer in {timeout_s} s") from error

    def run(self, work: Callable[[], Result], timeout_s: float) -> Result:
        """Run a function on the loop, likewise."""

        async def on_the_loop() -> Result:
            return work()

        return self.call(on_the_loop(), timeout_s)

    def stop(self, timeout_s: float) -> bool:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        sys.setswitchinterval(SWITCH_S)
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self._finish()

    def _finish(self) -> None:
        left = asyncio.all_tasks(self.loop)
        for task in left:
            log.warning("loop.task_left", task=task.get_name())
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self._finish_workers()
        self.loop.close()

    def _finish_workers(self) -> None:
        """Stop the workers, within a bound: the loop's own shutdown waits for ever."""
        finishing = threading.Thread(target=self._workers.shutdown, kwargs={"cancel_futures": True}, daemon=True)
        finishing.start()
        finishing.join(WORKERS_END_S)
        if finishing.is_alive():
            log.error("loop.workers_left")  # the end of the process does not wait for them, see __main__.py
