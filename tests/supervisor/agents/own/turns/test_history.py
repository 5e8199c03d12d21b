"""`git commit` in the sandbox: asked for as a change of history, run inside, and for the conversation once."""

import subprocess
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Decision, WorkspaceWrite
from tests.supervisor.agents.own.turns.test_commands import answered, outputs, result, shell
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness, Talk
from tests.support.model_server import ModelServer

pytestmark = confinable
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@localhost")
COMMIT = shell("git", *IDENTITY, "commit", "-q", "--allow-empty", "-m", "by-the-model")


def git(workspace: Path, *words: str) -> str:
    argv = ("git", *IDENTITY, *words)
    return subprocess.run(argv, cwd=workspace, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def conversation(harness: EngineHarness) -> Talk:
    git(harness.workspace, "init", "-q")
    return harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=WorkspaceWrite())


def test_a_commit_is_a_question_of_its_own_and_runs_inside(
    harness: EngineHarness, conversation: Talk, server: ModelServer
) -> None:
    question = answered(conversation, Decision.APPROVED, f"{COMMIT}; then; say done")
    assert (question.history_of, question.outside_sandbox) == (harness.workspace, False)
    assert result(*outputs(server))["metadata"]["exit_code"] == 0
    assert git(harness.workspace, "log", "--format=%s") == "by-the-model\n"


def test_approved_for_the_session_it_is_asked_once_for_that_repository(
    harness: EngineHarness, conversation: Talk
) -> None:
    answered(conversation, Decision.APPROVED_FOR_SESSION, f"{COMMIT}; then; say done")
    conversation.ask(f"{shell('bash', '-lc', 'echo a > a; git add a && git commit -q --help')}; then; say done")
    conversation.ask(f"{COMMIT}; then; say done")
    assert len(conversation.all(ev.ApprovalRequested)) == 1
    assert git(harness.workspace, "diff", "--cached", "--name-only", "HEAD~1") == "a\n"
    (harness.workspace / "nested").mkdir()
    git(harness.workspace / "nested", "init", "-q")
    other = shell("git", *IDENTITY, "commit", "--allow-empty", "-m", "x", workdir="nested")
    number = len(conversation.all(ev.ApprovalRequested)) + 1
    begun = conversation.start(f"{other}; then; say done")
    question = conversation.wait(ev.ApprovalRequested, number)
    assert question.history_of == harness.workspace / "nested"
    conversation.decide(question.approval_id, Decision.DENIED)
    conversation.result(begun)


def test_an_approval_of_history_lets_nothing_out_of_the_sandbox(harness: EngineHarness, conversation: Talk) -> None:
    outside = harness.home / "config" / "evil"
    script = f"git commit -q --allow-empty -m x; touch {outside}; echo evil > .git/hooks/pre-commit"
    answered(conversation, Decision.APPROVED_FOR_SESSION, f"{shell('bash', '-lc', script)}; then; say done")
    assert not outside.exists()
    assert not (harness.workspace / ".git/hooks/pre-commit").exists()


def test_a_denied_commit_is_not_made(harness: EngineHarness, conversation: Talk, server: ModelServer) -> None:
    answered(conversation, Decision.DENIED, f"{COMMIT}; then; say done")
    assert "rejected" in outputs(server)[0]
    with pytest.raises(subprocess.CalledProcessError):
        git(harness.workspace, "log")
