"""The loop's thread: work from other threads, work for worker threads, and its end."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from actors.vocabulary.errors import DeadlineExceeded
from supervisor.loop.thread import LoopThread

BOUND_S = 10.0  # far above what anything here takes
HANGING = 30  # more than a machine of two cores would get workers by itself


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    thread.start()
    yield thread
    assert thread.stop(BOUND_S)


def test_many_who_wait_for_a_disk_that_is_away_leave_room_for_the_others(loop: LoopThread) -> None:
    """A turn in a directory on a dead mount holds its worker for as long as the kernel does."""
    disk = threading.Event()

    async def work() -> str:
        hanging = [asyncio.create_task(asyncio.to_thread(disk.wait, BOUND_S)) for _ in range(HANGING)]
        await asyncio.sleep(0)  # they are first
        try:
            async with asyncio.timeout(BOUND_S / 2):
                return await asyncio.to_thread(lambda: "served")
        finally:
            disk.set()
            await asyncio.gather(*hanging)

    assert loop.call(work(), BOUND_S) == "served"


def test_a_worker_that_hangs_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supervisor.loop.thread.WORKERS_END_S", 0.05)
    disk, hangs = threading.Event(), threading.Event()
    thread = LoopThread()
    thread.start()

    def read() -> None:
        hangs.set()
        disk.wait(BOUND_S)

    async def begin() -> None:
        asyncio.get_running_loop().run_in_executor(None, read)

    thread.call(begin(), BOUND_S)
    assert hangs.wait(BOUND_S)
    with capture_logs() as entries:
        assert thread.stop(BOUND_S / 2)
    disk.set()
    assert [entry["event"] for entry in entries] == ["loop.workers_left"]


def test_the_end_of_the_process_does_not_wait_for_a_worker_that_hangs() -> None:
    program = """
import runpy, sys, threading
from concurrent.futures import ThreadPoolExecutor
import supervisor.daemon.daemon_start
def hanging():
    ThreadPoolExecutor().submit(threading.Event().wait)
    print("stopped in order")
    return 3
supervisor.daemon.daemon_start.main = hanging
sys.argv = ["supervisor"]
runpy.run_module("supervisor", run_name="__main__")
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert (ran.returncode, ran.stdout) == (3, "stopped in order\n")


def test_a_call_that_the_loop_does_not_answer_in_time_is_given_up(loop: LoopThread) -> None:
    with pytest.raises(DeadlineExceeded):
        loop.call(asyncio.sleep(BOUND_S), 0.05)


def test_a_task_that_is_left_at_the_end_is_cancelled_and_named() -> None:
    thread = LoopThread()
    thread.start()
    ended = threading.Event()

    async def forgotten() -> None:
        try:
            await asyncio.sleep(BOUND_S)
        finally:
            ended.set()

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(forgotten(), name="forgotten")
        await asyncio.sleep(0)  # it is under way
        return task

    kept = thread.call(begin(), BOUND_S)
    with capture_logs() as entries:
        assert thread.stop(BOUND_S)
    assert ended.is_set()
    assert kept.cancelled()
    assert [entry["task"] for entry in entries] == ["forgotten"]
