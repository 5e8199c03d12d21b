"""Commands of the model: approvals, runs, environments, and the text that the model gets to read."""

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import JournalError
from actors.vocabulary.records import Append
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, Decision, ReadOnly, WorkspaceWrite
from supervisor.work.sandbox import sandbox
from tests.supervisor.agents.own.turns.requests import check_well_formed, lines, talk
from tests.support.confinement import CONFINED, confinable
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer
from tests.support.work import command, subject_of

REJECTED = "exec command rejected by user"


def shell(*argv: str, **more: object) -> str:
    return "call shell " + json.dumps({"command": argv, **more})


def outputs(server: ModelServer) -> list[str]:
    check_well_formed(server.requests[-1])
    return [line[2] for line in talk(server) if line[0] == "output"]


def result(text: str) -> dict[str, Any]:
    told = json.loads(text)
    assert set(told) == {"output", "metadata"}
    assert set(told["metadata"]) == {"exit_code", "duration_seconds"}
    return dict(told)


def answered(conversation: Talk, decision: Decision, said: str, reason: str = "") -> ev.ApprovalRequested:
    """Send a message, answer the one question it leads to, and wait for the turn's end."""
    number = len(conversation.all(ev.ApprovalRequested)) + 1
    begun = conversation.start(said)
    question = conversation.wait(ev.ApprovalRequested, number)
    conversation.decide(question.approval_id, decision, reason)
    conversation.result(begun)
    return question


def test_calls_of_one_response_run_in_their_order_one_after_the_other(
    either: EngineHarness, server: ModelServer
) -> None:
    conversation = either.talk()
    calls = "; ".join(shell("sh", "-c", f"echo {n} >> log; cat log") for n in (1, 2, 3))
    assert conversation.ask(f"{calls}; then; say done").message == "done"
    assert [result(text)["output"] for text in outputs(server)] == ["1\n", "1\n2\n", "1\n2\n3\n"]
    kinds = [line[0] for line in talk(server)]
    assert kinds == ["user", "call", "call", "call", "output", "output", "output"]


def test_the_events_of_a_command_come_in_the_order_that_clients_know(harness: EngineHarness) -> None:
    conversation = harness.talk()
    conversation.ask(f"say let me look; {shell('printf', 'a')}; usage 10 5; then; say done; usage 20 5")
    assert conversation.types(since=1) == [
        *("task_started", "user_message", "user_message", "agent_message", "tool_call", "token_count"),
        *("work_began", "work_ended", "tool_output", "agent_message", "token_count", "task_complete"),
    ]
    begin, end = conversation.wait(ev.WorkBegan), conversation.wait(ev.WorkEnded)
    subject = subject_of(begin, ev.CommandSubject)
    assert (subject.command, subject.cwd) == (("printf", "a"), harness.workspace)
    assert (end.kind, end.status, end.output) == ("command", "completed", "a")
    assert (end.exit_code, end.item_id) == (0, begin.item_id)


def test_both_streams_and_the_exit_code_reach_the_model_when_a_command_fails(
    harness: EngineHarness, server: ModelServer
) -> None:
    harness.talk().ask(f"{shell('sh', '-c', 'echo seen; echo wrong >&2; exit 3')}; then; say done")
    told = result(*outputs(server))
    assert told["output"] == "seen\n\n[stderr]\nwrong\n"
    assert told["metadata"]["exit_code"] == 3


def test_long_output_is_told_by_head_and_tail_and_the_cap_is_stated(
    harness: EngineHarness, server: ModelServer
) -> None:
    harness.talk().ask(f"{shell('seq', '1', '100000')}; then; say done")
    told = result(*outputs(server))["output"]
    assert told.startswith("1\n2\n")
    assert told.endswith("99999\n100000\n")
    assert "bytes left out: at most 256 lines and 10240 bytes are shown" in told
    assert len(told.encode()) < 10_240 + 200


def test_output_that_is_no_text_reaches_the_model_as_text(harness: EngineHarness, server: ModelServer) -> None:
    harness.talk().ask(f"{shell('printf', chr(92) + '377ok' + chr(92) + '000')}; then; say done")
    assert result(*outputs(server))["output"] == "\ufffdok\ufffd"


def test_a_command_that_takes_too_long_is_ended_and_the_model_is_told(
    harness: EngineHarness, server: ModelServer
) -> None:
    harness.talk().ask(f"{shell('sh', '-c', 'echo begun; sleep 60', timeout=1000)}; then; say done")
    told = result(*outputs(server))
    assert told["output"].startswith("command timed out after 1000 milliseconds\n")
    assert "with a larger timeout (at most 1800000)]\nbegun\n" in told["output"]
    assert told["metadata"]["exit_code"] == -1


def test_a_command_without_a_time_of_its_own_gets_the_configured_one(tmp_path: Path, server: ModelServer) -> None:
    config = "[greenroom.limits]\ncommand_timeout_ms = 150\n"
    with harness_at(tmp_path, server.base_url, tables=config) as harness:
        harness.talk().ask(f"{shell('sleep', '60')}; then; say done")
    assert "timed out after 150 milliseconds" in result(*outputs(server))["output"]


def test_a_model_that_asks_for_too_long_gets_the_most_and_model_and_person_are_told(
    tmp_path: Path, server: ModelServer
) -> None:
    config = "[greenroom.limits]\ncommand_timeout_ms = 100\ncommand_timeout_most_ms = 150\n"
    with harness_at(tmp_path, server.base_url, tables=config) as harness:
        talk = harness.talk()
        talk.ask(f"{shell('sleep', '60', timeout=60_000)}; then; say done")
        failed = talk.all(ev.ToolOutput)[0].failed
    told = result(*outputs(server))["output"]
    assert "command timed out after 150 milliseconds" in told
    assert "it can't have longer" in told
    assert "a timeout of 60000 milliseconds was asked for, 150 are possible" in told
    assert failed == ev.ToolFailure(kind="time_out", message="command timed out after 150 milliseconds")


WRONG = [
    ("call nothing {}", "unsupported call: nothing"),
    ("call shell {not json", "failed to parse function arguments: "),
    ("call shell {}", "failed to parse function arguments: command: Field required"),
    ("call shell []", "failed to parse function arguments: command: "),
    ('call shell {"command":["true"],"timeout":-1}', "failed to parse function arguments: timeout: "),
    ('call shell {"command":["no-such-program"]}', "execution error: No such file or directory: "),
    ('call shell {"command":["true"],"workdir":"no/such"}', "execution error: the directory "),
    ('call shell {"command":["a\\u0000b"]}', "execution error: "),
    ("call apply_patch {}", "failed to parse function arguments: input: Field required"),
    ("call update_plan {}", "failed to parse function arguments: plan: Field required"),
    (
        'call update_plan {"plan":[{"step":"a","status":"pending","more":1}]}',
        "failed to parse function arguments: plan.0.more: Extra inputs are not permitted",
    ),
    ('call update_plan {"plan":[],"title":"x"}', "failed to parse function arguments: title: Extra inputs"),
    ('call update_plan {"plan":[{"step":"a","status":"done"}]}', "failed to parse function arguments: plan.0"),
]


def test_a_mistake_of_the_model_is_answered_as_text(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk()
    calls = "; ".join(call for call, _ in WRONG)
    assert conversation.ask(f"{calls}; then; say done").message == "done"
    answers = outputs(server)
    assert len(answers) == len(WRONG)
    for (call, told), answer in zip(WRONG, answers, strict=True):
        assert answer.startswith(told), call
    assert not conversation.all(ev.PlanUpdate)


def test_the_other_name_of_shell_works_too(harness: EngineHarness, server: ModelServer) -> None:
    harness.talk().ask('call container.exec {"command":["printf","a"]}; then; say done')
    assert result(*outputs(server))["output"] == "a"


def test_a_plan_is_shown_and_thanked_for(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk()
    conversation.ask(
        'call update_plan {"explanation":"why","plan":[{"step":"a","status":"in_progress"}]}; then; say done'
    )
    plan = conversation.wait(ev.PlanUpdate)
    assert (plan.explanation, [(one.step, one.status) for one in plan.plan]) == ("why", [("a", "in_progress")])
    assert outputs(server) == ["Plan updated"]


def test_a_command_runs_in_its_workdir(harness: EngineHarness, server: ModelServer) -> None:
    (harness.workspace / "sub").mkdir()
    conversation = harness.talk()
    conversation.ask(f"{shell('pwd', workdir='sub')}; then; say done")
    assert result(*outputs(server))["output"] == f"{harness.workspace / 'sub'}\n"
    assert subject_of(conversation.wait(ev.WorkBegan), ev.CommandSubject).cwd == harness.workspace / "sub"


def test_background_processes_of_a_command_end_with_its_turn(harness: EngineHarness) -> None:
    conversation = harness.talk()
    conversation.ask(f"{shell('sh', '-c', 'sleep 300 >/dev/null 2>&1 & echo $!')}; then; say done")
    pid = conversation.wait(ev.WorkEnded).output.strip()
    assert not Path("/proc", pid).exists()


# --- the environment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
@pytest.mark.parametrize("sandbox", [DangerFullAccess(), pytest.param(WorkspaceWrite(), marks=confinable)])
def test_commands_and_patches_have_the_umask_of_their_client(
    harness: EngineHarness, umask: int, sandbox: DangerFullAccess | WorkspaceWrite
) -> None:
    conversation = harness.talk(sandbox=sandbox)
    harness.engine.environments.remember(conversation.conversation, {"PATH": harness.environ["PATH"]}, umask)
    patch = "*** Begin Patch\n*** Add File: p/f\n+x\n*** End Patch"
    before = os.umask(0o077)  # as the detached daemon has it
    try:
        conversation.ask(
            f"{shell('sh', '-c', 'mkdir d; echo x > d/f')}; {shell('apply_patch', patch)}; then; say done"
        )
    finally:
        os.umask(before)
    modes = [(harness.workspace / name).stat().st_mode & 0o777 for name in ("d", "d/f", "p", "p/f")]
    assert modes == [0o777 & ~umask, 0o666 & ~umask] * 2


def test_a_variable_that_an_override_names_as_a_key_is_in_no_command(
    harness: EngineHarness, server: ModelServer
) -> None:
    conversation = harness.talk(overrides={"model_providers": {"x": {"name": "X", "env_key": "QUIET_NAME"}}})
    env = {"PATH": harness.environ["PATH"], "QUIET_NAME": "v"}
    harness.engine.environments.remember(conversation.conversation, env)
    conversation.ask(f"{shell('env')}; then; say done")
    assert "QUIET_NAME" not in result(outputs(server)[0])["output"]


def test_commands_get_the_environment_of_their_client_by_policy(tmp_path: Path, server: ModelServer) -> None:
    config = '[shell_environment_policy]\nexclude = ["DROP*"]\nset = { ADDED = "1" }\n'
    mine = {"MINE": "yes", "MY_TOKEN": "secret", "DROPPED": "x"}
    with harness_at(tmp_path, server.base_url, tables=config, FROM_DAEMON="yes") as harness:
        conversation, other = harness.talk(), harness.talk()
        harness.engine.environments.remember(conversation.conversation, {"PATH": harness.environ["PATH"], **mine})
        conversation.ask(f"{shell('env')}; then; say done")
        seen = dict(line.split("=", 1) for line in result(outputs(server)[0])["output"].splitlines())
        assert {"MINE": "yes", "ADDED": "1"}.items() <= seen.items()
        assert not seen.keys() & {"MY_TOKEN", "DROPPED", "FROM_DAEMON"}
        other.ask(f"{shell('env')}; then; say done")
        assert "FROM_DAEMON=yes" in result(outputs(server)[0])["output"]


@confinable
def test_a_sandboxed_command_knows_that_there_is_no_network(harness: EngineHarness, server: ModelServer) -> None:
    harness.talk(sandbox=WorkspaceWrite()).ask(f"{shell('env')}; then; say done")
    assert "CODEX_SANDBOX_NETWORK_DISABLED=1" in result(*outputs(server))["output"]


@confinable
def test_a_program_that_a_sandboxed_command_has_put_in_the_way_stays_in_the_sandbox(
    tmp_path: Path, server: ModelServer
) -> None:
    """An environment in the project is first on the search path of users who have activated it."""
    outside = tmp_path / "outside"
    script = f"mkdir bin; echo 'touch {outside}; echo mine' > bin/ls; sed -i '1i #!/bin/sh' bin/ls; chmod +x bin/ls"
    path = f"{tmp_path / 'workspace' / 'bin'}:/usr/bin:/bin"
    closed = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)
    with harness_at(tmp_path, server.base_url, PATH=path) as harness:
        harness.talk(sandbox=closed).ask(f"{shell('sh', '-c', script)}; {shell('ls')}; then; say done")
    assert "mine" in result(outputs(server)[-1])["output"]
    assert not outside.exists()


# --- approvals ------------------------------------------------------------------------------------------------------


def test_an_approved_command_runs_once_and_the_question_says_all(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    question = answered(conversation, Decision.APPROVED, f"{shell('sh', '-c', 'echo x >> log')}; then; say done")
    assert question.subject == command("sh", "-c", "echo x >> log", cwd=str(harness.workspace))
    assert question.call_id == "call_2_0_0"
    assert question.approval_id.endswith(f"@{conversation.conversation}")
    assert (harness.workspace / "log").read_text() == "x\n"
    types = conversation.types()
    assert types.index("approval_resolved") < types.index("work_began")
    assert len(server.requests) == 2


@pytest.mark.parametrize(("reason", "told"), [("", REJECTED), ("use git mv", f"{REJECTED}: use git mv")])
def test_a_denied_command_does_not_run_and_the_model_hears_why(
    harness: EngineHarness, server: ModelServer, reason: str, told: str
) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    answered(conversation, Decision.DENIED, f"{shell('touch', 'x')}; then; say done", reason)
    assert outputs(server) == [told]
    assert not (harness.workspace / "x").exists()
    assert not conversation.all(ev.WorkBegan)
    assert conversation.wait(ev.TaskComplete).last_agent_message == "done"


def test_abort_ends_the_turn_without_running_anything(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    begun = conversation.start(f"{shell('touch', 'x')}; then; say done")
    question = conversation.wait(ev.ApprovalRequested)
    conversation.decide(question.approval_id, Decision.ABORT)
    assert conversation.result(begun).ending is Ending.INTERRUPTED
    assert not (harness.workspace / "x").exists()
    assert len(server.requests) == 1
    conversation.ask("say on")
    assert outputs(server) == ["aborted by user"]


def test_approved_for_the_session_is_not_asked_again_in_the_same_directory(harness: EngineHarness) -> None:
    (harness.workspace / "sub").mkdir()
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    said = f"{shell('sh', '-c', 'echo x >> log')}; then; say done"
    answered(conversation, Decision.APPROVED_FOR_SESSION, said)
    conversation.ask(said)
    assert len(conversation.all(ev.ApprovalRequested)) == 1
    assert (harness.workspace / "log").read_text() == "x\nx\n"
    answered(conversation, Decision.DENIED, f"{shell('sh', '-c', 'echo x >> log', workdir='sub')}; then; say done")
    harness.restart()
    conversation.ask(said)
    assert (harness.workspace / "log").read_text() == "x\n" * 3


def test_approved_alone_is_asked_again(harness: EngineHarness) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    for _ in range(2):
        answered(conversation, Decision.APPROVED, f"{shell('touch', 'x')}; then; say done")
    assert len(conversation.all(ev.ApprovalRequested)) == 2


def test_a_command_is_not_started_before_its_beginning_is_stored(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash must not leave a command that ran and was never recorded."""
    journal, held, go = harness.engine.journal, threading.Event(), threading.Event()
    commit = journal.commit

    def slow(appends: Sequence[Append]) -> list[JournalError | None]:
        if any(one.type == ev.type_of(ev.WorkBegan) for append in appends for one in append.records):
            held.set()
            go.wait()
        return commit(appends)

    monkeypatch.setattr(journal, "commit", slow)
    conversation = harness.talk()
    begun = conversation.start(f"{shell('touch', 'x')}; then; say done")
    try:
        assert held.wait(10)
        harness.engine.loop.call(asyncio.sleep(0.05), 10)  # enough time for it to start, and to end
        assert harness.engine.processes.statistics()["turns"] == 0
        assert not (harness.workspace / "x").exists()
    finally:
        go.set()
    assert conversation.result(begun).ending is Ending.COMPLETED
    assert (harness.workspace / "x").exists()


def test_a_known_safe_command_is_not_asked_about(harness: EngineHarness) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
    conversation.ask(f"{shell('ls')}; then; say done")
    assert conversation.wait(ev.WorkEnded).exit_code == 0


def test_programs_named_by_a_repository_write_nothing_when_git_runs_without_a_question(
    harness: EngineHarness, server: ModelServer
) -> None:
    """Git runs read-only in a sandbox; without a sandbox there is a question."""
    subprocess.run(("git", "init", "-q"), cwd=harness.workspace, check=True)
    trap = harness.workspace / "trap"
    trap.write_text(f"#!/bin/sh\necho met >&2; touch {harness.workspace}/PWNED\n")
    trap.chmod(0o755)
    subprocess.run(("git", "config", "core.fsmonitor", str(trap)), cwd=harness.workspace, check=True)
    conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=WorkspaceWrite())
    told = f"{shell('git', 'status')}; then; say done"
    if CONFINED.ok:
        conversation.ask(told)
        assert "met" in result(*outputs(server))["output"]
    else:
        answered(conversation, Decision.DENIED, told)
    assert not (harness.workspace / "PWNED").exists()


def test_a_deadline_is_passed_on_and_answers_as_denied(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, greenroom="approval_deadline_seconds = 0.1") as harness:
        conversation = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
        assert conversation.ask(f"{shell('touch', 'x')}; then; say done").message == "done"
        assert conversation.wait(ev.ApprovalRequested).deadline_s == 0.1
        assert outputs(server) == [f"{REJECTED}: nobody answered in time"]


@confinable
def test_the_model_may_ask_to_leave_the_sandbox_with_its_reason(harness: EngineHarness, server: ModelServer) -> None:
    outside = harness.home / "outside"
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=ReadOnly())
    call = shell("touch", str(outside), with_escalated_permissions=True, justification="I need it there.")
    question = answered(conversation, Decision.APPROVED, f"{call}; then; say done")
    assert (question.reason, question.retry, question.outside_sandbox) == ("I need it there.", False, True)
    assert outside.exists()
    tools = server.requests[0].body["tools"]
    assert "with_escalated_permissions" in tools[0]["function"]["parameters"]["properties"]


@confinable
def test_escalation_is_offered_only_where_policy_hears_it(harness: EngineHarness, server: ModelServer) -> None:
    outside = harness.home / "outside"
    conversation = harness.talk(sandbox=ReadOnly())
    conversation.ask(f"{shell('touch', str(outside), with_escalated_permissions=True)}; then; say done")
    assert not outside.exists()
    assert "with_escalated" not in json.dumps(server.requests[0].body["tools"])


@confinable
def test_a_command_that_fails_in_the_sandbox_is_offered_again_without(
    harness: EngineHarness, server: ModelServer
) -> None:
    outside = harness.home / "outside"
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_FAILURE, sandbox=ReadOnly())
    question = answered(conversation, Decision.APPROVED, f"{shell('touch', str(outside))}; then; say done")
    assert (question.retry, question.outside_sandbox) == (True, True)
    assert question.reason == "command failed; retry without sandbox?"
    assert outside.exists()
    assert [one.message for one in conversation.all(ev.BackgroundEvent)] == [
        "Execution failed: exit code 1",
        "retrying command without sandbox",
    ]
    begins, ends = conversation.all(ev.WorkBegan), conversation.all(ev.WorkEnded)
    assert [one.exit_code for one in ends] == [1, 0]
    assert {one.item_id for one in begins} | {one.item_id for one in ends} == {question.item_id}
    assert result(*outputs(server))["metadata"]["exit_code"] == 0


@confinable
def test_a_retry_that_is_denied_tells_the_model_both(harness: EngineHarness, server: ModelServer) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_FAILURE, sandbox=ReadOnly())
    answered(conversation, Decision.DENIED, f"{shell('sh', '-c', 'echo told; touch x')}; then; say done", "no")
    (told,) = outputs(server)
    first, _, rest = told.partition("\n")
    assert first == f"{REJECTED}: no"
    assert result(rest)["output"].startswith("told\n")
    assert len(conversation.all(ev.WorkBegan)) == 1


@confinable
@pytest.mark.parametrize("argv", [("sh", "-c", "exit 127"), ("sleep", "60")], ids=["not-found", "timeout"])
def test_a_failure_that_no_sandbox_has_made_is_not_offered_again(
    harness: EngineHarness, server: ModelServer, argv: tuple[str, ...]
) -> None:
    conversation = harness.talk(approval_policy=ApprovalPolicy.ON_FAILURE, sandbox=ReadOnly())
    conversation.ask(f"{shell(*argv, timeout=300)}; then; say done")
    assert result(*outputs(server))["metadata"]["exit_code"] in {127, -1}


def test_a_stream_that_breaks_after_a_finished_call_does_not_run_it_twice(
    tmp_path: Path, server: ModelServer
) -> None:
    with harness_at(tmp_path, server.base_url, "responses") as harness:
        conversation = harness.talk()
        said = f"{shell('sh', '-c', 'echo x >> log')}; say after; cut; then; say done"
        assert conversation.ask(said).message == "done"
        assert (harness.workspace / "log").read_text() == "x\n"
        assert len(conversation.all(ev.WorkBegan)) == 1
        assert "retrying 1/2" in conversation.wait(ev.StreamError).message
        assert result(*outputs(server))["metadata"]["exit_code"] == 0
        assert [line[0] for line in lines(server.requests[-1])].count("call") == 1


def test_a_directory_on_a_disk_that_is_away_holds_up_its_own_command_alone(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, back, looked = harness.workspace / "away", threading.Event(), threading.Event()
    away.mkdir()

    def hang(start: Path) -> Path:
        if start == away:
            looked.set()
            assert back.wait(30)
        return start

    monkeypatch.setattr(sandbox, "_directory", hang)
    stuck = harness.talk()
    begun = stuck.start(shell("true", workdir="away"))
    try:
        assert looked.wait(10)
        assert harness.talk().ask(f"{shell('true')}; then; say done").message == "done"
        stuck.interrupted(stuck.interrupt())
        assert stuck.result(begun).ending is Ending.INTERRUPTED
    finally:
        back.set()


def test_a_command_in_a_directory_that_does_not_exist_fails_and_says_so(
    either: EngineHarness, server: ModelServer
) -> None:
    gone = either.home / "gone"
    conversation = either.talk(cwd=gone)
    conversation.ask(f"{shell('ls')}; {shell('ls', workdir='below')}; then; say done")
    said = "does not exist: name one that does as the working directory, or create it"
    assert outputs(server) == [
        f"execution error: the directory '{folder}' {said}" for folder in (gone, gone / "below")
    ]
    assert [one.exit_code for one in conversation.all(ev.WorkEnded)] == [-1, -1]
    conversation.ask(f"{shell('mkdir', '-p', str(gone), workdir='/')}; {shell('pwd')}; then; say done")
    assert result(outputs(server)[-1])["output"] == f"{gone}\n"
