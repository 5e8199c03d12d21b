"""Background commands."""

from transports import requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    conversation_named,
)


def list_jobs(_: ControlCall, given: p.ListJobs) -> Script[r.Plain]:
    one = None if given.conversation is None else (yield from conversation_named(given.conversation))
    return (yield from ask(r.ListJobs(one)))


def read_job(_: ControlCall, given: p.ReadJob) -> Script[r.Plain]:
    return ask(r.ReadJob(given.job, given.after, given.seconds))


def write_job(_: ControlCall, given: p.WriteJob) -> Script[r.Plain]:
    return ask(r.WriteJob(given.job, given.text, given.end_input))


def wait_for_job(_: ControlCall, given: p.WaitForJob) -> Script[r.Plain]:
    return ask(r.WaitForJob(given.job, given.seconds))


def end_job(_: ControlCall, given: p.NamedJob) -> Script[r.Plain]:
    return ask(r.EndJob(given.job))
