"""An agent is set to our policy before it is prompted, at each beginning and when the settings change."""

from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, ReasoningEffort
from tests.supervisor.agents.acp.scripted import NAME, scripted
from tests.support.engine_harness import EngineHarness, Talk


def talk_with(harness: EngineHarness) -> Talk:
    return harness.talk(agent=NAME, approval_policy=ApprovalPolicy.ON_REQUEST)


def values(talk: Talk) -> dict[str, str]:
    return {one.id: one.value for one in talk.all(ev.AgentOptions)[-1].options}


@pytest.mark.parametrize("how", ["modes", "options"])
def test_a_mode_that_asks_nobody_is_never_taken_over_from_the_agent(tmp_path: Path, how: str) -> None:
    with scripted(tmp_path, f"{how}=bypass", f"sessions={tmp_path / 'kept'}") as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        assert values(talk)["mode"] == "ask"
        harness.restart()
        talk.ask("say two")
        assert values(talk)["mode"] == "ask"
        assert [one.how for one in talk.all(ev.AgentSession)] == ["new", "resumed"]


def test_an_agent_that_insists_on_it_is_not_prompted_where_nothing_confines_it(tmp_path: Path) -> None:
    with scripted(tmp_path, "modes=bypass", "stays") as harness:
        talk = talk_with(harness)
        result = talk.result(talk.start("say one"))
        assert result.ending is not Ending.INTERRUPTED
        assert "stays in the mode 'bypass', in which nobody is asked" in (result.message or "")
        assert talk.all(ev.AgentMessage) == []


def test_settings_that_change_are_followed_before_the_next_prompt(tmp_path: Path) -> None:
    with scripted(tmp_path, "options") as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        chosen = {"agent_model": "large", "effort": ReasoningEffort.HIGH}
        talk.change(talk.settings.model_copy(update=chosen))
        talk.ask("say two")
        assert values(talk) == {"mode": "ask", "model": "large", "effort": "high"}
        talk.change(talk.settings.model_copy(update={"agent_model": "", "effort": ReasoningEffort.MEDIUM}))
        talk.ask("say three")
        assert values(talk) == {"mode": "ask", "model": "small", "effort": "medium"}
        assert [one.how for one in talk.all(ev.AgentSession)] == ["new"]


def test_a_setting_that_could_not_be_applied_is_named_and_the_turn_goes_on(tmp_path: Path) -> None:
    with scripted(tmp_path, "options", "stays") as harness:
        talk = harness.talk(agent=NAME, effort=ReasoningEffort.HIGH)
        talk.ask("say one")
        assert [one.message for one in talk.all(ev.BackgroundEvent)] == [
            "scripted could not be set as wanted: effort = 'high': I stay as I am"
        ]
        assert talk.all(ev.AgentMessage)[-1].message == "one"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("options",), "model = 'huge' is not offered; there is small, large"),
        (("options", "stays"), "model = 'large': I stay as I am"),
        (("modes",), "it offers no choice of a model"),
    ],
)
def test_without_the_model_that_was_named_an_agent_is_not_prompted(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    with scripted(tmp_path, *options) as harness:
        talk = harness.talk(agent=NAME, agent_model="large" if "stays" in options else "huge")
        failed = talk.result(talk.start("say one")).message or ""
        assert f"scripted: {why}; `greenroom set CONVERSATION model=` leaves the choice to it" in failed
        talk.change(talk.settings.model_copy(update={"agent_model": ""}))
        talk.ask("say two")
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["two"]
