"""Background commands in the core: what was begun is said to have ended, once, whatever happens in between."""

from pathlib import Path

import pytest

from actors.messages.conversation import Archive, Park, RecordJobEnd, Retire, TimerFired
from actors.messages.effects import Leave, OfferToPark, SetTimer, Stay
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import WrongState
from actors.vocabulary.ids import CallId, ItemId, JobId
from tests.support.core_driver import Core, caller

ANN = caller("ann")
A, B = JobId("aaaa"), JobId("bbbb")
CWD = Path("/w")


def started(job: JobId, *, keeps: bool) -> ev.JobStarted:
    return ev.JobStarted(
        job=job, call_id=CallId("c"), item_id=ItemId(job), command=("sleep", "300"), cwd=CWD, keeps=keeps
    )


def exited(job: JobId) -> RecordJobEnd:
    return RecordJobEnd(ev.JobEnded(job=job, how="exited", exit_code=0))


def ends(core: Core) -> list[tuple[JobId, str]]:
    return [(event.job, event.how) for event in core.said_of(ev.JobEnded)]


def test_a_turn_ends_its_own_jobs_and_spares_the_others() -> None:
    core = Core()
    core.send()
    core.output(started(A, keeps=False), started(B, keeps=True))
    core.end()
    assert ends(core) == [(A, "turn_over")]
    assert core.types[-2:] == ["job_ended", "task_complete"]
    assert [job.id for job in core.state.facts.jobs] == [B]


def test_an_end_is_said_once_and_an_unknown_job_has_none() -> None:
    core = Core()
    core.send()
    core.output(started(A, keeps=False))
    core.say(exited(A))
    core.say(exited(A))
    core.say(exited(B), ANN)
    core.end()
    assert ends(core) == [(A, "exited")]
    assert core.answer(ANN) == Done()


def test_a_job_that_goes_on_keeps_its_conversation_in_memory() -> None:
    core = Core()
    core.send()
    core.output(started(A, keeps=True))
    core.end()
    core.now += core.limits.idle_park_s
    assert [one for one in core.say(TimerFired("idle")) if not isinstance(one, SetTimer)] == []
    assert core.say(Park()) == [Stay()]
    core.say(exited(A))
    core.now += core.limits.idle_park_s
    assert OfferToPark() in core.say(TimerFired("idle"))
    assert core.say(Park()) == [Leave()]


@pytest.mark.parametrize("command", [Archive(), Retire()])
def test_nothing_is_put_away_under_a_job(command: Archive | Retire) -> None:
    core = Core()
    core.send()
    core.output(started(A, keeps=True))
    core.end()
    core.say(command, ANN)
    refused = core.answer(ANN)
    assert isinstance(refused, WrongState)
    assert "greenroom jobs end aaaa" in refused.message


def test_a_crash_gives_up_every_job_that_was_running() -> None:
    core = Core()
    core.send()
    core.output(started(A, keeps=False), started(B, keeps=True))
    core.crash()
    assert ends(core) == [(A, "lost"), (B, "lost")]
    core.say(exited(B))
    assert len(ends(core)) == 2
