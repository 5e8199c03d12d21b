"""The built-in model: each of its phrases does what it says, through the real tools."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly, WorkspaceWrite
from supervisor.agents.own.backends.demo import HELP, MAX_COUNT, PHRASES, next_step
from supervisor.agents.own.model.request import text_message
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness, Talk


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[EngineHarness]:
    with EngineHarness(tmp_path, 'model_provider = "demo"') as harness:
        yield harness


@pytest.fixture
def demo(harness: EngineHarness) -> Talk:
    return harness.talk(model="demo", provider="demo")


def test_it_says_and_streams_what_it_is_told(demo: Talk) -> None:
    assert demo.ask("say hello there").message == "hello there"
    deltas = "".join(one.delta for one in demo.all(ev.AgentMessageDelta))
    assert "hello there".startswith(deltas)
    assert deltas


def test_it_runs_a_command_and_tells_its_output(demo: Talk) -> None:
    assert demo.ask("run echo a | tr a b").message == "b"
    assert demo.wait(ev.WorkEnded, of="command").exit_code == 0
    assert demo.ask("run exit 3").message == "It failed with exit code 3."
    assert demo.ask("run true").message == "Done; it printed nothing."


def test_it_writes_and_changes_files_by_patches(harness: EngineHarness, demo: Talk) -> None:
    assert demo.ask(r"write note.txt: one\ntwo").message == "I have updated the following files:\nA note.txt\n"
    assert (harness.workspace / "note.txt").read_text() == "one\ntwo\n"
    demo.ask("change note.txt: two => three")
    assert (harness.workspace / "note.txt").read_text() == "one\nthree\n"
    assert len(demo.all(ev.WorkEnded, of="files")) == 2


def test_it_does_one_step_after_the_other(harness: EngineHarness, demo: Talk) -> None:
    demo.ask("write a.txt: milk; then run cat a.txt; then plan drink, sleep; then say good night")
    assert demo.wait(ev.WorkEnded, of="command").output == "milk\n"
    assert [(one.step, one.status) for one in demo.wait(ev.PlanUpdate).plan] == [
        ("drink", "in_progress"),
        ("sleep", "pending"),
    ]
    assert demo.wait(ev.TaskComplete).last_agent_message == "good night"
    assert (harness.workspace / "a.txt").exists()


@confinable
@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision.APPROVED, "Done; it printed nothing."),
        (Decision.DENIED, "I could not run it: exec command rejected by user"),
    ],
)
def test_it_asks_before_it_leaves_the_sandbox(harness: EngineHarness, decision: Decision, message: str) -> None:
    demo = harness.talk(provider="demo", approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=ReadOnly())
    begun = demo.start("ask touch x")
    question = demo.wait(ev.ApprovalRequested)
    assert question.reason == "You asked me to run it outside the sandbox."
    demo.decide(question.approval_id, decision)
    assert demo.result(begun).message == message
    assert (harness.workspace / "x").exists() == (decision is Decision.APPROVED)


def test_it_thinks_aloud(demo: Talk) -> None:
    assert demo.ask("think it over").message == "I thought about it: it over"
    assert demo.wait(ev.AgentReasoning).text == "it over"


def test_it_shows_a_plan(demo: Talk) -> None:
    assert demo.ask("plan a, b").message == "That is the plan."


def test_it_counts_slowly_enough_to_be_interrupted(demo: Talk) -> None:
    begun = demo.start(f"count {MAX_COUNT * 1000}")
    demo.wait_said("1 2 3")
    demo.interrupt()
    assert demo.result(begun).ending is Ending.INTERRUPTED
    assert demo.all(ev.AgentMessage)[-1].partial


def test_it_answers_anything_else_with_what_it_understands() -> None:
    message = next_step([text_message("user", "make me a sandwich")]).words
    assert message == f"You said: make me a sandwich\n\n{HELP}"
    assert all(phrase in HELP for phrase in PHRASES)
    assert max(len(line) for line in HELP.splitlines()) <= 80


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_of_its_help_is_understood(phrase: str) -> None:
    step = next_step([text_message("user", re.sub(r"\bN\b", "3", phrase))])
    assert not step.words.startswith("You said:")


def test_the_same_words_get_the_same_answer(harness: EngineHarness) -> None:
    answers = []
    for _ in range(2):
        demo = harness.talk(provider="demo", sandbox=WorkspaceWrite())
        demo.ask("run echo hi; then say done")
        answers.append([event.type for event in demo.events])
    assert answers[0] == answers[1]
