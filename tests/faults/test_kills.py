"""K: the daemon is killed, at random and at named places, while many conversations stream and clients come back."""

import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.caller import Caller, Gone
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, NotReady, served_by, until
from tests.faults.follower import Follower, judge
from tests.faults.report import Row
from tests.faults.town import Driver, Town, settled
from tests.support.model_server import ModelServer
from tests.support.mortal import CrashPoint

CONVERSATIONS = 20
READY_S = 1.0  # at the median; the machine is busy with the clients that come back
RETENTION_S = 90.0  # it begins after a minute


def kill_town(home: Path, model: ModelServer, row: Row, deaths: Sequence[CrashPoint | None]) -> list[float]:
    """Kill the daemon again and again: at a named place, at a random visit of it, or at any moment.

    Returns the seconds of each start until it said that it is ready.
    """
    chance = random.Random(len(deaths))
    harness = DaemonHarness(home, served_by(model.base_url, "idle_park_seconds = 0"))
    try:
        town = Town(harness, chance, lambda caller: Driver(caller.create(), chance), CONVERSATIONS)
        for number, point in enumerate(deaths):
            if number > 0:
                dies_at = "" if point is None else f"{point}:{chance.randint(1, 60)}"
                with suppress(Gone, OSError, *([] if point is None else [NotReady])):
                    town.come_back(dies_at)  # an armed one may not get as far as to be judged; the next is
            if point is None:
                town.dies_anywhere()
            else:
                town.dies()
            row.times += 1
        town.come_back()
        town.rest(row)
        return harness.ready_s
    finally:
        harness.__exit__()


def die_around_a_question(home: Path, model: ModelServer, row: Row, rounds: int) -> None:
    """Kill while a waiting turn is parked, just after it, and between an answer and the waiting turn."""
    harness = DaemonHarness(home, served_by(model.base_url, "idle_park_seconds = 0.01", policy="untrusted"))
    with pytest.raises(NotReady):
        harness.start(dies_at=CrashPoint.IN_MIGRATION)
    row.times += 1
    try:
        for number in range(rounds):
            files = [home.parent / f"{number}-{name}" for name in ("suspending", "suspended", "answered")]
            parking = die_in_parking(harness, CrashPoint.SUSPENDING, files[0])
            parked = die_in_parking(harness, CrashPoint.SUSPENDED, files[1])
            answered = die_at_an_answer(harness, files[2])
            harness.start()
            caller = harness.caller()
            for conversation, path in ((parking, files[0]), (parked, files[1])):
                caller.call("approvals/answer", approval=question(caller, conversation), decision="approved")
                goes_on(caller, conversation)
                assert path.exists(), "approved, and never run"
            goes_on(caller, answered)
            harness.kill()
            row.times += 3
        row.notes.append(f"ready in {max(harness.ready_s):.2f} s at most")
    finally:
        harness.__exit__()


def die_in_parking(harness: DaemonHarness, point: CrashPoint, path: Path) -> str:
    """Kill during parking: without readers a turn is parked as soon as it only waits."""
    harness.start(dies_at=point)
    caller = harness.caller()
    conversation = caller.create()
    caller.start("conversation/send", conversation=conversation, prompt=asking(path))
    until(lambda: not harness.alive, f"nobody came to {point}")
    harness.kill()
    return conversation


def die_at_an_answer(harness: DaemonHarness, path: Path) -> str:
    """Kill with the answer stored and not told. A reader is attached, so the turn is not parked."""
    harness.start(dies_at=CrashPoint.ANSWER_ORDERED)
    caller = harness.caller()
    conversation = caller.create()
    follower = Follower(conversation)
    follower.attach(caller)
    caller.send(conversation, asking(path))
    follower.wait_type("approval_requested")
    caller.start("approvals/answer", approval=question(caller, conversation), decision="approved")
    until(lambda: not harness.alive, "nobody came to the place after the answer")
    harness.kill()
    assert not path.exists()
    return conversation


def asking(path: Path) -> str:
    return f'call shell ["touch","{path}"]; then; say done'


def question(caller: Caller, conversation: str) -> str:
    asked: list[str] = []

    def there() -> bool:
        listed = caller.call("approvals/list", conversation=conversation)["approvals"]
        asked[:] = [one["approval_id"] for one in listed]
        return len(asked) == 1

    until(there, "the question was lost")
    return asked[0]


def goes_on(caller: Caller, conversation: str) -> None:
    """Assert that the question is answered once, its turn ended once, and that the next turn runs."""
    history = settled(caller, conversation)
    judge(history)
    decided = [one["event"]["decision"] for one in history if one["event"]["type"] == "approval_resolved"]
    assert decided == ["approved"], "an answer that was stored is not there once"
    assert caller.send(conversation, "say hello", wait=True)["ending"] == "completed"
    judge(caller.history(conversation))


def die_after_an_answer(home: Path, model: ModelServer, row: Row, times: int) -> None:
    """Kill in the first milliseconds: each command that ran has its beginning stored, and none ran twice."""
    harness = DaemonHarness(home, served_by(model.base_url, policy="untrusted"))
    chance, seen = random.Random(7), Counter[str]()
    try:
        for number in range(times):
            harness.start()
            caller, path = harness.caller(), home / f"ran-{number}"
            conversation = caller.create()
            caller.start("conversation/send", conversation=conversation, prompt=appending(path))
            caller.call("approvals/answer", approval=question(caller, conversation), decision="approved")
            time.sleep(chance.uniform(0, 0.02))  # not for luck: when it dies is what is varied
            harness.kill()
            harness.start()
            caller = harness.caller()
            history = settled(caller, conversation)
            judge(history)
            ran = path.read_text().count("x") if path.exists() else 0
            begun = [one for one in history if one["event"]["type"] == "work_began"]
            assert ran <= len(begun) <= 1, "it ran twice, or without a word of it"
            told = next(one["event"]["output"] for one in history if one["event"]["type"] == "tool_output")
            assert begun or told.endswith("there is no record that it began")
            seen["ran" if ran else "had begun" if begun else "had not begun"] += 1
            harness.kill()
            row.times += 1
        row.notes.append(", ".join(f"{word} {count}" for word, count in seen.items()))
    finally:
        harness.__exit__()


def appending(path: Path) -> str:
    return f'call shell ["sh","-c","echo x >> {path}"]; then; say done'


def die_in_retention(home: Path, model: ModelServer, row: Row) -> None:
    """Kill during retention: half a step is undone or finished, and never leaves a gap."""
    harness = DaemonHarness(home, served_by(model.base_url, "retention.max_events = 20"))
    try:
        harness.start(dies_at=CrashPoint.IN_RETENTION)
        caller = harness.caller()
        made = [caller.create() for _ in range(CONVERSATIONS)]
        for conversation in made:
            for _ in range(10):
                caller.send(conversation, "say x", wait=True)
        until(lambda: not harness.alive, "retention never began", RETENTION_S)
        harness.kill()
        harness.start()
        caller = harness.caller()
        for conversation in made:
            history = caller.history(conversation)
            first = history[0]["seq"]
            assert [one["seq"] for one in history] == list(range(first, first + len(history)))
            assert history[-1]["event"]["type"] == "task_complete"
            assert caller.send(conversation, "say y", wait=True)["ending"] == "completed"
        row.times += 1
    finally:
        harness.__exit__()


def test_a_daemon_that_dies_anywhere_keeps_every_promise(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", f"kill -9 at random and round a commit, {CONVERSATIONS} conversations streaming") as row:
        kill_town(home, model, row, [None, CrashPoint.BEFORE_COMMIT, CrashPoint.AFTER_COMMIT])


def test_a_question_outlives_a_death_at_every_step_of_its_life(
    home: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("K", "death in migration, while parking, between an answer and its turn") as row:
        die_around_a_question(home, model, row, 1)


def test_an_approved_command_has_not_run_without_a_stored_beginning(
    home: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("K", "kill -9 right after an approval was acknowledged") as row:
        die_after_an_answer(home, model, row, 2)


@pytest.mark.soak(takes_s=240)
def test_sixty_deaths_right_after_an_approval(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", "kill -9 right after an approval was acknowledged") as row:
        die_after_an_answer(home, model, row, 60)


@pytest.mark.soak(takes_s=220)
def test_a_hundred_kills_at_random_keep_every_promise(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", f"kill -9 at random, {CONVERSATIONS} conversations streaming") as row:
        kill_town(home, model, row, [None] * 100)


@pytest.mark.soak(takes_s=100)
def test_fifty_deaths_round_a_commit_keep_every_promise(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", "death before a commit, and after it before the fan-out") as row:
        kill_town(home, model, row, [None, *[CrashPoint.BEFORE_COMMIT, CrashPoint.AFTER_COMMIT] * 25])


@pytest.mark.soak(takes_s=60)
def test_a_death_in_retention_leaves_no_hole(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", "death during retention") as row:
        die_in_retention(home, model, row)


@pytest.mark.soak(takes_s=90)
def test_many_questions_outlive_deaths_at_every_step(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", "death in migration, while parking, between an answer and its turn") as row:
        die_around_a_question(home, model, row, 20)


@pytest.mark.soak
@pytest.mark.quiet
def test_a_daemon_that_was_killed_is_ready_within_a_second(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", f"the same, {CONVERSATIONS} conversations, with no other test beside it") as row:
        assert statistics.median(kill_town(home, model, row, [None] * 20)) <= READY_S
