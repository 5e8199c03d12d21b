"""G: the daemon, agents, and what agents have begun are killed at random moments of turns."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.agent_harness import agents_of, begun_by_agents, config
from tests.faults.caller import WAIT_S, Caller, Gone, Message
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, until
from tests.faults.follower import TERMINAL, Follower, judge
from tests.faults.report import Row
from tests.faults.town import Driver, Town, settled

CONVERSATIONS = 5  # each starts a program after each kill
ENDLESS = "run bash -c 'trap : TERM; setsid sleep 300 & sleep 300; sleep 300'"  # until it is interrupted or killed
SCRIPTS = (
    "count 30",
    "run sleep 0.1; then say done",
    "ask sleep 0.05; then say done",
    ENDLESS,
    "leave sleep 0.3; then edit a.txt: words",
    "late afterwards; then say answered",
)


class AgentDriver(Driver):
    """A driver of a conversation with an agent, which says the key of each message back.

    Questions are answered, and commands without end interrupted, a random while later or never in this life.
    """

    scripts = SCRIPTS

    def __init__(self, conversation: str, chance: random.Random) -> None:
        super().__init__(conversation, chance)
        self.rests = False  # it says nothing new; what it has said goes on
        self._timers: list[threading.Timer] = []

    def say(self, *, again: bool = False) -> None:
        if not self.rests:
            super().say(again=again)

    def prompt(self, key: str) -> str:
        return f"say ({key}); then {super().prompt(key)}"

    def told(self, follower: Follower, event: Message) -> None:
        kind = event["event"]["type"]
        if kind == "approval_requested":
            self._later(lambda caller: self._answer(caller, event["event"]["approval_id"]), 0.1)
        elif kind == "work_began" and "300" in event["event"]["agent_call"]["title"]:
            self._later(self._interrupt, 0.3)
        super().told(follower, event)

    def rest(self, caller: Caller) -> None:
        """Say nothing new, and wait until nothing is on its way: a late interrupt would hit the next turn."""
        self.rests = True
        until(lambda: self._key in self.acknowledged, "the last message was never acknowledged")
        history = settled(caller, self.follower.conversation)
        self.follower.wait_seq(history[-1]["seq"])
        for timer in self._timers:
            timer.join()

    def settle(self, caller: Caller) -> None:
        """Answer the questions that outlived a kill."""
        for asked in caller.call("approvals/list", conversation=self.follower.conversation)["approvals"]:
            self._answer(caller, asked["approval_id"])

    def broken_promises(self, history: list[Message]) -> list[str]:
        said = "".join(one["event"]["message"] for one in history if one["event"]["type"] == "agent_message")
        times = {key: said.count(f"({key})") for key in self.acknowledged}
        twice = [f"{key} was carried out {count} times" for key, count in times.items() if count > 1]
        never = [
            f"{key} ended well and was never carried out" for key in self._done(history) if not times.get(key, 1)
        ]
        return [*super().broken_promises(history), *twice, *never]

    def _done(self, history: list[Message]) -> Iterator[str]:
        """The keys of messages whose turns have ended well."""
        ended = {one["turn"] for one in history if one["event"]["type"] == "task_complete"}
        failed = {one["turn"] for one in history if one["event"]["type"] == "error"}
        for one in history:
            if one["event"]["type"] == "user_message" and one["turn"] in ended - failed and one["event"].get("key"):
                yield one["event"]["key"]

    def _later(self, work: Callable[[Caller], Future[Message]], within_s: float) -> None:
        caller = self.caller

        def do() -> None:
            if caller is not None and caller is self.caller:
                work(caller).exception(WAIT_S)  # refused, if somebody or a kill was first

        self._timers.append(threading.Timer(self.chance.random() * within_s, do))
        self._timers[-1].start()

    def _answer(self, caller: Caller, approval: str) -> Future[Message]:
        decision = self.chance.choice(["approved", "approved", "denied"])
        return caller.start("approvals/answer", approval=approval, decision=decision)

    def _interrupt(self, caller: Caller) -> Future[Message]:
        kill = self.chance.random() < 0.3
        return caller.start("conversation/interrupt", conversation=self.follower.conversation, kill=kill)


class AgentTown:
    """A town whose conversations are carried out by agents."""

    def __init__(self, home: Path, times: int) -> None:
        self.chance = random.Random(times)
        self.harness = DaemonHarness(home, config("idle_park_seconds = 0"))
        self.drivers: list[AgentDriver] = []

    def __enter__(self) -> Town:
        return Town(self.harness, self.chance, self._drive, CONVERSATIONS)

    def __exit__(self, *_: object) -> None:
        self.harness.__exit__()

    def _drive(self, caller: Caller) -> AgentDriver:
        cwd = self.harness.home / f"ws-{len(self.drivers)}"
        cwd.mkdir()
        agent = self.chance.choice(["polite", "deaf"])
        self.drivers.append(AgentDriver(caller.create(agent=agent, cwd=str(cwd)), self.chance))
        return self.drivers[-1]


def kill_daemons(home: Path, row: Row, times: int) -> None:
    with AgentTown(home, times) as town:
        for number in range(times):
            if number > 0:
                with suppress(Gone):
                    town.come_back()
            time.sleep(town.chance.random() * 1.5)  # anywhere in their life: a start, a stop, a question, a command
            town.kill()
            row.times += 1
        town.come_back()
        note_ends(town, row)
        town.rest(row)


def kill_agents(home: Path, row: Row, times: int) -> None:
    """Kill one process below the daemon again and again: an agent, or what one has begun."""
    place = AgentTown(home, times)
    chance = place.chance
    with place as town:
        while row.times < times:
            time.sleep(chance.random() * 0.2)  # not for luck: when it dies is what is varied
            find = chance.choice([agents_of, begun_by_agents])
            if victims := list(find(town.harness)):
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(victims), signal.SIGKILL)
                    row.times += 1
        come_to_rest(town, place.drivers)
        note_ends(town, row)


def come_to_rest(town: Town, drivers: Sequence[AgentDriver]) -> None:
    """Say nothing new; then each turn has its end, all promises are kept, and the next turn is one like any other."""
    caller = town.harness.caller("judge")
    for driver in drivers:
        driver.rest(caller)
        conversation = driver.follower.conversation
        assert caller.send(conversation, "say fine", wait=True)["ending"] == "completed"
        history = settled(caller, conversation)  # it may have begun something by itself
        judge(history)
        assert not driver.broken_promises(history), driver.broken_promises(history)
    until(lambda: not begun_by_agents(town.harness), "something outlived the turn that it belongs to")


def note_ends(town: Town, row: Row) -> None:
    caller = town.harness.caller("notes")
    ends = Counter(
        one["event"].get("reason") or one["event"]["type"]
        for driver in town.drivers
        for one in caller.history(driver.follower.conversation)
        if one["event"]["type"] in TERMINAL
    )
    row.notes.append("turns: " + ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))


def test_a_daemon_that_dies_while_agents_work_keeps_every_promise(home: Path, measure: Measure) -> None:
    with measure("G", f"kill -9 of the daemon, {CONVERSATIONS} conversations") as row:
        kill_daemons(home, row, 3)


def test_an_agent_or_a_command_of_one_that_is_killed_ends_its_turn_and_no_other(home: Path, measure: Measure) -> None:
    with measure("G", f"kill -9 of agents and of their commands, {CONVERSATIONS} conversations") as row:
        kill_agents(home, row, 10)


@pytest.mark.soak(takes_s=500)
def test_two_hundred_kills_of_the_daemon_while_agents_work(home: Path, measure: Measure) -> None:
    with measure("G", f"kill -9 of the daemon, {CONVERSATIONS} conversations") as row:
        kill_daemons(home, row, 200)


@pytest.mark.soak(takes_s=60)
def test_two_hundred_kills_of_agents_and_of_their_commands(home: Path, measure: Measure) -> None:
    with measure("G", f"kill -9 of agents and of their commands, {CONVERSATIONS} conversations") as row:
        kill_agents(home, row, 200)
