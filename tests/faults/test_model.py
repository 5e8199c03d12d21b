"""M: the whole daemon through its API against a small model: what was accepted is taken once, and nothing is lost.

The model knows four things of each conversation: its name, whether it is archived, what it was told, and what holds
its turn. It knows nothing of how the daemon does it.
"""

import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from tests.faults.caller import Caller, Message
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, until
from tests.faults.follower import Follower, judge, open_turns
from tests.faults.report import Row
from tests.support.model_server import ModelServer

NUMBERS = count(1)
NAMES = st.sampled_from(["one", "two", "three"])


@dataclass(slots=True)
class Expected:
    conversation: str
    follower: Follower
    name: str | None = None  # that a client gave it; without one its first message may have
    nameless: bool = False  # a client took it away
    archived: bool = False
    told: list[str] = field(default_factory=list)  # every prompt that was accepted, in order
    gate: str = ""  # the model's answer waits there
    question: bool = False  # the turn waits for an answer
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        return bool(self.gate) or self.question


class DaemonMachine(RuleBasedStateMachine):
    harness: ClassVar[DaemonHarness]
    model: ClassVar[ModelServer]
    row: ClassVar[Row]
    deaths: ClassVar[bool] = False

    conversations = Bundle("conversations")

    @initialize(target=conversations)
    def connect(self) -> MultipleResults[str]:
        self.callers = [self.harness.caller("one"), self.harness.caller("two")]
        self.known: dict[str, Expected] = {}
        self.before = self.rows()
        self.started = len(self.harness.ready_s)
        return multiple(*(self.create_one(None) for _ in range(3)))

    def teardown(self) -> None:
        if not hasattr(self, "known"):
            return
        for expected in list(self.known.values()):
            self.settle(expected)
            self.check(expected)
            self.caller.delete(expected.conversation)
        assert self.rows() == self.before, "conversations were left, or others were lost"
        self.harness.leave()

    @property
    def caller(self) -> Caller:
        self.row.times += 1
        return self.callers[self.row.times % 2]

    def rows(self) -> dict[str, Message]:
        listed = self.callers[0].call("conversation/list", archived=True, limit=1000)["conversations"]
        return {one["conversation"]: {"name": one["name"], "archived": one["archived"]} for one in listed}

    # --- what clients do ------------------------------------------------------------------------------------------

    @rule(target=conversations, name=st.none() | NAMES)
    def create(self, name: str | None) -> str:
        return self.create_one(name)

    def create_one(self, name: str | None) -> str:
        if any(one.name == name for one in self.known.values() if name):
            self.callers[0].refusal("conversation/create", name=name)
            name = None
        conversation = self.caller.create(name=name, approval_policy="untrusted")
        self.known[conversation] = Expected(conversation, Follower(conversation), name)
        self.known[conversation].follower.attach(self.callers[0])
        return conversation

    @rule(conversation=conversations, if_busy=st.sampled_from(["steer", "enqueue", "reject"]))
    def say(self, conversation: str, if_busy: str) -> None:
        expected = self.hears(conversation)
        if expected is None:
            return
        words = f"say {next(NUMBERS)}"
        if expected.busy and if_busy == "reject":
            refusal = self.caller.refusal(
                "conversation/send", conversation=conversation, prompt=words, if_busy=if_busy
            )
            assert refusal.data.get("turn"), "a refusal because of a turn names it"
            return
        answer = self.caller.send(conversation, words, if_busy=if_busy)
        assert answer["queued"] or not expected.busy, "input for a busy conversation is not said to wait"
        expected.told.append(words)
        if not expected.busy:
            self.settle(expected)

    @rule(conversation=conversations)
    def say_twice_under_one_key(self, conversation: str) -> None:
        expected = self.hears(conversation)
        if expected is None:
            return
        words, key = f"say {next(NUMBERS)}", str(uuid.uuid4())
        answers = [self.callers[number].send(conversation, words, key=key, if_busy="enqueue") for number in (0, 1)]
        assert [one["duplicate"] for one in answers] == [False, True]
        assert answers[0]["input"] == answers[1]["input"]
        expected.told.append(words)
        if not expected.busy:
            self.settle(expected)

    @rule(conversation=conversations)
    def begin_a_turn_that_waits_for_its_model(self, conversation: str) -> None:
        expected = self.hears(conversation)
        if expected is None or expected.busy:
            return
        gate = f"gate-{next(NUMBERS)}"
        words = f"hold {gate}; say late"
        self.caller.send(conversation, words)
        expected.told.append(words)
        self.model.wait_held(gate)
        expected.gate = gate

    @rule(conversation=conversations)
    def begin_a_turn_that_asks(self, conversation: str) -> None:
        expected = self.hears(conversation)
        if expected is None or expected.busy:
            return
        asked = expected.follower.count("approval_requested")
        words = f'call shell ["touch","/nowhere/{next(NUMBERS)}"]; then; say done'
        self.caller.send(conversation, words)
        expected.told.append(words)
        expected.follower.wait_type("approval_requested", asked + 1)
        expected.question = True

    @rule(conversation=conversations, decision=st.sampled_from(["approved", "denied"]))
    def answer(self, conversation: str, decision: str) -> None:
        expected = self.of(conversation)
        if expected is None or not expected.question:
            return
        listed = self.caller.call("approvals/list", conversation=conversation)["approvals"]
        assert len(listed) == 1
        approval = listed[0]["approval_id"]
        self.caller.call("approvals/answer", approval=approval, decision=decision)
        self.callers[1].refusal("approvals/answer", approval=approval, decision="approved")
        expected.question = False
        self.settle(expected)

    @rule(conversation=conversations)
    def let_the_model_speak(self, conversation: str) -> None:
        expected = self.of(conversation)
        if expected is not None and expected.gate:
            self.model.open(expected.gate)
            expected.gate = ""
            self.settle(expected)

    @rule(conversation=conversations)
    def interrupt(self, conversation: str) -> None:
        expected = self.of(conversation)
        if expected is None:
            return
        ended = self.caller.call("conversation/interrupt", conversation=conversation)
        assert (ended["turn"] is not None) == expected.busy, "an interrupt of nothing hit something, or the reverse"
        expected.gate, expected.question = "", False
        assert not self.caller.call("approvals/list", conversation=conversation)["approvals"]

    @rule(conversation=conversations, name=st.none() | NAMES)
    def rename(self, conversation: str, name: str | None) -> None:
        expected = self.of(conversation)
        if expected is None:
            return
        if name and any(one.name == name for one in self.known.values() if one is not expected):
            self.callers[0].refusal("conversation/rename", conversation=conversation, name=name)
            return
        self.caller.call("conversation/rename", conversation=conversation, name=name)
        expected.nameless = name is None and (expected.nameless or expected.name is not None)
        expected.name = name

    @rule(conversation=conversations, archived=st.booleans())
    def archive(self, conversation: str, archived: bool) -> None:
        expected = self.of(conversation)
        if expected is None:
            return
        self.settle(expected)  # an archived one takes no input, nor what waits from before
        self.caller.call("conversation/archive", conversation=conversation, archived=archived)
        expected.archived = archived

    @rule(target=conversations, conversation=conversations)
    def fork(self, conversation: str) -> str:
        expected = self.of(conversation)
        if expected is None or expected.busy:
            return conversation
        self.settle(expected)
        forked = str(self.caller.call("conversation/fork", conversation=conversation)["conversation"])
        self.known[forked] = Expected(forked, Follower(forked), told=list(expected.told))
        self.known[forked].follower.attach(self.callers[1])
        return forked

    @rule(conversation=consumes(conversations))
    def delete(self, conversation: str) -> None:
        expected = self.known.get(conversation)
        if expected is not None:
            if expected.busy:
                self.callers[0].refusal("conversation/delete", conversation=conversation)
                self.caller.call("conversation/interrupt", conversation=conversation)
                expected.gate, expected.question = "", False
            self.settle(expected)
            self.caller.delete(conversation)
            del self.known[conversation]
            refusal = self.callers[1].refusal("conversation/get", conversation=conversation)
            assert refusal.name == "unknown_conversation"

    @rule()
    def look_at_the_list(self) -> None:
        rows = self.rows()
        assert set(rows) - set(self.before) == set(self.known)
        for conversation, expected in self.known.items():
            assert rows[conversation]["archived"] == expected.archived
            name = rows[conversation]["name"]
            assert name == expected.name or (expected.name is None and name is not None and not expected.nameless)
        names = [row["name"] for row in rows.values() if row["name"]]
        assert len(set(names)) == len(names), "two have the same name"

    @rule(chance=st.integers(0, 9))
    def die(self, chance: int) -> None:
        """Kill the daemon: open questions stay open, and what ran is lost, once."""
        if not self.deaths or chance or len(self.harness.ready_s) > self.started + 2:
            return
        self.harness.kill()
        self.harness.start()
        self.callers = [self.harness.caller("one"), self.harness.caller("two")]
        for expected in self.known.values():
            expected.gate = ""
            expected.follower.attach(self.callers[0])

    # --- what must be true ----------------------------------------------------------------------------------------

    def of(self, conversation: str) -> Expected | None:
        return self.known.get(conversation)

    def hears(self, conversation: str) -> Expected | None:
        """A conversation that takes input: an archived one refuses it."""
        expected = self.known.get(conversation)
        if expected is not None and expected.archived:
            self.callers[1].refusal("conversation/send", conversation=conversation, prompt="say no")
            return None
        return expected

    def settle(self, expected: Expected) -> None:
        """Wait until nothing runs and nothing waits; resume queues that an interrupt has paused."""
        caller = self.callers[0]
        if expected.gate:
            self.model.open(expected.gate)
            expected.gate = ""
        if expected.question:
            caller.call("conversation/interrupt", conversation=expected.conversation)
            expected.question = False

        def idle() -> bool:
            now = caller.call("conversation/get", conversation=expected.conversation)
            if now["paused"] and now["turn"] is None:
                caller.call("conversation/resume_queue", conversation=expected.conversation)
                return False
            return now["turn"] is None and not now["queued"]

        until(idle, f"{expected.conversation} never came to rest")
        self.check(expected)

    def check(self, expected: Expected) -> None:
        caller = self.callers[1]
        history: list[Message] = []

        def stored() -> bool:
            history[:] = caller.history(expected.conversation)
            return not open_turns(history)

        until(stored, "the end of a turn is not stored")
        judge(history)
        taken = [one["event"]["message"] for one in history if _said(one)]
        assert Counter(taken) == Counter(expected.told), f"told {expected.told}, taken {taken}"
        expected.follower.wait_seq(history[-1]["seq"])
        expected.follower.check(history)


def _said(one: Message) -> bool:
    return bool(one["event"]["type"] == "user_message" and one["event"]["kind"] == "plain")


def play(harness: DaemonHarness, model: ModelServer, row: Row, examples: int, steps: int, *, deaths: bool) -> None:
    machine = type("Machine", (DaemonMachine,), {"harness": harness, "model": model, "row": row, "deaths": deaths})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_daemon_behaves_as_its_model(harness: DaemonHarness, shared_model: ModelServer, measure: Measure) -> None:
    with measure("M", "requests in random order, against a model") as row:
        play(harness, shared_model, row, examples=10, steps=30, deaths=False)


@pytest.mark.soak(takes_s=150)
def test_the_daemon_behaves_as_its_model_for_long(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    with measure("M", "requests in random order, against a model") as row:
        play(harness, shared_model, row, examples=300, steps=60, deaths=False)


@pytest.mark.soak(takes_s=60)
def test_the_daemon_behaves_as_its_model_over_deaths(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    with measure("M", "requests and kill -9 in random order, against a model") as row:
        play(harness, shared_model, row, examples=60, steps=60, deaths=True)
