"""Interrupts of agents: when the end of a turn is told, nothing of it is alive."""

import os
import signal
import time
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentSession
from actors.vocabulary.settings import AbortReason, Decision
from actors.vocabulary.work_events import ApprovalRequested, WorkBegan, WorkEnded
from tests.supervisor.agents.acp.alive import alive, odd_seconds, wait_alive, wait_gone
from tests.supervisor.agents.acp.scripted import scripted, talk_with
from tests.support.engine_harness import Talk

STUBBORN = "trap '' TERM INT; (trap '' TERM; setsid sleep {0} & setsid setsid sleep {0}) & sleep {0}; sleep {0}"


def stopped(talk: Talk, word: str = "") -> float:
    """Interrupt, and return how long it took. Nothing with the word in its command line may live then."""
    began = time.monotonic()
    talk.interrupt()
    aborted = talk.wait(ev.TurnAborted, len(talk.all(ev.TurnAborted)) + 1)
    assert aborted.reason is AbortReason.INTERRUPTED
    assert not word or not alive(word)
    return time.monotonic() - began


def test_an_agent_that_hears_the_cancel_stays_warm(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.start("say so far; then slow 60")
        talk.wait_said("so far")
        assert stopped(talk) < 1.5
        talk.ask("memory")
        assert talk.all(ev.AgentMessage)[-1].message == "I remember 2 messages"
        assert len(talk.all(AgentSession)) == 1


@pytest.mark.parametrize("option", ["deaf", "term-deaf", "cancel-error"])
def test_a_stop_is_a_stop_whatever_the_agent_makes_of_it(tmp_path: Path, option: str) -> None:
    with scripted(tmp_path, option) as harness:
        talk = talk_with(harness)
        talk.start("say so far; then slow 60")
        talk.wait_said("so far")
        stopped(talk)
        talk.ask("say again")


def test_a_stubborn_command_is_ended_with_its_agent_and_the_next_message_begins_anew(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk, seconds = talk_with(harness), odd_seconds()
        talk.start(f"run {STUBBORN.format(seconds)}")
        talk.wait(WorkBegan)
        wait_alive(seconds)
        assert stopped(talk, seconds) < 5
        assert talk.wait(WorkEnded).status == "cancelled"
        talk.ask("say again")
        assert len(talk.all(AgentSession)) == 2


def test_a_polite_command_ends_and_the_agent_stays_warm(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk, seconds = talk_with(harness), odd_seconds()
        talk.start(f"run sleep {seconds}")
        wait_alive(seconds)
        stopped(talk, seconds)
        talk.ask("say again")
        assert len(talk.all(AgentSession)) == 1


def test_a_second_interrupt_kills_at_once(tmp_path: Path) -> None:
    with scripted(tmp_path, "deaf", "term-deaf", greenroom="") as harness:
        talk = talk_with(harness)
        talk.start("say so far; then deaf 60")
        talk.wait_said("so far")
        began = time.monotonic()
        talk.interrupt()
        talk.interrupt(kill=True)
        talk.wait(ev.TurnAborted)
        assert time.monotonic() - began < 1.5


def test_a_stop_answers_the_open_question_and_the_agent_stays_warm(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.start("ask touch made")
        talk.wait(ApprovalRequested)
        assert stopped(talk) < 1.5
        talk.ask("say again")
        assert len(talk.all(AgentSession)) == 1
        assert not (harness.workspace / "made").exists()


def test_a_permission_is_an_approval_and_its_command_a_tool_use(tmp_path: Path) -> None:
    with scripted(tmp_path, "string-ids") as harness:
        talk = talk_with(harness)
        turn = talk.start("ask touch made; then ask touch more")
        talk.decide(talk.wait(ApprovalRequested).approval_id, Decision.APPROVED)
        talk.decide(talk.wait(ApprovalRequested, 2).approval_id, Decision.DENIED)
        talk.result(turn)
        assert (harness.workspace / "made").exists()
        assert not (harness.workspace / "more").exists()


def test_the_same_call_is_asked_for_once(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("ask-twice touch made")
        talk.decide(talk.wait(ApprovalRequested).approval_id, Decision.APPROVED)
        talk.result(turn)
        assert talk.all(ev.AgentMessage)[-1].message == "(yes yes)"
        assert len(talk.all(ApprovalRequested)) == 1


def test_children_of_a_killed_agent_are_gone_when_its_death_is_told(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk, seconds = talk_with(harness), odd_seconds()
        turn = talk.start(f"run {STUBBORN.format(seconds)}")
        wait_alive(seconds)
        (pid,) = [one.pid for one in harness.engine.processes._tree.children.values()]
        os.kill(pid, signal.SIGKILL)
        talk.result(turn)
        assert not alive(seconds)


def test_the_end_of_the_engine_leaves_nothing_of_a_warm_agent_and_its_background(tmp_path: Path) -> None:
    seconds = odd_seconds()
    with scripted(tmp_path) as harness:
        talk_with(harness).ask(f"start {STUBBORN.format(seconds)}")
        assert alive(seconds)
    wait_gone(seconds, 0.5)


def test_a_program_is_started_anew_when_it_may_reach_something_else(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        other = harness.home / "other"
        other.mkdir()
        talk.change(talk.settings.model_copy(update={"cwd": other}))
        talk.ask("run pwd")
        assert len(talk.all(AgentSession)) == 2
        assert str(other) in talk.all(ev.AgentMessage)[-1].message


def test_a_question_outlives_the_engine_and_its_answer_finds_an_agent(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.start("ask touch made")
        asked = talk.wait(ApprovalRequested)
        harness.restart()
        assert not talk.all(ev.TurnAborted)
        assert not talk.all(WorkEnded)
        talk.decide(asked.approval_id, Decision.APPROVED)
        talk.wait(ev.TaskComplete)
