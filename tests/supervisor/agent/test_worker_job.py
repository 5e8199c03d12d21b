"""Work in a worker thread: nothing is left behind when it fails."""

import asyncio
import gc
import tracemalloc

import pytest

from supervisor.agent.worker_job import WorkerJob, in_worker


def failing(job: WorkerJob) -> None:
    made = bytes(4_000_000)
    job.go_on()
    raise ValueError(len(made))


def test_nothing_that_failed_work_has_made_stays_in_memory() -> None:
    """The garbage collector comes seldom, and is paused while there is work."""

    async def scene() -> int:
        tracemalloc.start()
        with pytest.raises(ValueError, match="4000000"):
            await in_worker(failing)
        await asyncio.get_running_loop().shutdown_default_executor()  # the worker itself has let go of it, too
        return tracemalloc.get_traced_memory()[0]

    gc.disable()
    try:
        assert asyncio.run(scene()) < 1_000_000
    finally:
        tracemalloc.stop()
        gc.enable()
