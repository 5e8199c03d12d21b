"""The owner of all background commands of the daemon: starts them, finds them, ends them. Loop thread.

A job belongs to its conversation. It ends with its turn unless it was asked to go on, and always with the daemon.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from secrets import token_hex

import structlog

from actors.vocabulary.errors import UnknownJob
from actors.vocabulary.events import JobEnded
from actors.vocabulary.ids import ConversationId, JobId
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.jobs.job import BackgroundJob, EndKind, JobEnd, JobSpec
from supervisor.work.processes.command import NotStarted
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.spawn import reason
from supervisor.work.sandbox.order import ConfinedCommand

REMEMBERED = 64  # jobs that have ended, whose output can still be read
SHARE = 4  # one conversation has at most a quarter, of those that run and of those remembered
ALL = 1 << 62  # bytes: the output is bounded here, not where it is read

LAST_BYTES = 8 << 10  # of the output, kept in the history

log = structlog.get_logger()

Confine = Callable[[], AbstractContextManager[ConfinedCommand]]
TellEnd = Callable[[BackgroundJob], None]


def end_event(job: BackgroundJob) -> JobEnded:
    """Make the event of a job's end."""
    end = job.end or JobEnd(-1, "ended")
    return JobEnded(
        job=job.id,
        how=end.how,
        exit_code=end.exit_code,
        output=end.reason or job.roll.read_last(LAST_BYTES),
        by=end.by,
    )


class TooManyJobs(Exception):
    """No further job may run. The text goes to the model."""


class BackgroundJobs:
    def __init__(self, processes: Processes, ended: TellEnd, bounds: Bounds = DEFAULTS) -> None:
        self._processes = processes
        self._ended = ended
        self.bounds = bounds
        self._jobs: dict[JobId, BackgroundJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def reserve(self, spec: JobSpec) -> BackgroundJob:
        """Give a job its id, under which it is recorded before it starts."""
        running = [job.spec.conversation for job in self._jobs.values() if job.end is None]
        if len(running) >= self.bounds.jobs:
            raise TooManyJobs(
                self.bounds.describe_excess("jobs", "too many background commands run; end one of them")
            )
        if running.count(spec.conversation) >= -(-self.bounds.jobs // SHARE):
            trouble = "this conversation runs a quarter of all background commands that are possible; end one of them"
            raise TooManyJobs(self.bounds.describe_excess("jobs", trouble))
        job = BackgroundJob(self._free_id(), spec, self.bounds.job_output_bytes)
        self._jobs[job.id] = job
        self._forget_the_oldest(spec.conversation)
        return job

    def start(self, job: BackgroundJob, confine: Confine, umask: int) -> None:
        if not job.spec.keeps:
            self._processes.tie(job.owner, job.spec.turn)
        task = asyncio.get_running_loop().create_task(self._run(job, confine, umask), name=f"job-{job.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, job: BackgroundJob, confine: Confine, umask: int) -> None:
        try:
            async with in_a_thread(confine) as confined:
                end = await self._run_confined(job, confined, umask)
        except OSError as error:
            end = JobEnd(-1, "not_started", reason=reason(error))
        except Exception as error:  # without an end it would keep its conversation from being parked for ever
            log.exception("job.failed", job=job.id, conversation=job.spec.conversation)
            end = JobEnd(-1, "not_started", reason=f"{type(error).__name__}: {error}")
        self._finish(job, end)

    def _finish(self, job: BackgroundJob, end: JobEnd) -> None:
        job.finish(end)
        self._ended(job)

    async def _run_confined(self, job: BackgroundJob, confined: ConfinedCommand, umask: int) -> JobEnd:
        async def take(_: Stream, data: bytes) -> None:
            job.take(data)

        if job.ended_by or not (job.spec.keeps or self._processes.is_open(job.spec.turn)):
            return JobEnd(-1, "not_started", job.ended_by, "it was ended before it began")
        command = confined.command(job.spec.conversation, job.owner, None, umask)
        result = await self._processes.run(command, Output(take, keep_bytes=0, live_bytes=ALL), job.input)
        with_its_turn = not self._processes.is_open(job.owner)
        await self._processes.end_turn(job.owner)  # the processes that it left in the background
        if isinstance(result, NotStarted):
            return JobEnd(-1, "not_started", reason=result.reason)
        return JobEnd(result.exit_code, _kind_of_end(job, with_its_turn=with_its_turn), job.ended_by)

    def never_started(self, job: BackgroundJob) -> None:
        """Give up a job whose turn ended between its record and its beginning."""
        self._finish(job, JobEnd(-1, "not_started", reason="its turn was over"))

    def find(self, reference: str, among: Iterable[BackgroundJob] | None = None) -> BackgroundJob:
        """Find a job by its id or the beginning of it."""
        found = [job for job in (self.all() if among is None else among) if job.id.startswith(reference)]
        if len(found) != 1 or not reference:
            what = f"no job {reference!r}" if not found else f"several jobs begin with {reference!r}"
            raise UnknownJob(f"{what}; `greenroom jobs` lists them")
        return found[0]

    def jobs_of(self, conversation: ConversationId) -> list[BackgroundJob]:
        return [job for job in self._jobs.values() if job.spec.conversation == conversation]

    def all(self) -> Iterable[BackgroundJob]:
        return tuple(self._jobs.values())

    async def end(self, job: BackgroundJob, by: str) -> None:
        """End a job and its tree, and wait until it is gone."""
        if job.end is None:
            job.ended_by = job.ended_by or by
            await self._processes.end_turn(job.owner)
            await job.over.wait()

    async def end_of(self, conversation: ConversationId) -> None:
        """End all jobs of a conversation, whose owner is gone."""
        await asyncio.gather(*(self.end(job, "the daemon") for job in self.jobs_of(conversation)))

    def forget(self, conversation: ConversationId) -> None:
        """Drop the ended jobs of a deleted conversation."""
        self._jobs = {
            name: job for name, job in self._jobs.items() if job.spec.conversation != conversation or job.end is None
        }

    async def aclose(self) -> None:
        await asyncio.gather(*(self.end(job, "the daemon") for job in self.all()))
        if self._tasks:
            await asyncio.wait(self._tasks)

    def statistics(self) -> dict[str, int]:
        return {"running": sum(job.end is None for job in self._jobs.values()), "ended": len(self._jobs)}

    def _free_id(self) -> JobId:
        while (job := JobId(token_hex(2))) in self._jobs:
            pass
        return job

    def _forget_the_oldest(self, conversation: ConversationId) -> None:
        """Drop the oldest ended jobs, first those of this conversation, so that it displaces no other's output."""
        ended = {name: job for name, job in self._jobs.items() if job.end is not None}
        own = [name for name, job in ended.items() if job.spec.conversation == conversation]
        oldest = [*own[: max(0, len(own) - REMEMBERED // SHARE)], *own, *ended]
        surplus = max(len(own) - REMEMBERED // SHARE, len(ended) - REMEMBERED)
        for name in list(dict.fromkeys(oldest))[: max(0, surplus)]:
            del self._jobs[name]


def _kind_of_end(job: BackgroundJob, *, with_its_turn: bool) -> EndKind:
    if job.ended_by:
        return "ended"
    return "turn_over" if with_its_turn else "exited"
