"""Background commands for clients: listed, read, written to, waited for, ended. Loop thread.

The commands belong to the agent. A daemon whose agent was never needed has none.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from actors.vocabulary.errors import UnknownJob, WrongState
from transports import supervisor_requests as ask
from transports.supervisor_answers import Job, JobOutput, Jobs

if TYPE_CHECKING:
    from supervisor.work.jobs.job import BackgroundJob
    from supervisor.work.jobs.jobs import BackgroundJobs

READ_BYTES = 64 << 10  # of one answer
WRITE_S = 10.0  # for a job to read its input

JobRequest = ask.ListJobs | ask.ReadJob | ask.WriteJob | ask.WaitForJob | ask.EndJob


class JobServices:
    def __init__(self, jobs: "Callable[[], BackgroundJobs | None]") -> None:
        self._jobs = jobs

    async def carry_out(self, request: JobRequest, client: str) -> Jobs | JobOutput | Job:
        match request:
            case ask.ListJobs():
                jobs = self._jobs()
                wanted = request.conversation
                rows = (describe_job(job) for job in (jobs.all() if jobs else ()))
                return Jobs(tuple(row for row in rows if wanted in {None, row.conversation}))
            case ask.ReadJob():
                return await self._read(request)
            case ask.WriteJob():
                return await self._write(request)
            case ask.WaitForJob():
                job = self._find(request.job)
                await job.wait(request.seconds)
                return describe_job(job)
            case ask.EndJob():
                job = self._find(request.job)
                await self._owner().end(job, client)
                return describe_job(job)

    async def _read(self, request: ask.ReadJob) -> JobOutput:
        job = self._find(request.job)
        await job.wait_for_output(request.after, request.seconds)
        part = job.roll.read_from(request.after, READ_BYTES)
        return JobOutput(**asdict(describe_job(job)), output=part.text, next=part.next, lost=part.lost)

    async def _write(self, request: ask.WriteJob) -> Job:
        job = self._find(request.job)
        if job.end is not None:
            raise WrongState(f"job {job.id} {job.state}; nobody reads what is written to it")
        if not await job.write(request.text.encode(), close=request.end_input, within_s=WRITE_S):
            raise WrongState(f"job {job.id} did not read all of it within {WRITE_S:.0f} seconds; it {job.state}")
        return describe_job(job)

    def _owner(self) -> "BackgroundJobs":
        jobs = self._jobs()
        if jobs is None:
            raise UnknownJob("no background command was started; `greenroom jobs` lists them")
        return jobs

    def _find(self, reference: str) -> "BackgroundJob":
        return self._owner().find(reference)


def describe_job(job: "BackgroundJob") -> Job:
    return Job(
        job=job.id,
        conversation=job.spec.conversation,
        command=job.spec.command,
        cwd=str(job.spec.cwd),
        began=job.began,
        keeps=job.spec.keeps,
        running=job.end is None,
        state=job.state,
        exit_code=job.end.exit_code if job.end else None,
        written=job.roll.end,
    )
