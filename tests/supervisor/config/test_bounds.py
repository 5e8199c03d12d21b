"""A bound that was met is named, and a worker's job ends when nobody waits for it."""

import asyncio
import gc
import threading
import time

import pytest

from supervisor.config.bounds import Bounds, json_size
from supervisor.loop.worker_job import WorkerJob, in_worker
from tests.supervisor.work.commands import limited


def test_a_refusal_names_the_bound_its_value_and_where_it_is_set() -> None:
    told = Bounds(patch_files=7).describe_excess("patch_files", "the patch names too many files")
    assert told == (
        "the patch names too many files: the bound is 7 (greenroom.limits.patch_files in the configuration)"
    )


@pytest.mark.parametrize(("text", "size"), [("abc", 3), ('"\\', 4), ("\x01\x02", 12), ("ä", 2), ("\udc80", 6)])
def test_a_text_counts_as_it_stands_in_an_event(text: str, size: int) -> None:
    assert json_size(text) == size


def test_a_worker_job_ends_when_nobody_waits_for_it_any_more_and_before_that_is_said() -> None:
    begun = threading.Event()

    def work(job: WorkerJob) -> None:
        begun.set()
        try:
            while True:
                job.go_on()
        finally:
            ended.append(time.perf_counter())

    async def scene() -> None:
        task = asyncio.create_task(in_worker(work))
        await asyncio.to_thread(begun.wait)
        assert not gc.isenabled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended, "the work goes on behind the cancellation"

    ended: list[float] = []
    limited(scene())
    assert gc.isenabled()


def test_a_worker_job_gives_its_result_and_its_error_to_who_waits() -> None:
    async def scene() -> None:
        assert await in_worker(lambda _, one: one + 1, 1) == 2
        with pytest.raises(ZeroDivisionError):
            await in_worker(lambda _: 1 // 0)

    limited(scene())
    assert gc.isenabled()
