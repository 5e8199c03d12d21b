"""Background commands."""

from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    conversation_named,
)
from transports.supervisor_answers import Job, JobOutput, Jobs


def list_jobs(_: ControlCall, params: p.ListJobsParams) -> Script[Jobs]:
    conversation = None if params.conversation is None else (yield from conversation_named(params.conversation))
    return (yield from ask(r.ListJobs(conversation)))


def read_job(_: ControlCall, params: p.ReadJobParams) -> Script[JobOutput]:
    return ask(r.ReadJob(params.job, params.after, params.seconds))


def write_job(_: ControlCall, params: p.WriteJobParams) -> Script[Job]:
    return ask(r.WriteJob(params.job, params.text, params.end_input))


def wait_for_job(_: ControlCall, params: p.WaitForJobParams) -> Script[Job]:
    return ask(r.WaitForJob(params.job, params.seconds))


def end_job(_: ControlCall, params: p.JobParams) -> Script[Job]:
    return ask(r.EndJob(params.job))
