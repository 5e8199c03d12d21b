"""`greenroom jobs`: list, read, write to, await and end the background commands of all conversations."""

import sys
import time
from argparse import Namespace

from actors.vocabulary.visible_text import visible
from greenroom.answers import Job, JobOutput
from supervisor.cli.kit import exits, ids
from supervisor.cli.kit.client import Control
from supervisor.cli.kit.formatting import age, clean, one_line
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.listing import AnswerFields, ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row
from transports.question_text import command_for_history

AT_A_TIME_S = 30.0  # of waiting in one request

JOBS = ListLayout(
    AnswerFields("Job"),
    (
        Column("JOB", lambda row: row["job"], style=lambda _: ("cyan",)),
        Column("CONVERSATION", lambda row: ids.short_id(row["conversation"])),
        Column("AGE", lambda row: age(row["began"]), right=True),
        Column("STATE", lambda row: visible(row["state"])),
        Column("COMMAND", lambda row: one_line(command_for_history(row["command"])), shrinks=True),
    ),
    "no command runs in the background",
    key="job",
)


def run(chosen: Namespace) -> int:
    what = chosen.what or "list"
    if (chosen.job is None) != (what == "list"):
        if chosen.job is None:
            raise Problem("no job is named", "`greenroom jobs` lists them", "usage")
        raise Problem("a list is of all jobs", f"`greenroom jobs read {chosen.job}` shows one", "usage")
    with Control("jobs") as control:
        return DO[what](control, chosen)


def _list(control: Control, chosen: Namespace) -> int:
    conversation = None if chosen.conversation is None else ids.resolve_id(control, chosen.conversation)
    return present(JOBS, lambda: _rows(control, conversation), chosen)


def _rows(control: Control, conversation: str | None) -> list[Row]:
    return [vars(job) for job in control.jobs(conversation)]


def _read(control: Control, chosen: Namespace) -> int:
    """Print the output from the beginning, as far as it is kept; with --follow, until the job ends."""
    place = 0
    while True:
        seconds = AT_A_TIME_S if chosen.follow else 0.0
        part = control.read_job(chosen.job, after=place, seconds=seconds)
        _print(part, chosen)
        place = part.next
        if place >= part.written and not (chosen.follow and part.running):
            return exits.OK


def _print(part: JobOutput, chosen: Namespace) -> None:
    if chosen.json is not None:
        print(json_text(vars(part)))
    else:
        if part.lost:
            print(f"greenroom: {part.lost} bytes are not kept any more", file=sys.stderr)
        sys.stdout.write(clean(part.output))
    sys.stdout.flush()


def _write(control: Control, chosen: Namespace) -> int:
    text = sys.stdin.read() if chosen.text == "-" else f"{chosen.text or ''}\n"
    if chosen.text is None and not chosen.end_input:
        raise Problem("there is nothing to write", "name a text, or - for standard input", "usage")
    job = control.write_job(chosen.job, text if chosen.text else "", end_input=chosen.end_input)
    return _print_job(job, chosen)


def _wait(control: Control, chosen: Namespace) -> int:
    """Wait for the end of the job; fail if its command failed."""
    deadline = None if chosen.timeout is None else time.monotonic() + chosen.timeout
    while True:
        left = AT_A_TIME_S if deadline is None else min(AT_A_TIME_S, max(0.0, deadline - time.monotonic()))
        job = control.wait_for_job(chosen.job, seconds=left)
        if not job.running:
            _print_job(job, chosen)
            return exits.OK if job.exit_code == 0 else exits.FAILED
        if deadline is not None and time.monotonic() >= deadline:
            hint = f"`greenroom jobs read {job.job}` shows its output"
            raise Problem(f"job {job.job} still runs", hint, "timed_out")


def _end(control: Control, chosen: Namespace) -> int:
    return _print_job(control.end_job(chosen.job), chosen)


def _print_job(job: Job, chosen: Namespace) -> int:
    print(json_text(vars(job)) if chosen.json is not None else f"{job.job}: {visible(job.state)}")
    return exits.OK


DO = {"list": _list, "read": _read, "write": _write, "wait": _wait, "end": _end}
