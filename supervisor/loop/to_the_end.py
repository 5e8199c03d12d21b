"""Work that a cancellation does not cut short: an end that has begun is carried out. Loop thread."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger()


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Run the work to its end, however often the caller is cancelled. The caller raises its own error afterwards."""
    task = asyncio.create_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
    if error := task.exception():
        log.error("agent.stop_failed", exc_info=error)
