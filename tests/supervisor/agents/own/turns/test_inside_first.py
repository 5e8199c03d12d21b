"""A yes to an ordinary command runs it in the sandbox; outside is an answer of its own, or another question."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, ReadOnly, WorkspaceWrite
from supervisor.agents.own.tools.command_result import CommandResult
from supervisor.agents.own.tools.sandbox_failures import failure_of, may_be_held_back
from tests.supervisor.agents.own.turns.test_commands import outputs, result, shell
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.model_server import ModelServer

ALWAYS, YES, NO = Decision.APPROVED_FOR_SESSION, Decision.APPROVED, Decision.DENIED
UNTRUSTED = {"approval_policy": ApprovalPolicy.UNTRUSTED, "sandbox": WorkspaceWrite(exclude_slash_tmp=True)}


def asked(talk: Talk, number: int = 1) -> ev.ApprovalRequested:
    return talk.wait(ev.ApprovalRequested, number)


@pytest.fixture
def outside(harness: EngineHarness) -> Path:
    """A file that no sandboxed command can write."""
    return harness.home / "outside"


def write(file: Path) -> str:
    return f"{shell('sh', '-c', f'echo x >> inside; echo x >> {file}')}; then; say done"


@confinable
def test_a_yes_runs_a_command_inside_and_the_question_of_outside_follows_with_what_failed(
    harness: EngineHarness, outside: Path
) -> None:
    talk = harness.talk(**UNTRUSTED)
    begun = talk.start(write(outside))
    first = asked(talk)
    assert (first.outside_sandbox, first.inside_or_outside, first.retry) == (False, True, False)
    talk.decide(first.approval_id, YES)
    second = asked(talk, 2)
    assert not outside.exists()
    assert (second.outside_sandbox, second.inside_or_outside, second.retry) == (True, False, True)
    assert second.failed.startswith("exit code ")
    assert "Read-only file system" in second.failed
    talk.decide(second.approval_id, YES)
    talk.result(begun)
    assert outside.read_text() == "x\n"


@confinable
@pytest.mark.parametrize("decision", [YES, ALWAYS])
def test_a_yes_to_outside_runs_it_outside_at_once(harness: EngineHarness, outside: Path, decision: Decision) -> None:
    talk = harness.talk(**UNTRUSTED)
    begun = talk.start(write(outside))
    assert talk.decide(asked(talk).approval_id, decision, outside=True).outside
    talk.result(begun)
    assert outside.read_text() == "x\n"
    assert len(talk.all(ev.ApprovalRequested)) == 1
    begun = talk.start(write(outside))
    if decision is ALWAYS:
        talk.result(begun)
        assert outside.read_text() == "x\nx\n"
        assert talk.all(ev.KeptYesUsed)[0].outside
    else:
        talk.decide(asked(talk, 2).approval_id, NO)
        talk.result(begun)
        assert outside.read_text() == "x\n"


@confinable
def test_always_remembers_that_it_was_a_yes_inside_also_in_the_next_life(
    harness: EngineHarness, outside: Path, server: ModelServer
) -> None:
    talk = harness.talk(**UNTRUSTED)
    said = write(outside)
    begun = talk.start(said)
    talk.decide(asked(talk).approval_id, ALWAYS)
    talk.decide(asked(talk, 2).approval_id, NO)
    talk.result(begun)
    harness.restart()
    begun = talk.start(said)
    again = asked(talk, 3)
    assert again.retry, "only whether it may run outside is asked again"
    talk.decide(again.approval_id, NO, "it stays inside")
    talk.result(begun)
    assert (harness.workspace / "inside").read_text() == "x\nx\n"
    assert not outside.exists()
    assert outputs(server)[-1].startswith("exec command rejected by user: it stays inside\n")


@confinable
def test_a_daemon_that_ends_between_the_two_questions_runs_nothing_twice(
    harness: EngineHarness, outside: Path
) -> None:
    talk = harness.talk(**UNTRUSTED)
    talk.start(write(outside))
    talk.decide(asked(talk).approval_id, YES)
    second = asked(talk, 2)
    harness.restart()
    talk.decide(second.approval_id, YES)
    talk.wait(ev.TaskComplete)
    assert (harness.workspace / "inside").read_text() == "x\nx\n"  # once inside, once outside
    assert outside.read_text() == "x\n"
    assert len(talk.all(ev.ApprovalRequested)) == 2


@confinable
@pytest.mark.parametrize("code", [1, 2, 126])
def test_a_failure_of_the_commands_own_is_no_question(harness: EngineHarness, server: ModelServer, code: int) -> None:
    talk = harness.talk(**UNTRUSTED)
    begun = talk.start(f"{shell('sh', '-c', f'echo 3 tests failed; exit {code}')}; then; say done")
    talk.decide(asked(talk).approval_id, YES)
    talk.result(begun)
    assert result(*outputs(server))["metadata"]["exit_code"] == code
    assert len(talk.all(ev.ApprovalRequested)) == 1


@confinable
def test_a_model_that_asks_to_leave_is_asked_about_leaving_and_yes_means_that(
    harness: EngineHarness, outside: Path
) -> None:
    talk = harness.talk(**UNTRUSTED)
    call = shell("touch", str(outside), with_escalated_permissions=True, justification="I need it there.")
    begun = talk.start(f"{call}; then; say done")
    question = asked(talk)
    assert (question.outside_sandbox, question.inside_or_outside) == (True, False)
    talk.decide(question.approval_id, YES)
    talk.result(begun)
    assert outside.exists()


@confinable
def test_an_always_to_inside_is_none_to_a_model_that_asks_to_leave(harness: EngineHarness, outside: Path) -> None:
    talk = harness.talk(**UNTRUSTED)
    begun = talk.start(f"{shell('touch', str(outside))}; then; say done")
    talk.decide(asked(talk).approval_id, ALWAYS)
    talk.decide(asked(talk, 2).approval_id, NO)
    talk.result(begun)
    begun = talk.start(f"{shell('touch', str(outside), with_escalated_permissions=True)}; then; say done")
    talk.decide(asked(talk, 3).approval_id, NO)
    talk.result(begun)
    assert not outside.exists()


@confinable
def test_a_sandbox_that_is_taken_away_meanwhile_is_another_question(harness: EngineHarness, outside: Path) -> None:
    """A yes to inside runs nothing where there is no inside any more."""
    talk = harness.talk(**UNTRUSTED)
    begun = talk.start(write(outside))
    first = asked(talk)
    talk.change(talk.settings.model_copy(update={"sandbox": DangerFullAccess()}))
    talk.decide(first.approval_id, YES)
    second = asked(talk, 2)
    assert (second.outside_sandbox, second.inside_or_outside, second.retry) == (True, False, False)
    assert not outside.exists()
    talk.decide(second.approval_id, NO)
    talk.result(begun)
    assert not outside.exists()


@confinable
def test_a_job_that_is_approved_runs_inside(harness: EngineHarness, outside: Path) -> None:
    talk = harness.talk(**UNTRUSTED)
    call = shell("sh", "-c", f"echo x > inside; echo x > {outside}", background="turn")
    begun = talk.start(f"{call}; then; say done")
    talk.decide(asked(talk).approval_id, YES)
    talk.result(begun)
    assert (harness.workspace / "inside").exists()
    assert not outside.exists()


def test_without_a_sandbox_there_is_no_inside_to_choose(harness: EngineHarness, outside: Path) -> None:
    talk = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=DangerFullAccess())
    begun = talk.start(f"{shell('touch', str(outside))}; then; say done")
    question = asked(talk)
    assert (question.outside_sandbox, question.inside_or_outside) == (True, False)
    talk.decide(question.approval_id, YES)
    talk.result(begun)
    assert outside.exists()


# --- what holds a command back --------------------------------------------------------------------------------------

ENGLISH, GERMAN = {"LANG": "en_GB.UTF-8"}, {"LANG": "de_DE.UTF-8"}
ONLINE = WorkspaceWrite(network_access=True)


def ran(stderr: str = "", stdout: str = "") -> CommandResult:
    return CommandResult(1, stdout, stderr, 0.1)


@pytest.mark.parametrize(
    "said",
    [
        "touch: cannot touch '/x': Permission denied",
        "touch: cannot touch '/x': Read-only file system",
        "mkdir: Operation not permitted",
        "OSError: [Errno 30] Read-only file system: '/x'",
        "Error: EACCES: permission denied, open '/x'",
        "npm error code EROFS",
    ],
)
@pytest.mark.parametrize("policy", [ReadOnly(), WorkspaceWrite(), ONLINE], ids=["reads", "writes", "online"])
def test_a_right_that_is_missing_is_seen(said: str, policy: ReadOnly | WorkspaceWrite) -> None:
    for one in (ran(said), ran(stdout=f"{said}\nmore"), ran(said + "\n" * 9, "x" * 200_000)):
        assert may_be_held_back(one, policy, ENGLISH)
        assert said in failure_of(one)


@pytest.mark.parametrize(
    "said",
    [
        "curl: (6) Could not resolve host: example.invalid",
        "ping: connect: Network is unreachable",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "npm error code EAI_AGAIN",
        "curl: (7) Failed to connect to localhost port 8000: Connection refused",
    ],
)
def test_a_network_that_is_missing_is_seen_where_the_sandbox_has_taken_it(said: str) -> None:
    assert may_be_held_back(ran(said), WorkspaceWrite(), ENGLISH)
    assert may_be_held_back(ran(said), ReadOnly(), ENGLISH)
    assert not may_be_held_back(ran(said), ONLINE, ENGLISH)


def test_of_words_that_nobody_here_reads_a_person_is_asked() -> None:
    assert may_be_held_back(ran("touch: Keine Berechtigung"), WorkspaceWrite(), GERMAN)
    assert not may_be_held_back(ran("3 tests failed"), WorkspaceWrite(), {"LC_ALL": "C", **GERMAN})
    assert not may_be_held_back(ran("3 tests failed"), WorkspaceWrite(), {})
    assert failure_of(ran("\n  \n3   tests\nfailed \n\n")) == "exit code 1: failed"
    assert failure_of(ran()) == "exit code 1"
