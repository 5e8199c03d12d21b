"""The tool by which a model sees to its background commands. Loop thread."""

from typing import ClassVar, assert_never

from msgspec import Struct

from actors.vocabulary.brief import brief_line
from actors.vocabulary.errors import UnknownJob
from actors.vocabulary.settings import Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools import specs
from supervisor.agents.own.tools.arguments import JobArguments, parse_arguments
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.own.transcript.transcript import job_notice as notice
from supervisor.work.jobs.job import BackgroundJob
from supervisor.work.jobs.jobs import BackgroundJobs

WRITE_S = 10.0  # for a job to read its input
MODEL = "the model"
SHOWN = 200  # characters of a command in a list


class JobTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.JOB})
    only_reads: ClassVar = False
    jobs: BackgroundJobs

    def spec(self, settings: Settings) -> ToolSpec | None:  # noqa: ARG002  # it is offered to every conversation
        return specs.JOB_SPEC

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        wanted = parse_arguments(JobArguments, call.arguments, work.bounds)
        own = self.jobs.jobs_of(work.turn.order.conversation)
        if wanted.do == "list":
            return ToolResult(
                "\n".join(f"{job.id}: {line(job)} {job.state}" for job in own) or "no background commands"
            )
        try:
            job = self.jobs.find(wanted.job, own)
        except UnknownJob as error:
            return failure("arguments", f"error: {error.message}")
        return await self._see_to(job, wanted, work)

    async def _see_to(self, job: BackgroundJob, wanted: JobArguments, work: Work) -> ToolResult:
        match wanted.do:
            case "write":
                data = wanted.input.encode("utf-8", "replace")
                if not await job.write(data, close=wanted.end_input, within_s=WRITE_S):
                    return failure("tool", f"error: job {job.id} did not read all of it; it {job.state}")
            case "read":
                await job.wait_for_output(job.read_to, wanted.seconds)
            case "wait":
                await job.wait(wanted.seconds)
            case "end":
                await self.jobs.end(job, MODEL)
            case "list":
                pass
            case _:
                assert_never(wanted.do)
        return ToolResult(news_of(job, work))


def news_of(job: BackgroundJob, work: Work) -> str:
    """Compose the news of a job: its state, and the output that the model has not read."""
    part = job.roll.read_from(job.read_to, work.bounds.model_output_bytes)
    job.read_to = part.next
    job.end_told = job.end is not None
    lost = f"[… {part.lost} bytes left out …]\n" if part.lost else ""
    left = job.roll.end - part.next
    more = f"\n[{left} more bytes: read again]" if left > 0 else ""
    return f"job {job.id} {job.state}\n{lost}{part.text}{more}"


def ends_to_tell(jobs: BackgroundJobs, work: Work) -> str | None:
    """Compose a notice of jobs that have ended without the model's knowledge, once; None if there are none."""
    ended = [job for job in jobs.jobs_of(work.turn.order.conversation) if job.end is not None and not job.end_told]
    for job in ended:
        job.end_told = True
    lines = [f"job {job.id} ({line(job)}) {job.state}; its output can be read" for job in ended]
    return notice("\n".join(lines)) if lines else None


def line(job: BackgroundJob) -> str:
    """Return the command in one bounded line."""
    return brief_line(" ".join(job.spec.command), SHOWN)
