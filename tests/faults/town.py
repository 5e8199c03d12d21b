"""Conversations that are driven while the daemon is killed, and what must be true when it has come back."""

import random
import statistics
import threading
from collections.abc import Callable, Sequence

from tests.faults.caller import Caller, Gone, Message
from tests.faults.daemon_harness import DaemonHarness, until
from tests.faults.follower import TERMINAL, Follower, judge, keys, open_turns, taken
from tests.faults.report import Row

SCRIPTS = (
    "slow 5; stream 60 word",
    'call shell ["sleep","0.03"]; then; slow 2; stream 20 word',
    'call update_plan {"plan":[{"step":"a","status":"pending"}]}; then; call shell ["sleep","0.02"]; then; say b',
    'call shell ["bash","-c","setsid sleep 300 & sleep 300"]',
)


class Driver:
    """A driver of one conversation: the next prompt when a turn has ended, each under its own key."""

    scripts: Sequence[str] = SCRIPTS

    def __init__(self, conversation: str, chance: random.Random) -> None:
        self.follower = Follower(conversation, self.told)
        self.acknowledged: dict[str, int] = {}  # key -> seq
        self.asked = 0
        self._taken = 0  # of those; the others are answered for, on their way or wait
        self._key = ""
        self.chance = chance
        self.caller: Caller | None = None
        self._lock = threading.Lock()

    def attach(self, caller: Caller) -> None:
        """Attach after a kill: read on from the cursor, and repeat the requests that were not answered."""
        self.caller = caller
        self.follower.attach(caller)
        self.say(again=self._key not in self.acknowledged)

    def detach(self) -> None:
        self.caller = None

    def say(self, *, again: bool = False) -> None:
        caller = self.caller
        if caller is None:
            return
        with self._lock:
            if not again or not self._key:
                self.asked += 1
                self._key = f"{self.follower.conversation}-{self.asked}"
            key = self._key
        prompt = self.prompt(key)
        answer = caller.start(
            "conversation/send", conversation=self.follower.conversation, prompt=prompt, key=key, if_busy="enqueue"
        )
        answer.add_done_callback(lambda done: self._answered(key, done.exception() or done.result()))

    def prompt(self, _key: str) -> str:
        return self.chance.choice(self.scripts)

    def settle(self, caller: Caller) -> None:
        """Do what the turns that outlived a kill wait for."""

    def _answered(self, key: str, answer: object) -> None:
        match answer:
            case {"seq": int(seq)}:
                self.acknowledged[key] = seq
            case Gone():
                pass  # the daemon was killed: it is asked again under the same key
            case _:
                self.follower.wrong.append(f"send was answered with {answer!r}")

    def told(self, _: Follower, event: Message) -> None:
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
    """A daemon with driven conversations, and checks after each restart. `drive` begins one of them."""

    def __init__(
        self,
        harness: DaemonHarness,
        chance: random.Random,
        drive: Callable[[Caller], Driver],
        conversations: int,
    ) -> None:
        self.harness = harness
        self.chance = chance
        harness.start()
        caller = harness.caller("driver")
        self.drivers = [drive(caller) for _ in range(conversations)]
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
            driver.settle(caller)
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
