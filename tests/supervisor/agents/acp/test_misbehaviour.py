"""Agents that misbehave: each is an end with a reason, and the next message begins anew."""

import os
import signal
import sys
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentCommands, AgentSession
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agents.acp import agent_turn
from tests.supervisor.agents.acp.alive import alive
from tests.supervisor.agents.acp.scripted import PROGRAM, scripted, talk_with
from tests.support.engine_harness import EngineHarness, Talk


def failed(talk: Talk, words: str) -> str:
    """Say something of which the turn fails; the error as people read it."""
    result: TurnResult = talk.result(talk.start(words))
    assert result.ending is Ending.ERROR, result
    return talk.all(ev.ErrorEvent)[-1].message


def test_an_agent_that_dies_before_initialize_fails_the_turn_with_its_last_words(tmp_path: Path) -> None:
    with scripted(tmp_path, "die-first=no such key") as harness:
        error = failed(talk_with(harness), "say hello")
        assert "exited with status 3, and said last: no such key" in error


def test_a_program_that_is_missing_fails_the_turn_with_the_reason(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = harness.talk(agent="nobody")
        assert "nobody" in failed(talk, "say hello")


def test_an_agent_that_never_initialises_is_given_up(tmp_path: Path) -> None:
    with scripted(tmp_path, "no-init", table="startup_timeout_seconds = 0.5") as harness:
        assert "did not answer `initialize` within 0.5 s" in failed(talk_with(harness), "say hello")
        assert harness.engine.processes.statistics()["running"] == 0


def test_an_agent_that_begins_no_session_is_given_up(tmp_path: Path) -> None:
    with scripted(tmp_path, "no-session", table="startup_timeout_seconds = 0.7") as harness:
        assert "did not answer `session/new` within 0.7 s" in failed(talk_with(harness), "say hello")
        assert harness.engine.processes.statistics()["running"] == 0


def test_an_agent_of_another_version_of_the_protocol_is_refused_by_name(tmp_path: Path) -> None:
    with scripted(tmp_path, "version=2") as harness:
        assert "speaks version 2 of ACP, Greenroom speaks 1" in failed(talk_with(harness), "say hello")


def test_an_agent_that_wants_a_login_says_so(tmp_path: Path) -> None:
    with scripted(tmp_path, "no-auth") as harness:
        error = failed(talk_with(harness), "say hello")
        assert "Authentication required; `greenroom agents scripted` says how to log in" in error


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("say so far; then die 7 out of luck", "exited with status 7, and said last: out of luck"),
        ("say so far; then kill", "was killed by signal 9"),
    ],
)
def test_a_death_in_mid_turn_ends_the_turn_and_the_next_message_begins_anew(
    tmp_path: Path, words: str, reason: str
) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        assert reason in failed(talk, words)
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["so far"]
        talk.ask("say again")
        assert len(talk.all(AgentSession)) == 2
        assert talk.all(ev.AgentMessage)[-1].message == "again"


def test_a_death_between_turns_is_told_to_nobody_and_the_next_message_begins_anew(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        (pid,) = [one.pid for one in harness.engine.processes._tree.children.values()]
        os.kill(pid, signal.SIGKILL)
        talk.ask("say two")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "two"]


def test_a_prompt_that_reached_a_dying_agent_is_put_to_a_new_one_and_nobody_is_told(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        talk.ask(f"kill-once {tmp_path / 'killed'}; then say two")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "two"]
        assert len(talk.all(AgentSession)) == 2


def test_a_prompt_that_an_agent_dies_of_is_put_to_a_new_one_only_once(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        assert "was killed by signal 9" in failed(talk, "kill")
        assert len(talk.all(AgentSession)) == 2


@pytest.mark.parametrize("before", ["say so far", "open", "ask true", "slow 0.5"])
def test_a_prompt_that_an_agent_has_worked_at_is_not_put_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    monkeypatch.setattr(agent_turn, "UNSEEN_S", 0.3)
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, approval_policy=ApprovalPolicy.NEVER)
        talk.ask("say one")
        assert "was killed by signal 9" in failed(
            talk, f"{before}; then kill-once {tmp_path / 'killed'}; then say two"
        )
        assert len(talk.all(AgentSession)) == 1


def test_a_line_without_end_ends_the_agent_with_the_bound_in_the_reason(tmp_path: Path) -> None:
    with scripted(tmp_path, limits="frame_bytes = 200000") as harness:
        talk = talk_with(harness)
        assert "greenroom.limits.frame_bytes" in failed(talk, "flood")
        talk.ask("say again")


def test_a_flood_of_messages_ends_the_agent_with_the_bound_in_the_reason(tmp_path: Path) -> None:
    with scripted(tmp_path, limits="agent_turn_bytes = 1000000") as harness:
        assert "greenroom.limits.agent_turn_bytes" in failed(talk_with(harness), "chunks 5000 1000")


def test_noise_on_stdout_is_skipped(tmp_path: Path) -> None:
    with scripted(tmp_path, "greets") as harness:
        talk = talk_with(harness)
        talk.ask("noise Traceback (most recent call last):; then say fine")
        assert talk.all(ev.AgentMessage)[-1].message == "fine"


def test_a_second_answer_to_a_prompt_means_nothing(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("twice; then say one")
        talk.ask("say two")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "two"]


def test_an_error_to_a_prompt_ends_the_turn_with_its_words_and_the_agent_lives_on(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        assert "API Error: 400" in failed(talk, "error API Error: 400")
        talk.ask("memory")
        assert talk.all(ev.AgentMessage)[-1].message == "I remember 2 messages"
        assert len(talk.all(AgentSession)) == 1


def test_a_request_that_nobody_serves_is_refused_and_the_turn_goes_on(tmp_path: Path) -> None:
    with scripted(tmp_path, "string-ids") as harness:
        talk = talk_with(harness)
        talk.ask("unknown")
        assert talk.all(ev.AgentMessage)[-1].message == "code -32601"


@pytest.mark.parametrize(("reason", "said"), [("max_tokens", "most tokens"), ("refusal", "refuses")])
def test_an_agent_that_stops_short_says_why(tmp_path: Path, reason: str, said: str) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask(f"stop {reason}")
        assert said in talk.all(ev.BackgroundEvent)[-1].message


def test_a_turn_that_the_agent_calls_cancelled_by_itself_is_no_error_and_no_interrupt(tmp_path: Path) -> None:
    """So does Codex where a permission was refused."""
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say so far; then stop cancelled")
        assert not talk.all(ev.ErrorEvent)
        assert not talk.all(ev.TurnAborted)


def test_a_question_of_which_the_id_is_zero_is_answered(tmp_path: Path) -> None:
    with scripted(tmp_path, "ids-from-zero") as harness:
        talk = talk_with(harness)
        turn = talk.start("ask touch made")
        talk.decide(talk.wait(ev.ApprovalRequested).approval_id, Decision.APPROVED)
        talk.result(turn)
        assert (harness.workspace / "made").exists()


def test_updates_before_the_session_and_unknown_methods_disturb_nothing(
    tmp_path: Path,
) -> None:
    with scripted(tmp_path, "early") as harness:
        talk = talk_with(harness)
        talk.ask("notify _auth/status_update; then notify session/made_up; then say fine")
        assert [one.name for one in talk.wait(AgentCommands).commands] == ["review", "fix"]
        assert talk.all(ev.AgentMessage)[-1].message == "fine"


def test_an_agent_of_which_the_first_process_only_waits_ends_with_what_it_waits_for(tmp_path: Path) -> None:
    """Gemini starts itself again. Killed by its pid alone it would go on."""
    program = tmp_path / "agent_that_is_waited_for.py"
    program.symlink_to(PROGRAM)
    waiter = f"""command = "/bin/bash"\nargs = ["-c", "{sys.executable} {program}; true"]\nconfine = "none"\n"""
    with EngineHarness(tmp_path, f"[agents.scripted]\n{waiter}") as harness:
        talk = talk_with(harness)
        turn = talk.start("say so far; then slow 60")
        talk.wait_said("so far")
        (pid,) = [one.pid for one in harness.engine.processes._tree.children.values()]
        assert len(alive(str(program))) == 2
        os.kill(pid, signal.SIGKILL)
        assert talk.result(turn).ending is Ending.ERROR
        assert not alive(str(program))
        talk.ask("say again")
