"""Contexts that wait for the disk when they are entered: entered in a worker thread, left on the loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_a_thread(
    make: Callable[[], AbstractContextManager[T]], *, leave_there: bool = False
) -> AsyncIterator[T]:
    """Call `make` and enter its context in a thread. If cancelled, stop at once and leave the context later.

    With `leave_there` the context is left in a thread, too, because leaving it waits for the disk.
    """
    stack = ExitStack()
    entering = asyncio.ensure_future(asyncio.to_thread(lambda: stack.enter_context(make())))
    try:
        value = await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda done: None if done.cancelled() or done.exception() else stack.close())
        raise
    try:
        yield value
    finally:
        if leave_there:
            await asyncio.shield(asyncio.to_thread(stack.close))
        else:
            stack.close()
