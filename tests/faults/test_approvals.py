"""A: many answers to one question, late and unasked answers, and questions that outlive the daemon."""

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.caller import WAIT_S, Caller, Refused
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, served_by
from tests.faults.follower import Follower, judge
from tests.faults.report import Row
from tests.support.model_server import ModelServer

CLIENTS = 5
ROUNDS_EACH = 25  # questions asked in one turn: its conversation's history stays short
DECISIONS = ("approved", "approved", "denied")


def asks(path: Path, times: int) -> str:
    return "; then; ".join(f'call shell ["touch","{path}-{number}"]' for number in range(times)) + "; then; say done"


def race(harness: DaemonHarness, row: Row, rounds: int, directory: Path) -> None:
    chance = random.Random(rounds)
    callers = [harness.caller(f"client-{number}") for number in range(CLIENTS)]
    winners: Counter[int] = Counter()
    for start in range(0, rounds, ROUNDS_EACH):
        times = min(ROUNDS_EACH, rounds - start)
        conversation = callers[0].create(approval_policy="untrusted")
        follower = Follower(conversation)
        follower.attach(callers[0])
        path = directory / f"race-{start}"
        callers[0].send(conversation, asks(path, times))
        for number in range(times):
            follower.wait_type("approval_requested", number + 1)
            winner, decision = one_question(callers, follower, chance)
            winners[winner] += 1
            follower.wait_type("tool_output", number + 1)
            assert Path(f"{path}-{number}").exists() == (decision == "approved")
            row.times += 1
        follower.wait_type("task_complete")
        late(callers, follower)
        check(callers[0], follower, times)
    assert len(winners) > 1, "it was no race"
    row.notes.append(f"won by {', '.join(str(winners[number]) for number in range(CLIENTS))}")


def one_question(callers: list[Caller], follower: Follower, chance: random.Random) -> tuple[int, str]:
    """Let every caller give another answer; the winner and the answer that counted."""
    question = follower.seen[-1]["event"]["approval_id"]
    order = random.Random(chance.random()).sample(range(CLIENTS), CLIENTS)
    said = {number: chance.choice(DECISIONS) for number in order}
    answers = {
        number: callers[number].start("approvals/answer", approval=question, decision=said[number])
        for number in order
    }
    won = [number for number, answer in answers.items() if answer.exception(WAIT_S) is None]
    assert len(won) == 1, f"{len(won)} clients were told that theirs is the answer"
    for number, answer in answers.items():
        error = answer.exception(WAIT_S)
        if number != won[0]:
            assert isinstance(error, Refused), error
            assert error.name == "already_answered", error.name
            assert f"client-{won[0]}" in str(error.data), "the loser was not told who won"
    return won[0], said[won[0]]


def late(callers: list[Caller], follower: Follower) -> None:
    """Assert that a question of an ended turn can't be answered, nor a question that was never asked."""
    question = next(one for one in follower.seen if one["event"]["type"] == "approval_requested")
    approval = question["event"]["approval_id"]
    assert callers[-1].refusal("approvals/answer", approval=approval, decision="approved").name in {
        "already_answered",
        "unknown_approval",
    }
    for foreign in ("nothing", f"x@{follower.conversation}", "x@00000000-0000-4000-8000-000000000000"):
        refusal = callers[-1].refusal("approvals/answer", approval=foreign, decision="approved")
        assert refusal.name in {"unknown_approval", "unknown_conversation"}, refusal


def check(caller: Caller, follower: Follower, questions: int) -> None:
    history = caller.history(follower.conversation)
    judge(history)
    follower.check(history)
    resolved = Counter(one["event"]["approval_id"] for one in history if one["event"]["type"] == "approval_resolved")
    assert len(resolved) == questions
    assert set(resolved.values()) == {1}, "a question was answered twice"
    caller.delete(follower.conversation)


def outlive(home: Path, model: ModelServer, row: Row, questions: int) -> None:
    harness = DaemonHarness(home, served_by(model.base_url, policy="untrusted"))
    with harness:
        caller = harness.caller()
        conversations = [caller.create() for _ in range(questions)]
        followers = [Follower(one) for one in conversations]
        for number, follower in enumerate(followers):
            follower.attach(caller)
            caller.send(follower.conversation, asks(home.parent / f"file-{number}", 1))
        for follower in followers:
            follower.wait_type("approval_requested")
        harness.kill()
        harness.start()
        caller, other = harness.caller("one"), harness.caller("other")
        for follower in followers:
            follower.attach(caller)
        listed = {one["approval_id"] for one in other.call("approvals/list")["approvals"]}
        asked = {follower.seen[-1]["event"]["approval_id"] for follower in followers}
        assert listed == asked, "questions were lost, or invented"
        answers = [other.start("approvals/answer", approval=one, decision="approved") for one in sorted(asked)]
        for answer in answers:
            answer.result(WAIT_S)
        for number, follower in enumerate(followers):
            follower.wait_type("task_complete")
            assert Path(f"{home.parent / f'file-{number}'}-0").exists()
            history = caller.history(follower.conversation)
            judge(history)
            follower.check(history)
            row.times += 1
        assert not caller.call("approvals/list")["approvals"]


def test_of_five_answers_to_a_question_one_counts(harness: DaemonHarness, tmp_path: Path, measure: Measure) -> None:
    with measure("A", f"{CLIENTS} clients answer one question at once, then late and foreign answers") as row:
        race(harness, row, 50, tmp_path)


def test_a_question_of_an_interrupted_turn_is_withdrawn_from_everybody(
    harness: DaemonHarness, measure: Measure
) -> None:
    with measure("A", "an answer after the interrupt, and one against it") as row:
        interrupted_questions(harness, row, 20)


def test_pending_questions_outlive_the_daemon(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("A", "questions pending over a kill -9, answered afterwards") as row:
        outlive(home, model, row, 10)


def interrupted_questions(harness: DaemonHarness, row: Row, rounds: int) -> None:
    one, two = harness.caller("one"), harness.caller("two")
    for number in range(rounds):
        conversation = one.create(approval_policy="untrusted")
        followers = [Follower(conversation), Follower(conversation)]
        for follower, caller in zip(followers, (one, two), strict=True):
            follower.attach(caller)
        one.send(conversation, asks(Path("/nowhere/at/all"), 1))
        for follower in followers:
            follower.wait_type("approval_requested")
        approval = followers[0].seen[-1]["event"]["approval_id"]
        interrupt = one.start("conversation/interrupt", conversation=conversation)
        if number % 2:
            interrupt.result(WAIT_S)
        answer = two.start("approvals/answer", approval=approval, decision="approved")
        interrupt.result(WAIT_S)
        error = answer.exception(WAIT_S)
        assert error is None or isinstance(error, Refused)
        assert error or number % 2 == 0, "an answer counted after the turn had ended"
        for follower in followers:
            follower.wait_type("turn_aborted")
            assert follower.count("approval_resolved") == 1, "not everybody was told"
        history = one.history(conversation)
        judge(history)
        one.delete(conversation)
        row.times += 1


@pytest.mark.soak
def test_two_thousand_races_for_an_answer(harness: DaemonHarness, tmp_path: Path, measure: Measure) -> None:
    with measure("A", f"{CLIENTS} clients answer one question at once, then late and foreign answers") as row:
        race(harness, row, 2000, tmp_path)


@pytest.mark.soak
def test_a_thousand_answers_against_an_interrupt(harness: DaemonHarness, measure: Measure) -> None:
    with measure("A", "an answer after the interrupt, and one against it") as row:
        interrupted_questions(harness, row, 1000)


@pytest.mark.soak
def test_fifty_pending_questions_outlive_the_daemon(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("A", "questions pending over a kill -9, answered afterwards") as row:
        outlive(home, model, row, 50)
