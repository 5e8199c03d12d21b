"""Several waits at the same time, none of which outlives the block that began them. Loop thread."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def side_by_side(work: Iterable[Coroutine[Any, Any, T]]) -> AsyncIterator[tuple[Awaitable[T], ...]]:
    """Begin all of the work, and yield its results. At the block's end, unfinished work is cancelled and waited for.

    A cancelled block is left at once, so that the cancellation reaches all of the work at the same time.
    """
    tasks = tuple(asyncio.create_task(coroutine) for coroutine in work)
    try:
        yield tuple(asyncio.shield(task) for task in tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # the block has raised the first error
