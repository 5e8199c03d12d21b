"""Agents that say nothing in the middle of a turn."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Decision
from supervisor.agents.acp import agent_turn, inactivity
from supervisor.agents.acp.inactivity import TOLD_AFTER_S, Silence
from tests.supervisor.agents.acp.scripted import scripted, talk_with


def test_silence_is_told_after_a_while_and_then_ever_more_rarely() -> None:
    one = Silence()
    assert [at for at in range(0, 500, 5) if one.is_notice_due(at)] == [30, 60, 120, 240, 480]


def test_a_sign_of_life_begins_the_silence_anew() -> None:
    one = Silence()
    assert one.is_notice_due(TOLD_AFTER_S)
    assert not one.is_notice_due(1)
    assert one.is_notice_due(TOLD_AFTER_S)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inactivity, "TOLD_AFTER_S", 0.2)
    monkeypatch.setattr(agent_turn, "TICK_S", 0.05)


def notices(events: list[ev.BackgroundEvent]) -> list[str]:
    return [one.message for one in events if "has not said anything" in one.message]


@pytest.mark.usefixtures("impatient")
def test_an_agent_whose_model_does_not_answer_is_waited_for_and_that_is_said(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("slow 0.4; then say at last")
        assert notices(talk.all(ev.BackgroundEvent))
        assert talk.all(ev.AgentMessage)[-1].message == "at last"


@pytest.mark.usefixtures("impatient")
def test_a_tool_that_runs_and_a_question_that_waits_are_no_silence(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("run sleep 0.5; then ask touch made")
        asked = talk.wait(ev.ApprovalRequested)
        talk.decide(asked.approval_id, Decision.APPROVED)
        talk.result(turn)
        assert not notices(talk.all(ev.BackgroundEvent))
