"""The owner of background commands: each that was recorded has one end, whatever becomes of its start."""

import asyncio
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from actors.vocabulary.ids import ConversationId, TurnId
from supervisor.work.jobs.job import BackgroundJob, JobSpec
from supervisor.work.jobs.jobs import BackgroundJobs
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.order import ConfinedCommand
from tests.supervisor.work.commands import limited

SPEC = JobSpec(ConversationId("c"), TurnId("t"), ("true",), Path("/"), keeps=True)


def broken() -> AbstractContextManager[ConfinedCommand]:
    raise ValueError("no sandbox like this")


def test_a_job_whose_turn_ended_before_it_began_has_an_end(tmp_path: Path) -> None:
    """It was to go on after the turn, so the turn's end is not its own."""
    told: list[BackgroundJob] = []
    jobs = BackgroundJobs(Processes(tmp_path / "ledger", "of-the-tests"), told.append)

    async def work() -> None:
        jobs.never_started(jobs.reserve(SPEC))

    limited(work())
    assert [job.state for job in told] == ["did not start: its turn was over"]


def test_a_job_that_fails_in_an_unforeseen_way_has_an_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    told: list[BackgroundJob] = []
    jobs = BackgroundJobs(Processes(tmp_path / "ledger", "of-the-tests"), told.append)

    async def work() -> None:
        job = jobs.reserve(SPEC)
        jobs.start(job, broken, 0o022)
        await job.over.wait()
        await asyncio.sleep(0)

    with caplog.at_level("CRITICAL"):
        limited(work())
    assert [job.state for job in told] == ["did not start: ValueError: no sandbox like this"]
