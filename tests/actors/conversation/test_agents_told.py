"""An agent's own words about itself: kept over a restart, bounded, and shown where they are true."""

from actors.conversation import head_of
from actors.conversation.agent_descriptions import ABILITIES_KEPT, AGENTS_KEPT, OPTIONS_KEPT, TEXT
from actors.conversation.summary import summary
from actors.messages.conversation import ChangeSettings, RecordAgentNews
from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentOption
from tests.support.core_driver import SETTINGS, Core

CLAUDE = SETTINGS.model_copy(update={"agent": "claude"})


def options(model: str, mode: str = "ask", agent: str = "claude") -> ev.AgentOptions:
    return ev.AgentOptions(
        agent=agent,
        options=(
            AgentOption(id="m", name="Model", category="model", value=model),
            AgentOption(id="mode", name="Mode", category="mode", value=mode),
        ),
    )


def with_claude(*told: ev.AgentEvent) -> Core:
    core = Core()
    core.say(ChangeSettings(CLAUDE, ("agent",)))
    core.send("why does it fail?")
    core.output(
        ev.AgentSession(
            agent="claude", session="s1", how="seeded", program="adapter 7", can=("load sessions",), note="anew"
        ),
        *told,
    )
    core.end()
    return core


def test_the_description_of_an_agent_is_shown_and_survives_a_restart() -> None:
    core = with_claude(options("opus"))
    restored = core.disk.restored(core.limits)
    now = summary(restored).agent_now
    assert now is not None
    assert now == summary(core.state).agent_now
    assert (now.agent, now.session, now.how, now.program) == ("claude", "s1", "seeded", "adapter 7")
    assert (now.can, now.note) == (("load sessions",), "anew")
    assert [(one.id, one.name, one.value) for one in now.options] == [("m", "Model", "opus"), ("mode", "Mode", "ask")]
    assert head_of(restored).model == "opus"


def test_a_list_has_the_model_that_was_named_until_the_agent_says_which_it_has() -> None:
    core = with_claude(options("opus"))
    core.say(ChangeSettings(CLAUDE.model_copy(update={"agent_model": "haiku"}), ("agent_model",)))
    assert head_of(core.state).model == "haiku"
    core.say(RecordAgentNews((options("claude-haiku-4"),)))
    assert head_of(core.state).model == "claude-haiku-4"


def test_another_agent_has_nothing_of_the_one_before_it_and_coming_back_finds_it() -> None:
    core = with_claude(options("opus"))
    core.say(ChangeSettings(CLAUDE.model_copy(update={"agent": "codex"}), ("agent",)))
    assert summary(core.state).agent_now is None
    assert head_of(core.state).model == ""
    core.say(ChangeSettings(CLAUDE, ("agent",)))
    assert head_of(core.state).model == "opus"
    core.say(ChangeSettings(SETTINGS, ("agent",)))
    assert summary(core.state).agent_now is None
    assert head_of(core.state).model == SETTINGS.model


def test_a_new_session_of_an_agent_forgets_what_the_last_was_set_to() -> None:
    core = with_claude(options("opus"))
    core.send("more")
    core.output(ev.AgentSession(agent="claude", session="s2", how="new"))
    core.end()
    now = summary(core.state).agent_now
    assert now is not None
    assert (now.session, now.options, now.program) == ("s2", (), "")


def test_a_title_says_what_it_is_about_until_it_is_taken_back() -> None:
    core = with_claude(ev.AgentTitle(title="The failing\n test " + "x" * 100))
    assert head_of(core.state).preview == summary(core.state).preview
    assert head_of(core.state).preview.startswith("The failing test xxx")
    assert len(head_of(core.state).preview) == 80
    core.say(RecordAgentNews((ev.AgentTitle(title=""),)))
    assert head_of(core.state).preview == "why does it fail?"


def test_an_agent_that_says_much_of_itself_is_cut() -> None:
    many = tuple(AgentOption(id=f"{n}" * 1000, value="v" * 1000) for n in range(1000))
    core = with_claude(ev.AgentOptions(agent="claude", options=many))
    for number in range(AGENTS_KEPT + 3):
        more = ev.AgentSession(agent=f"a{number}", session="s", how="new", can=("c" * 1000,) * 1000)
        core.send("more")
        core.output(more)
        core.end()
    told = core.state.facts.agents_told
    assert len(told) == AGENTS_KEPT
    assert {len(one.can) for one in told} == {ABILITIES_KEPT}
    assert {len(one) for one in told[0].can} == {TEXT}
    core.send("more")
    core.output(ev.AgentOptions(agent="a9", options=many))
    last = core.state.facts.agents_told[-1]
    assert len(last.options) == OPTIONS_KEPT
    assert {len(one.value) for one in last.options} == {TEXT}
    assert last.options[0].value.endswith("…")
