"""K: the daemon is killed, at random and at named places, while many conversations stream and clients come back."""

import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.caller import Caller, Gone, Message
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, NotReady, served_by, until
from tests.faults.follower import TERMINAL, Follower, judge, keys, open_turns, taken
from tests.faults.report import Row
from tests.support.model_server import ModelServer
from tests.support.mortal import CrashPoint

CONVERSATIONS = 20
READY_S = 1.0  # at the median; the machine is busy with the clients that come back
RETENTION_S = 90.0  # it begins after a minute
SCRIPTS = (
    "slow 5; stream 60 word",
    'call shell ["sleep","0.03"]; then; slow 2; stream 20 word',
    'call update_plan {"plan":[{"step":"a","status":"pending"}]}; then; call shell ["sleep","0.02"]; then; say b',
    'call shell ["bash","-c","setsid sleep 300 & sleep 300"]',
)


class Driver:
    """A driver of one conversation: the next prompt when a turn has ended, each under its own key."""

    def __init__(self, conversation: str, chance: random.Random) -> None:
        self.follower = Follower(conversation, self._told)
        self.acknowledged: dict[str, int] = {}  # key -> seq
        self.asked = 0
        self._taken = 0  # of those; the others are answered for, on their way or wait
        self._key = ""
        self._chance = chance
        self._caller: Caller | None = None
        self._lock = threading.Lock()

    def attach(self, caller: Caller) -> None:
        """Attach after a kill: read on from the cursor, and repeat the requests that were not answered."""
        self._caller = caller
        self.follower.attach(caller)
        self.say(again=self._key not in self.acknowledged)

    def detach(self) -> None:
        self._caller = None

    def say(self, *, again: bool = False) -> None:
        caller = self._caller
        if caller is None:
            return
        with self._lock:
            if not again or not self._key:
                self.asked += 1
                self._key = f"{self.follower.conversation}-{self.asked}"
            key = self._key
        prompt = self._chance.choice(SCRIPTS)
        answer = caller.start(
            "conversation/send", conversation=self.follower.conversation, prompt=prompt, key=key, if_busy="enqueue"
        )
        answer.add_done_callback(lambda done: self._answered(key, done.exception() or done.result()))

    def _answered(self, key: str, answer: object) -> None:
        match answer:
            case {"seq": int(seq)}:
                self.acknowledged[key] = seq
            case Gone():
                pass  # the daemon was killed: it is asked again under the same key
            case _:
                self.follower.wrong.append(f"send was answered with {answer!r}")

    def _told(self, _: Follower, event: Message) -> None:
        self._taken += taken(event) and bool(event["event"].get("key"))
        if event["event"]["type"] in TERMINAL and self._taken == self.asked:
            self.say()  # else one more would wait after every life

    def broken_promises(self, history: list[Message]) -> list[str]:
        taken = keys(history)
        waiting = {one["event"]["key"] for one in history if one["event"]["type"] == "input_queued"}
        lost = [key for key in self.acknowledged if not taken[key] and key not in waiting]
        doubled = [key for key, count in taken.items() if count > 1]
        return [*self.follower.wrong, *(f"lost {key}" for key in lost), *(f"doubled {key}" for key in doubled)]


class Town:
    """A daemon with driven conversations, and checks after each restart."""

    def __init__(self, harness: DaemonHarness, chance: random.Random) -> None:
        self.harness = harness
        self.chance = chance
        self.harness.start()
        caller = harness.caller("driver")
        self.drivers = [Driver(caller.create(), chance) for _ in range(CONVERSATIONS)]
        self.attach(caller)

    def attach(self, caller: Caller) -> None:
        for driver in self.drivers:
            driver.attach(caller)

    def wait_for_progress(self) -> None:
        """Wait until every conversation's turn has begun since the start, so that a kill loses something."""
        for driver in self.drivers:
            driver.follower.wait_type("task_started", driver.follower.count(*TERMINAL) + 1)

    def dies_anywhere(self) -> None:
        if self.chance.random() < 0.8:
            self.wait_for_progress()
        threading.Event().wait(self.chance.random() * 0.3)  # anywhere in their life: chance is what is wanted here
        self.kill()

    def dies(self) -> None:
        """Wait for the daemon to die at the place that it was told."""
        until(lambda: not self.harness.alive, "the daemon never came to the place where it should end")
        self.kill()

    def kill(self) -> None:
        for driver in self.drivers:
            driver.detach()
        self.harness.kill()

    def come_back(self, dies_at: str = "") -> None:
        """Start again: no process is left over, every lost turn has its one end, all histories are whole."""
        self.harness.start(dies_at=dies_at)
        assert not self.harness.processes(), "processes outlived the daemon that the next one should have ended"
        caller = self.harness.caller("judge")
        for driver in self.drivers:
            history = settled(caller, driver.follower.conversation)
            judge(history)
            driver.follower.check(history)
            assert not driver.broken_promises(history), driver.broken_promises(history)
        self.attach(caller)

    def rest(self, row: Row) -> None:
        """Interrupt all turns, and note what was seen and acknowledged."""
        for driver in self.drivers:
            driver.detach()
        caller = self.harness.caller("end")
        for driver in self.drivers:
            caller.call("conversation/interrupt", conversation=driver.follower.conversation, kill=True)
        events = sum(len(driver.follower.seen) for driver in self.drivers)
        promises = sum(len(driver.acknowledged) for driver in self.drivers)
        ready = self.harness.ready_s
        row.notes.append(f"{events:,} events seen, {promises:,} inputs acknowledged")
        row.notes.append(f"ready in {statistics.median(ready):.2f} s at the median, {max(ready):.2f} s at most")


def settled(caller: Caller, conversation: str) -> list[Message]:
    """The history, once the restarted daemon has ended the turn that was lost in the kill."""
    history: list[Message] = []

    def closed() -> bool:
        history[:] = caller.history(conversation)
        return not open_turns(history)

    until(closed, "the lost turn was not closed")
    return history


def kill_town(home: Path, model: ModelServer, row: Row, deaths: Sequence[CrashPoint | None]) -> list[float]:
    """Kill the daemon again and again: at a named place, at a random visit of it, or at any moment.

    Returns the seconds of each start until it said that it is ready.
    """
    chance = random.Random(len(deaths))
    harness = DaemonHarness(home, served_by(model.base_url, "idle_park_seconds = 0"))
    try:
        town = Town(harness, chance)
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
    follower.wait_type("exec_approval_request")
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
            begun = [one for one in history if one["event"]["type"] == "exec_command_begin"]
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


def test_what_was_approved_has_not_run_without_a_beginning_in_the_journal(
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
