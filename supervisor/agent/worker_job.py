"""Work in a worker thread that ends when its turn does: told to stop, it stops at its next step, which is waited for.

Without this an interrupt would leave it running, with the interpreter's lock, long after its turn was said to be
over.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

STEP_S = 0.002  # of work between two rests
REST_S = 0.0005  # long enough for the loop to have the interpreter's lock
CALM_S = 5.0  # for which no cycles are collected at most
END_S = 1.0  # for a job that was told to stop; one that waits for a disk that is away burns nothing


class JobStopped(Exception):
    """Nobody wants the result any more."""


class WorkerJob:
    """The worker's side calls `go_on`, the loop's `stop`. One bool, written once: it needs no lock."""

    def __init__(self) -> None:
        self._stopped = False
        self._rested = time.perf_counter()

    def stop(self) -> None:
        self._stopped = True

    def go_on(self) -> None:
        """Between two steps. JobStopped if it was told to; now and then a rest, so that the loop is never held up."""
        if self._stopped:
            raise JobStopped
        if time.perf_counter() - self._rested > STEP_S:
            time.sleep(REST_S)
            self._rested = time.perf_counter()


async def in_worker(
    work: Callable[Concatenate[WorkerJob, P], Result], /, *arguments: P.args, **named: P.kwargs
) -> Result:
    """As asyncio.to_thread; but when this is cancelled, the work ends too, before the cancellation goes on."""
    job = WorkerJob()
    calm = _Calm()
    doing = asyncio.ensure_future(asyncio.to_thread(work, job, *arguments, **named))
    doing.add_done_callback(calm.end)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        job.stop()
        doing.add_done_callback(_heard)
        await asyncio.wait({doing}, timeout=END_S)
        raise
    finally:
        del doing  # an error would hold this frame, this frame the error, and both all that the work has made


class _Calm:
    """No collection of cycles while much is made that has none: each would stop everybody for a tenth of a second."""

    _going_on = 0

    def __init__(self) -> None:
        _Calm._going_on += 1
        gc.disable()
        self._end = asyncio.get_running_loop().call_later(CALM_S, self.end)

    def end(self, _: object = None) -> None:
        """When the work is done, or takes long, as on a disk that is away."""
        if not self._end.cancelled():
            self._end.cancel()
            _Calm._going_on -= 1
            if not _Calm._going_on:
                gc.enable()


def _heard(done: "asyncio.Future[Result]") -> None:
    """Nobody waits for its outcome, so that nobody is told that it was never fetched."""
    if not done.cancelled():
        done.exception()
