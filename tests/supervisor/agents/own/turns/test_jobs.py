"""Background commands of the model: one id each, for as long as their turn or longer, never beyond their daemon."""

import json
import re
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import Decision, ReadOnly
from supervisor.agents.own.tools import background
from supervisor.work.jobs import jobs
from tests.supervisor.agents.own.turns.requests import check_well_formed, talk
from tests.supervisor.agents.own.turns.test_commands import shell
from tests.supervisor.work.commands import ON_LINUX, alive, new_token
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer

pytestmark = ON_LINUX


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first look at a job is short where nobody waits for its address."""
    monkeypatch.setattr(background, "FIRST_LOOK_S", 0.1)


def job(**arguments: object) -> str:
    return "call job " + json.dumps(arguments)


def outputs(server: ModelServer) -> list[str]:
    check_well_formed(server.requests[-1])
    return [line[2] for line in talk(server) if line[0] == "output"]


def started(conversation: Talk, said: str) -> ev.JobStarted:
    conversation.ask(said)
    return conversation.wait(ev.JobStarted)


def keep(*argv: str) -> str:
    return shell(*argv, background="conversation")


def test_a_job_is_started_written_to_read_waited_for_and_its_end_is_told(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk()
    begun = started(
        conversation, f"{keep('sh', '-c', 'echo ready; read word; echo got $word; exit 3')}; then; say ok"
    )
    assert re.match(rf"job {begun.job} running for \d s\nready\n", outputs(server)[-1])
    write = job(do="write", job=begun.job, input="apples\n")
    conversation.ask(f"{write}; {job(do='wait', job=begun.job)}; then; say ok")
    told = outputs(server)[-2:]
    assert "got apples" in "".join(told)
    assert told[-1].startswith(f"job {begun.job} ended with exit code 3")
    end = conversation.wait(ev.JobEnded)
    assert (end.job, end.how, end.exit_code, end.output) == (begun.job, "exited", 3, "ready\ngot apples\n")


def test_a_job_of_a_turn_ends_with_it_and_before_its_last_event(harness: EngineHarness) -> None:
    conversation, token = harness.talk(), new_token()
    script = f"sleep 300 & sleep 300 # {token}"
    conversation.ask(f"{shell('sh', '-c', script, background='turn')}; then; say done")
    assert alive(token) == []
    types = [type_ for type_ in conversation.types() if type_ != "token_count"]
    assert types[-2:] == ["job_ended", "task_complete"]
    assert conversation.wait(ev.JobEnded).how == "turn_over"


def test_an_interrupt_ends_the_jobs_of_its_turn_and_spares_what_was_asked_to_stay(harness: EngineHarness) -> None:
    conversation, of_turn, kept = harness.talk(), new_token(), new_token()
    first = shell("sh", "-c", f"sleep 300 # {of_turn}", background="turn")
    second = keep("sh", "-c", f"sleep 300 # {kept}")
    begun = conversation.start(f"{first}; {second}; then; stall forever")
    conversation.wait(ev.ToolOutput, 2)
    conversation.interrupt()
    assert conversation.result(begun).ending is Ending.INTERRUPTED
    assert alive(of_turn) == []
    assert len(alive(kept)) >= 1
    harness.engine.loop.call(harness.engine.agent.get().end_jobs(conversation.conversation), 10)
    assert conversation.wait(ev.JobEnded, 2).how == "ended"
    assert alive(kept) == []


def test_the_model_is_told_of_an_end_that_it_did_not_see(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk()
    gate = harness.workspace / "gate"
    begun = started(
        conversation, f"{keep('sh', '-c', f'until [ -e {gate} ]; do sleep 0.01; done; exit 7')}; then; say ok"
    )
    gate.touch()
    conversation.wait(ev.JobEnded)
    conversation.ask("say hello")
    notices = [line for line in talk(server) if "<background_commands>" in str(line)]
    assert len(notices) == 1
    assert f"job {begun.job}" in str(notices[0])
    assert "ended with exit code 7" in str(notices[0])
    conversation.ask("say again")
    assert [line for line in talk(server) if "<background_commands>" in str(line)] == notices


def test_a_job_is_asked_for_like_any_command_and_runs_where_it_was_approved(harness: EngineHarness) -> None:
    conversation = harness.talk(sandbox=ReadOnly(), approval_policy="untrusted")
    begun = conversation.start(f"{keep('sh', '-c', 'echo outside')}; then; say ok")
    question = conversation.wait(ev.ApprovalRequested)
    assert conversation.all(ev.JobStarted) == []
    conversation.decide(question.approval_id, Decision.DENIED)
    conversation.result(begun)
    assert conversation.all(ev.JobStarted) == []
    assert conversation.wait(ev.ToolOutput).failed is not None


def test_an_approval_of_a_command_for_the_conversation_is_none_of_the_same_in_the_background(
    harness: EngineHarness,
) -> None:
    """A command that runs on, and can be written to, is another thing to say yes to."""
    conversation = harness.talk(sandbox=ReadOnly(), approval_policy="untrusted")
    words = ("sh", "-c", "echo outside")
    calls = (shell(*words), shell(*words), keep(*words), shell(*words, background="turn"), keep(*words))
    begun = conversation.start("; ".join((*calls, "then", "say ok")))
    for number, place in enumerate((None, "conversation", "turn"), 1):
        question = conversation.wait(ev.ApprovalRequested, number)
        assert question.background == place
        conversation.decide(question.approval_id, Decision.APPROVED_FOR_SESSION)
    conversation.result(begun)
    assert len(conversation.all(ev.ApprovalRequested)) == 3
    assert len(conversation.all(ev.JobStarted)) == 3


def test_a_program_that_is_not_there_is_an_error_and_no_job(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk()
    conversation.ask(f"{keep('/no/such/program')}; then; say ok")
    assert "No such file" in outputs(server)[-1]
    assert conversation.wait(ev.JobEnded).how == "not_started"


def test_jobs_are_counted_and_one_too_many_is_refused(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, tables="[greenroom.limits]\njobs = 1\n") as harness:
        conversation = harness.talk()
        conversation.ask(f"{keep('sleep', '300')}; {keep('sleep', '300')}; then; say ok")
        assert "greenroom.limits.jobs" in outputs(server)[-1]
        assert len(conversation.all(ev.JobStarted)) == 1


def test_one_conversation_leaves_room_for_the_jobs_and_the_outputs_of_others(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "REMEMBERED", 8)
    with harness_at(tmp_path, server.base_url, tables="[greenroom.limits]\njobs = 5\n") as harness:
        quiet, greedy = harness.talk(), harness.talk()
        first = started(quiet, f"{keep('echo', 'mine')}; then; say ok")
        greedy.ask("; ".join([keep("sleep", "300")] * 3) + "; then; say ok")
        assert "this conversation runs a quarter" in outputs(server)[-1]
        assert len(greedy.all(ev.JobStarted)) == 2
        greedy.ask(f"{job(do='end', job=greedy.all(ev.JobStarted)[0].job)}; then; say ok")
        for _ in range(10):
            greedy.ask(f"{keep('true')}; then; say ok")
        quiet.ask(f"{job(do='read', job=first.job)}; {keep('sleep', '300')}; then; say ok")
        assert f"job {first.job} ended with exit code 0" in outputs(server)[-2]
        kept = harness.engine.jobs
        assert kept is not None
        assert len(kept.jobs_of(greedy.conversation)) <= 2 + 2


def test_a_job_of_an_earlier_life_is_said_to_be_lost_and_the_model_knows(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation, token = harness.talk(), new_token()
    begun = started(conversation, f"{keep('sh', '-c', f'sleep 300 # {token}')}; then; say ok")
    harness.restart()
    assert alive(token) == []
    conversation.ask("say hello")
    end = conversation.wait(ev.JobEnded)
    assert (end.job, end.how) in {(begun.job, "lost"), (begun.job, "ended")}
    assert f"job {begun.job}" in str(talk(server))
    conversation.ask(f"{job(do='read', job=begun.job)}; then; say ok")
    assert f"no job '{begun.job}'" in outputs(server)[-1]


def test_a_conversation_with_a_job_stays_alive_and_one_whose_job_ended_is_parked(
    tmp_path: Path, server: ModelServer
) -> None:
    with harness_at(tmp_path, server.base_url, greenroom="idle_park_seconds = 0.05\n") as harness:
        conversation = harness.talk()
        begun = started(conversation, f"{keep('sleep', '300')}; then; say ok")
        harness.leave()
        jobs = harness.engine.jobs
        assert jobs is not None
        harness.engine.loop.call(jobs.end(jobs.find(begun.job), "a test"), 10)
        conversation.wait_parked()
