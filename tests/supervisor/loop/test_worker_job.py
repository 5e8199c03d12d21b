"""Work in a worker thread: nothing is left behind when it fails."""

import asyncio
import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from supervisor.loop.worker_job import WorkerJob, in_worker


class Made:
    """An object that the work makes."""


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """The garbage collector comes seldom, and work turns it on again; with a threshold of 0 it never comes."""
    before = gc.get_threshold()
    gc.set_threshold(0)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_no_collection")
def test_nothing_that_failed_work_has_made_stays_in_memory() -> None:
    left: list[ref[Made]] = []

    def failing(job: WorkerJob) -> None:
        made = Made()
        left.append(ref(made))
        job.go_on()
        raise ValueError(made)

    async def scene() -> Made | None:
        with pytest.raises(ValueError, match="Made"):
            await in_worker(failing)
        await asyncio.get_running_loop().shutdown_default_executor()  # the worker itself has let go of it, too
        return left[0]()

    assert asyncio.run(scene()) is None
