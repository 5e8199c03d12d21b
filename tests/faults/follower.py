"""A reader of one conversation that outlives daemons, and the judge of what a history must look like."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from tests.faults.caller import WAIT_S, Caller, Message

ONE_EVENT = {"search", "picture"}  # kinds of work that have no beginning
TERMINAL = frozenset({"task_complete", "turn_aborted"})
PAIRS = {
    "tool_call": "tool_output",
    "work_began": "work_ended",
}


class Follower:
    """A reader that attaches again and again by its cursor. `wrong`: events lost, doubled or out of order."""

    def __init__(self, conversation: str, told: Callable[["Follower", Message], None] | None = None) -> None:
        self.conversation = conversation
        self.seen: list[Message] = []
        self.wrong: list[str] = []
        self.deltas = 0
        self.lagged = 0
        self.ended: str | None = None
        self.changed = threading.Condition()
        self._told = told

    @property
    def cursor(self) -> int:
        return int(self.seen[-1]["seq"]) if self.seen else 0

    def attach(self, caller: Caller) -> str:
        self.ended = None
        answer = caller.call("conversation/attach", conversation=self.conversation, after=self.cursor)
        subscription = str(answer["subscription"])
        caller.listen(subscription, self.take)
        return subscription

    def take(self, message: Message) -> None:
        params = message["params"]
        with self.changed:
            if message["method"] == "ended":
                self.ended = params["reason"]
            else:
                self.lagged += bool(params["lagged"])
                if params.get("gap"):
                    self.wrong.append(f"a gap was announced: {params['gap']}")
                for event in params["events"]:
                    self._keep(event)
            self.changed.notify_all()

    def _keep(self, event: Message) -> None:
        if event["seq"] is None:
            self.deltas += 1
            return
        if event["seq"] != self.cursor + 1:
            self.wrong.append(f"{event['seq']} came after {self.cursor}")
        self.seen.append(event)
        if self._told is not None:
            self._told(self, event)

    def wait(self, condition: Callable[[], bool], otherwise: str, limit_s: float = WAIT_S) -> None:
        deadline = time.monotonic() + limit_s
        with self.changed:
            while not condition():
                left = deadline - time.monotonic()
                assert left > 0, f"{otherwise}; seen: {[one['event']['type'] for one in self.seen[-20:]]}"
                self.changed.wait(left)

    def wait_type(self, kind: str, count: int = 1, limit_s: float = WAIT_S) -> None:
        self.wait(lambda: self.count(kind) >= count, f"{count} x {kind} never came", limit_s)

    def wait_seq(self, seq: int) -> None:
        self.wait(lambda: self.cursor >= seq, f"event {seq} never came")

    def wait_delta(self, count: int = 1) -> None:
        self.wait(lambda: self.deltas >= count, "no delta came")

    def count(self, *kinds: str) -> int:
        return sum(one["event"]["type"] in kinds for one in self.seen)

    def check(self, history: Sequence[Message]) -> None:
        """Assert that the reader was shown exactly what is stored."""
        assert not self.wrong, self.wrong
        assert self.seen == list(history[: len(self.seen)]), "what was shown differs from what is stored"


def judge(history: Sequence[Message], *, settled: bool = True) -> None:
    """Assert dense numbers, one end of every turn and nothing of it afterwards, pairs that balance."""
    assert [one["seq"] for one in history] == list(range(1, len(history) + 1)), "the numbers are not dense"
    begun: dict[str, bool] = {}  # turn -> whether it has ended
    waits: Counter[tuple[str, str]] = Counter()
    inputs: Counter[str] = Counter()
    for one in history:
        event, turn = one["event"], one["turn"]
        kind = event["type"]
        if kind == "task_started":
            assert turn not in begun, f"turn {turn} was started twice"
            begun[turn] = False
        elif kind in TERMINAL:
            assert begun.get(turn) is False, f"turn {turn} ended twice or never began"
            begun[turn] = True
            assert not +waits, f"{kind} with {dict(+waits)} unfinished"
        elif turn is not None:
            assert begun.get(turn) is False, f"{kind} of turn {turn} outside of it"
        if kind == "user_message" and event["input_id"]:
            inputs[event["input_id"]] += 1
        if kind in PAIRS:
            waits[kind, event["call_id"]] += 1
        for begin, end in PAIRS.items():
            if kind == end and event.get("kind") not in ONE_EVENT:
                waits[begin, event["call_id"]] -= 1
                assert waits[begin, event["call_id"]] == 0, f"{kind} without {begin}"
    assert all(count == 1 for count in inputs.values()), f"taken twice: {inputs}"
    if settled:
        assert all(begun.values()), f"turns without an end: {begun}"


def open_turns(history: Sequence[Message]) -> set[str]:
    """Turns that began and have no end yet."""
    begun = {one["turn"] for one in history if one["event"]["type"] == "task_started"}
    return begun - {one["turn"] for one in history if one["event"]["type"] in TERMINAL}


def keys(history: Sequence[Message]) -> Counter[str]:
    """The number of times each idempotency key was taken."""
    return Counter(one["event"]["key"] for one in history if one["event"].get("key") and taken(one))


def taken(one: Message) -> bool:
    return bool(one["event"]["type"] == "user_message")
