"""A command that goes into the background: recorded, started, and told with its first output. Loop thread."""

from msgspec import Struct

from actors.vocabulary import events as ev
from supervisor.agents.own.tools.job_tool import news_of
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.work.jobs.job import JobSpec
from supervisor.work.jobs.jobs import BackgroundJobs, Confine, TooManyJobs

FIRST_LOOK_S = 1.0  # a command that can't work has ended by then; a server has said its address


class Background(Struct, frozen=True):
    """A call that starts a job."""

    jobs: BackgroundJobs
    work: Work
    call: OpenCall

    async def start(self, spec: JobSpec, confine: Confine) -> ToolResult:
        work, call = self.work, self.call
        try:
            job = self.jobs.reserve(spec)
        except TooManyJobs as error:
            return failure("refused", f"error: {error}")
        work.say(
            ev.JobStarted(
                job=job.id,
                call_id=call.call,
                item_id=call.item,
                command=spec.command,
                cwd=spec.cwd,
                keeps=spec.keeps,
            )
        )
        try:
            await work.turn.wait_until_stored()  # as for every command: none runs without a record
        except BaseException:
            self.jobs.never_started(job)
            raise
        self.jobs.start(job, confine, work.environment.umask)
        await job.wait(FIRST_LOOK_S)
        news = news_of(job, work)
        if job.end is not None and job.end.how == "not_started":
            return failure("tool", f"execution error: {job.end.reason}")
        until = "it goes on after your turn" if spec.keeps else "it ends with your turn"
        return ToolResult(f"{news}\n[{until}; see to it with the tool job]" if job.end is None else news)
