"""Work that goes on behind the answer of a prompt, and work that an agent begins by itself."""

import time
from pathlib import Path

from actors.vocabulary import events as ev
from actors.vocabulary.agent_events import AgentSession, AgentTitle
from actors.vocabulary.settings import Decision, Task
from actors.vocabulary.work_events import ApprovalRequested
from tests.supervisor.agents.acp.alive import odd_seconds
from tests.supervisor.agents.acp.scripted import scripted, talk_with


def test_an_answer_with_nothing_open_ends_the_turn_without_a_wait(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        began = time.monotonic()
        talk.ask("say two")
        assert time.monotonic() - began < 0.5


def test_a_background_process_is_waited_for_and_then_named(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk, seconds = talk_with(harness), odd_seconds()
        talk.ask(f"start sleep {seconds}")
        assert "1 process that it began" in talk.all(ev.BackgroundEvent)[-1].message
        began = time.monotonic()
        talk.ask("say quick")  # it belongs to no later turn
        assert time.monotonic() - began < 0.5


def test_a_short_background_process_ends_before_its_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("leave sleep 0.4; touch made")
        assert (harness.workspace / "made").exists()
        assert not talk.all(ev.BackgroundEvent)


def test_words_after_the_answer_are_a_turn_of_their_own(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("late by the way; then say answered")
        assert talk.wait(ev.TaskStarted, 2).task is Task.FOLLOW
        talk.wait(ev.TaskComplete, 2)
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["answered", "by the way"]


def test_a_question_that_an_agent_asks_by_itself_is_asked_in_a_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("late-ask touch made; then say answered")
        approval = talk.wait(ApprovalRequested).approval_id
        talk.decide(approval, Decision.APPROVED)
        talk.wait_said("late yes")
        talk.wait(ev.TaskComplete, 2)


def test_work_that_an_agent_begins_by_itself_can_be_stopped(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("late-count 1000; then say answered")
        talk.wait(ev.TaskStarted, 2)
        talk.wait_said("3 ")
        talk.interrupt()
        talk.wait(ev.TurnAborted)
        talk.ask("say again")
        assert len(talk.all(AgentSession)) == 1
        assert len(talk.all(ev.TaskStarted)) == 3


def test_news_between_turns_are_recorded_without_a_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("title before; then late-title after")
        assert talk.wait(AgentTitle, 2).title == "after"
        assert len(talk.all(ev.TaskStarted)) == 1


def test_input_meanwhile_is_the_next_prompt_of_the_same_turn(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        turn = talk.start("say one; then slow 0.5")
        talk.wait_said("one")
        talk.result(talk.start("say two"))
        talk.result(turn)
        assert len(talk.all(ev.TaskStarted)) == 1
        assert [one.message for one in talk.all(ev.AgentMessage)] == ["one", "two"]


def test_input_meanwhile_is_steered_into_an_agent_that_can_take_it(tmp_path: Path) -> None:
    with scripted(tmp_path, "steering") as harness:
        talk = talk_with(harness)
        turn = talk.start("say one; then slow 0.5; then say two")
        talk.wait_said("one")
        talk.start("say three")
        talk.wait_said("(steered: say three)")
        talk.result(turn)
        assert len(talk.all(ev.TaskStarted)) == 1
        assert len(talk.all(ev.UserMessage)) == 2


def test_a_turn_waits_for_a_place_and_gets_the_next_free_one(tmp_path: Path) -> None:
    with scripted(tmp_path, limits="agents = 1") as harness:
        first, second = talk_with(harness), talk_with(harness)
        running = first.start("say one; then slow 0.5")
        first.wait_said("one")
        waiting = second.start("say two")
        assert "greenroom.limits.agents" in second.wait(ev.BackgroundEvent).message
        first.result(running)
        second.result(waiting)
        assert harness.engine.third_party_agents.get().programs.statistics()["children"] == 1
        first.ask("say three")  # the oldest idle one makes room
        assert len(first.all(AgentSession)) == 2


def test_a_parked_conversations_agent_is_ended_a_while_later(tmp_path: Path) -> None:
    with scripted(tmp_path, greenroom="idle_park_seconds = 0.1", limits="agent_idle_seconds = 0.2") as harness:
        talk = talk_with(harness)
        talk.ask("say one")
        harness.leave()
        talk.wait_parked()
        deadline = time.monotonic() + 5
        while harness.engine.processes.statistics()["running"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
