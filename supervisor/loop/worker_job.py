"""Work in a worker thread that ends when its turn does: it checks for a stop at each step, and the loop waits for it.

Otherwise an interrupted turn would leave its work running, with the interpreter's lock, long after its end.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

STEP_S = 0.002  # of work between two pauses
REST_S = 0.0005  # long enough for the loop to get the interpreter's lock
CALM_S = 5.0  # at most, with the garbage collector off
END_S = 1.0  # for a job that was told to stop; a job that waits for a disk uses no processor


class JobStopped(Exception):
    """The job was told to stop: its result is not wanted any more."""


class WorkerJob:
    """A stop flag for one job. The worker calls `go_on`, the loop calls `stop`; a bool written once needs no lock."""

    def __init__(self) -> None:
        self._stopped = False
        self._rested = time.perf_counter()

    def stop(self) -> None:
        self._stopped = True

    def go_on(self) -> None:
        """Call between two steps: raises JobStopped if told to, and pauses now and then to spare the loop."""
        if self._stopped:
            raise JobStopped
        if time.perf_counter() - self._rested > STEP_S:
            time.sleep(REST_S)
            self._rested = time.perf_counter()


async def in_worker(
    work: Callable[Concatenate[WorkerJob, P], Result], /, *arguments: P.args, **named: P.kwargs
) -> Result:
    """Run like asyncio.to_thread; but when cancelled, stop the work before the cancellation goes on."""
    job = WorkerJob()
    calm = _Calm()
    doing = asyncio.ensure_future(asyncio.to_thread(work, job, *arguments, **named))
    doing.add_done_callback(calm.end)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        job.stop()
        doing.add_done_callback(_fetch_error)
        await asyncio.wait({doing}, timeout=END_S)
        raise
    finally:
        del doing  # an error would keep this frame alive, the frame the error, and both all that the work has made


class _Calm:
    """Turns garbage collection off while work makes many objects but no cycles: it would take a tenth of a second."""

    _going_on = 0

    def __init__(self) -> None:
        _Calm._going_on += 1
        gc.disable()
        self._end = asyncio.get_running_loop().call_later(CALM_S, self.end)

    def end(self, _: object = None) -> None:
        """Turn collection on again: the work is done, or takes too long, as on a slow disk."""
        if not self._end.cancelled():
            self._end.cancel()
            _Calm._going_on -= 1
            if not _Calm._going_on:
                gc.enable()


def _fetch_error(done: "asyncio.Future[Result]") -> None:
    """Fetch the error of abandoned work, so that asyncio does not warn of it."""
    if not done.cancelled():
        done.exception()
