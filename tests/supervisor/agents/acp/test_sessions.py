"""Sessions of an agent across restarts of the daemon and changes of the agent: taken up, or begun anew and told."""

import json
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Decision
from tests.supervisor.agents.acp.scripted import NAME, agent_table, scripted, talk_with
from tests.support.engine_harness import EngineHarness, Talk


def heard(kept: Path) -> list[list[str]]:
    """The prompts of each session, as the agent remembers them."""
    return list(json.loads(kept.read_text()).values())


def last_words(talk: Talk) -> str:
    return talk.all(ev.AgentMessage)[-1].message


def notes(talk: Talk) -> list[str]:
    return [one.message for one in talk.all(ev.BackgroundEvent)]


def beginnings(talk: Talk) -> list[str]:
    return [one.how for one in talk.all(ev.AgentSession)]


@pytest.mark.parametrize(("option", "how"), [("sessions", "resumed"), ("no-resume", "loaded")])
def test_a_session_is_taken_up_after_a_restart_with_its_memory_and_nothing_is_said_twice(
    tmp_path: Path, option: str, how: str
) -> None:
    kept = tmp_path / "kept"
    options = [f"sessions={kept}"] + ([option] if option != "sessions" else [])
    with scripted(tmp_path, *options) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        harness.restart()
        talk.ask("memory")
        assert beginnings(talk) == ["new", how]
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "I remember 2 messages"]
        assert heard(kept) == [["say one", "memory"]]
        assert notes(talk) == []


@pytest.mark.parametrize("option", ["forgets", "no-load"])
def test_a_session_that_is_gone_begins_anew_is_told_what_was_said_and_the_conversation_says_so(
    tmp_path: Path, option: str
) -> None:
    kept = tmp_path / "kept"
    with scripted(tmp_path, f"sessions={kept}", option) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        harness.restart()
        talk.ask("say two")
        talk.ask("say three")
        assert beginnings(talk) == ["new", "seeded"]
        (note,) = notes(talk)
        assert note.startswith("scripted could not take up its session (")
        assert note.endswith("it began a new one, and is told what was said so far")
        _, (first, second) = heard(kept)
        assert "The person:\nsay one\n\nThe agent:\none" in first
        assert first.endswith("\n\nsay two")
        assert first.count("say two") == 1
        assert second == "say three"
        assert [one.message for one in talk.all(ev.UserMessage)] == ["say one", "say two", "say three"]


def test_a_replay_that_comes_after_the_answer_is_history_all_the_same(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with scripted(tmp_path, f"sessions={kept}", "no-resume", "late-replay") as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        harness.restart()
        talk.ask("memory")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "I remember 2 messages"]
        assert beginnings(talk) == ["new", "loaded"]


def test_a_program_that_dies_of_its_memory_is_started_once_more_without_it(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with scripted(tmp_path, f"sessions={kept}", "die-resume") as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        harness.restart()
        talk.ask("say two")
        assert beginnings(talk) == ["new", "seeded"]
        (note,) = notes(talk)
        assert "it exited with status 4" in note
        _, (prompt,) = heard(kept)
        assert "say one" in prompt


def test_an_agent_is_told_what_others_said_meanwhile_and_no_more(tmp_path: Path) -> None:
    kept, other = tmp_path / "kept", tmp_path / "other"
    config = agent_table(f"sessions={kept}") + agent_table(f"sessions={other}", name="other")
    with EngineHarness(tmp_path, config) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        talk.change(talk.settings.model_copy(update={"agent": "other"}))
        talk.ask("say two")
        talk.change(talk.settings.model_copy(update={"agent": NAME}))
        talk.ask("say three")
        ((first,),) = heard(other)
        assert "say one" in first
        ((_, third),) = heard(kept)
        assert "say two" in third
        assert "say one" not in third
        assert beginnings(talk) == ["new", "seeded", "resumed"]
        assert notes(talk) == [
            "other is told what was said so far",
            "scripted is told what was said since it last spoke",
        ]


@pytest.mark.parametrize(
    ("decision", "told"), [(Decision.APPROVED, "- touch x: allowed"), (Decision.DENIED, "- touch x: refused")]
)
def test_an_answer_that_comes_after_a_restart_reaches_the_session_that_asked(
    tmp_path: Path, decision: Decision, told: str
) -> None:
    kept = tmp_path / "kept"
    with scripted(tmp_path, f"sessions={kept}") as harness:
        talk = talk_with(harness)
        talk.start("ask touch x")
        request = talk.wait(ev.ApprovalRequested)
        harness.restart()
        talk.decide(request.approval_id, decision)
        talk.wait(ev.TaskComplete)
        assert beginnings(talk) == ["new", "resumed"]
        ((_, prompt),) = heard(kept)
        assert told in prompt
        assert talk.all(ev.TurnAborted) == []
        assert notes(talk) == [
            "scripted was ended while it waited for an answer; it was started again, and is told the answer"
        ]


def test_an_answer_reaches_a_session_that_had_to_begin_anew_with_all_that_was_said(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with scripted(tmp_path, f"sessions={kept}", "forgets") as harness:
        talk = talk_with(harness)
        talk.start("ask touch x")
        request = talk.wait(ev.ApprovalRequested)
        harness.restart()
        talk.decide(request.approval_id, Decision.APPROVED)
        talk.wait(ev.TaskComplete)
        _, (prompt,) = heard(kept)
        assert prompt.index("ask touch x") < prompt.index("- touch x: allowed")
        assert beginnings(talk) == ["new", "seeded"]


def test_a_program_that_is_set_to_another_directory_goes_on_there(tmp_path: Path) -> None:
    kept, elsewhere = tmp_path / "kept", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with scripted(tmp_path, f"sessions={kept}") as harness:
        talk = talk_with(harness)
        talk.ask("run pwd")
        talk.change(talk.settings.model_copy(update={"cwd": elsewhere}))
        talk.ask("run pwd")
        assert last_words(talk).strip() == str(elsewhere)
        assert beginnings(talk) == ["new", "resumed"]
