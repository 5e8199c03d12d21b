"""K: the daemon is killed, at random and at named places, while many conversations stream and clients come back."""

import random
import statistics
import threading
from pathlib import Path

import pytest

from tests.faults.caller import Caller, Gone, Message, Refused
from tests.faults.conftest import Measure
from tests.faults.follower import TERMINAL, Follower, judge, keys
from tests.faults.house import House, NotReady, served_by, until
from tests.faults.report import Row
from tests.support.model_server import ModelServer

CONVERSATIONS = 20
SCRIPTS = (
    "slow 2; stream 300 word",
    'call shell ["sleep","0.03"]; then; slow 1; stream 50 word; then',
    'call update_plan {"plan":[{"step":"a","status":"pending"}]}; then; say a; '
    'call shell ["bash","-c","echo a; sleep 0.02; echo b"]; then; say b',
    'call shell ["bash","-c","setsid sleep 300 & sleep 300"]',
)


class Driver:
    """Keeps one conversation busy: the next prompt when a turn has ended, each under its own key."""

    def __init__(self, conversation: str, chance: random.Random) -> None:
        self.follower = Follower(conversation, self._told)
        self.acknowledged: dict[str, int] = {}  # key -> seq
        self.asked = 0
        self._key = ""
        self._chance = chance
        self._caller: Caller | None = None
        self._lock = threading.Lock()

    def attach(self, caller: Caller) -> None:
        """After a kill: reads on from the cursor, and asks again what was not answered."""
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
        if event["event"]["type"] in TERMINAL:
            self.say()

    def broken_promises(self, history: list[Message]) -> list[str]:
        taken = keys(history)
        waiting = {one["event"]["key"] for one in history if one["event"]["type"] == "input_queued"}
        lost = [key for key in self.acknowledged if not taken[key] and key not in waiting]
        doubled = [key for key, count in taken.items() if count > 1]
        return [*self.follower.wrong, *(f"lost {key}" for key in lost), *(f"doubled {key}" for key in doubled)]


class Town:
    """A daemon whose conversations are all driven, and what is true of it after each of its lives."""

    def __init__(self, house: House, chance: random.Random) -> None:
        self.house = house
        self.chance = chance
        self.house.start()
        caller = house.caller("driver")
        self.drivers = [Driver(caller.create(), chance) for _ in range(CONVERSATIONS)]
        self.attach(caller)

    def attach(self, caller: Caller) -> None:
        for driver in self.drivers:
            driver.attach(caller)

    def wait_for_progress(self) -> None:
        """Everybody's turn has begun in this life, so that there is something to lose."""
        for driver in self.drivers:
            driver.follower.wait_type("task_started", driver.follower.count(*TERMINAL) + 1)

    def kill(self) -> None:
        for driver in self.drivers:
            driver.detach()
        self.house.kill()

    def come_back(self) -> None:
        """Started again: nothing of the last life runs, every turn of it has its one end, all histories are whole."""
        self.house.start()
        assert not self.house.processes(), "processes outlived the daemon that the next one should have ended"
        caller = self.house.caller("judge")
        for driver in self.drivers:
            history = settled(caller, driver.follower.conversation)
            judge(history)
            driver.follower.check(history)
            assert not driver.broken_promises(history), driver.broken_promises(history)
        self.attach(caller)

    def note(self, row: Row) -> None:
        events = sum(len(driver.follower.seen) for driver in self.drivers)
        promises = sum(len(driver.acknowledged) for driver in self.drivers)
        ready = self.house.ready_s
        row.notes.append(f"{events:,} events seen, {promises:,} inputs acknowledged")
        row.notes.append(f"ready in {statistics.median(ready):.2f} s at the median, {max(ready):.2f} s at most")


def settled(caller: Caller, conversation: str) -> list[Message]:
    """The history once the turn that the last life lost has its end, which comes by itself."""
    until(
        lambda: caller.call("conversation/get", conversation=conversation)["turn"] is None,
        "the lost turn was not closed",
    )
    return caller.history(conversation)


def kill_at_random(home: Path, model: ModelServer, row: Row, cycles: int) -> None:
    chance = random.Random(cycles)
    house = House(home, served_by(model.base_url, "idle_park_seconds = 0"))
    try:
        town = Town(house, chance)
        for _ in range(cycles):
            if chance.random() < 0.8:
                town.wait_for_progress()
            threading.Event().wait(chance.random() * 0.3)  # anywhere in their life: chance is what is wanted here
            town.kill()
            town.come_back()
            row.times += 1
        town.note(row)
        for driver in town.drivers:
            driver.detach()
        stop_all(house, [driver.follower for driver in town.drivers])
    finally:
        house.__exit__()


def stop_all(house: House, followers: list[Follower]) -> None:
    caller = house.caller("end")
    for follower in followers:
        caller.call("conversation/interrupt", conversation=follower.conversation, kill=True)


def test_a_daemon_killed_at_random_keeps_every_promise(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", f"kill -9 at random, {CONVERSATIONS} conversations streaming") as row:
        kill_at_random(home, model, row, 5)


@pytest.mark.soak
def test_two_hundred_kills_at_random_keep_every_promise(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("K", f"kill -9 at random, {CONVERSATIONS} conversations streaming") as row:
        kill_at_random(home, model, row, 200)
