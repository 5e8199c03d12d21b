"""Third-party agents as a conversation knows them: their sessions, what they use, and turns that they begin."""

import pytest

from actors.messages.conversation import ChangeSettings, FollowAgent, RecordAgentNews
from actors.messages.orders import KnownSession, ModelFailed
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.settings import AbortReason, ApprovalPolicy, ReasoningEffort, Settings, Task
from tests.support.core_driver import SETTINGS, Core, caller
from tests.support.work import command, command_asked, command_wrote

ANN = caller("ann")
USE = ItemId("use")


NPM_TEST = ev.AgentCall(title="npm test", sort="execute")


def began() -> ev.WorkBegan:
    return ev.WorkBegan(call_id=CallId("c"), item_id=USE, subject=command("npm", "test"), agent_call=NPM_TEST)


def wrote(text: str) -> ev.WorkOutput:
    return command_wrote(text.encode(), call="c", item=USE)


def ended() -> ev.WorkEnded:
    return ev.WorkEnded(call_id=CallId("c"), item_id=USE, kind="command", agent_call=NPM_TEST, status="completed")


def session(agent: str = "claude", name: str = "s1") -> ev.AgentSession:
    return ev.AgentSession(agent=agent, session=name, how="new")


def with_agent(name: str) -> Core:
    core = Core()
    core.say(ChangeSettings(SETTINGS.model_copy(update={"agent": name}), ("agent",)))
    return core


def test_a_turn_gets_the_session_that_its_agent_had_and_how_far_that_knows_the_history() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    last = core.state.facts.seq
    core.send("second")
    assert [run.known for run in core.runs] == [None, KnownSession("claude", "s1", last)]


def test_another_agent_is_given_nothing_of_it_and_coming_back_finds_it() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    known = core.state.facts.seq
    other = SETTINGS.model_copy(update={"agent": "codex"})
    core.send("second", settings=other)
    core.output(session("codex", "s2"))
    core.end()
    core.send("third")
    assert [run.known for run in core.runs[1:]] == [None, KnownSession("claude", "s1", known)]


def test_an_agent_knows_a_turn_that_failed_only_up_to_what_it_has_said_in_it() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    core.send("second")
    core.output(ev.AgentMessage(message="I look."))
    said = core.state.facts.seq
    core.output(ev.AgentMessageDelta(delta="And th"))
    core.end(ModelFailed("it died"))
    core.send("third")
    assert core.runs[-1].known == KnownSession("claude", "s1", said)


def test_a_session_that_began_anew_has_yet_to_be_told_what_was_said() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    core.send("second")
    core.output(ev.AgentSession(agent="claude", session="s2", how="seeded"))
    core.end(ModelFailed("it died"))
    core.send("third")
    assert core.runs[-1].known == KnownSession("claude", "s2", 0)


def test_a_session_that_goes_on_knows_what_it_knew() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    known = core.state.facts.seq
    core.send("second")
    core.output(ev.AgentSession(agent="claude", session="s1", how="resumed"))
    core.end(ModelFailed("it died"))
    core.send("third")
    assert core.runs[-1].known == KnownSession("claude", "s1", known)


def test_a_session_is_known_after_a_restart() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(session("claude", "s1"))
    core.end()
    core.crash()
    core.send("second")
    known = core.runs[-1].known
    assert known is not None
    assert (known.agent, known.session) == ("claude", "s1")


def test_a_tool_that_is_cut_by_the_end_of_its_turn_ends_with_what_it_wrote() -> None:
    core = Core()
    core.send()
    core.output(began(), wrote("1 passed, "), wrote("2 to go"))
    core.interrupt()
    core.stopped()
    (end,) = core.said_of(ev.WorkEnded)
    assert (end.status, end.agent_call, end.subject, end.cut) == (
        "cancelled",
        NPM_TEST,
        command("npm", "test"),
        AbortReason.INTERRUPTED,
    )
    assert end.output == "1 passed, 2 to go"


def test_the_end_of_a_tool_is_said_once() -> None:
    core = Core()
    core.send()
    core.output(began(), ended())
    core.output(ended())
    core.end()
    assert len(core.said_of(ev.WorkEnded)) == 1


def test_work_that_an_agent_begins_by_itself_is_a_turn() -> None:
    core = Core()
    core.send()
    core.end()
    core.say(FollowAgent(), ANN)
    order = core.runs[-1]
    assert (order.task, order.inputs) == (Task.FOLLOW, ())
    assert core.said_of(ev.TaskStarted)[-1].task is Task.FOLLOW
    assert core.answer(ANN) == Done()


def test_a_turn_that_is_open_takes_in_what_the_agent_begins() -> None:
    core = Core()
    core.send()
    core.say(FollowAgent(), ANN)
    assert len(core.said_of(ev.TaskStarted)) == 1


@pytest.mark.parametrize("turn_is_open", [True, False])
def test_news_that_are_no_work_are_recorded_without_a_turn(*, turn_is_open: bool) -> None:
    core = Core()
    core.send()
    if not turn_is_open:
        core.end()
    core.say(RecordAgentNews((ev.AgentTitle(title="Why the test fails"),)), ANN)
    assert [event.title for event in core.said_of(ev.AgentTitle)] == ["Why the test fails"]
    assert len(core.said_of(ev.TaskStarted)) == 1


def test_a_tool_whose_question_is_open_waits_although_its_agent_said_that_it_runs() -> None:
    core = Core()
    core.send()
    core.output(began(), command_asked("npm", "test").model_copy(update={"item_id": USE}))
    turn = core.state.facts.turn
    assert turn is not None
    assert turn.only_waits
    core.output(began().model_copy(update={"item_id": ItemId("other")}))
    turn = core.state.facts.turn
    assert turn is not None
    assert not turn.only_waits


def test_the_cost_of_a_session_is_known_to_its_next_process_and_forgotten_with_the_session() -> None:
    core = with_agent("claude")
    core.send("first")
    counted = ev.TokenCount(
        input_tokens=1,
        output_tokens=1,
        total_tokens=2,
        provider="claude",
        cost_usd=0.1,
        agent_sum_usd=0.3,
        agent_sum_from_usd=0.2,
    )
    core.output(session("claude", "s1"), counted)
    core.end()
    core.send("second")
    known = core.runs[-1].known
    core.output(session("claude", "s1"))
    core.end()
    core.send("third")
    core.output(session("claude", "s2"))
    core.end()
    core.send("fourth")
    sums = [one.sum_usd for one in (known, core.runs[-2].known, core.runs[-1].known) if one is not None]
    assert sums == [0.3, 0.3, 0.0]
    assert known is not None
    assert known.from_usd == 0.2
    assert core.state.facts.spent.usd == 0.1


@pytest.mark.parametrize(
    "own", [None, SETTINGS.model_copy(update={"agent": "claude", "effort": ReasoningEffort.LOW})]
)
def test_a_running_turn_goes_on_with_its_agent_and_the_next_has_the_new_one(own: Settings | None) -> None:
    core = with_agent("claude")
    core.send("first", settings=own)
    changed = core.state.facts.settings.model_copy(
        update={"agent": "codex", "agent_model": "m", "approval_policy": ApprovalPolicy.NEVER}
    )
    core.say(ChangeSettings(changed, ("agent", "agent_model", "approval_policy")))
    turn = core.state.facts.turn
    assert turn is not None
    assert turn.settings is not None
    running = turn.settings
    assert (running.agent, running.agent_model, running.approval_policy) == ("claude", "", ApprovalPolicy.NEVER)
    core.output(session("claude", "s1"))
    core.end()
    assert [one.agent for one in core.state.facts.agents] == ["claude"]
    core.send("second")
    assert (core.runs[-1].settings.agent, core.runs[-1].settings.agent_model) == ("codex", "m")


def test_usage_without_a_model_is_entered_under_the_name_of_the_agent() -> None:
    core = with_agent("claude")
    core.send("first")
    core.output(began(), ended(), ev.TokenCount(input_tokens=1, output_tokens=1, total_tokens=2, provider="claude"))
    core.end()
    assert core.state.facts.spent.tool_calls == 1
    assert {entry.model for append in core.appends for entry in append.spent} == {"claude"}
