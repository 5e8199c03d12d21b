"""The running jobs, for verbs that mention them. Small, because those verbs must start fast."""

from greenroom.answers import Job
from supervisor.cli.kit.client import Control, RequestRefused
from supervisor.cli.kit.formatting import plural


def running_jobs(control: Control, conversation: str | None = None) -> list[Job]:
    """The running jobs; none from a daemon of an earlier version, which does not know the method."""
    try:
        jobs = control.jobs(conversation)
    except RequestRefused:
        return []
    return [job for job in jobs if job.running]


def jobs_notice(control: Control) -> str:
    """The notice for a person who stops the daemon; empty if nothing runs in the background."""
    jobs = running_jobs(control)
    return f"{plural(len(jobs), 'background command ends', 'background commands end')} with it" if jobs else ""
