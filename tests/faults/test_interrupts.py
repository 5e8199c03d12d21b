"""I: interrupts in every situation, each followed by a new turn whose request the model server judges."""

import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from tests.faults.caller import WAIT_S, Caller
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, until
from tests.faults.follower import TERMINAL, Follower, judge
from tests.faults.report import Row
from tests.support.model_server import ModelServer
from tests.support.stubborn import Kind, kinds

NUMBERS = count(1)
LIAR = "marks_of_others"  # it has the marks of another turn, and must end with its own
TOGETHER_S = 3.0  # for all stubborn kinds interrupted at once: 0.3 alone, 0.6 on a machine with much else to do


@dataclass(slots=True)
class Scene:
    """One conversation whose turn is about to be interrupted by all of its clients at once."""

    harness: DaemonHarness
    model: ModelServer
    clients: list[Caller]
    name: str
    conversation: str = ""
    follower: Follower = None  # type: ignore[assignment]  # set by `begin`, before anybody looks

    @property
    def token(self) -> str:
        """A word in the command's arguments, so that it is found even if it cleans its environment."""
        return f"{self.harness.home}/{self.name}"

    def begin(self, script: str, policy: str = "never") -> None:
        self.conversation = self.clients[0].create(approval_policy=policy)
        self.follower = Follower(self.conversation)
        self.follower.attach(self.clients[0])
        self.clients[0].send(self.conversation, script)


Prepare = Callable[[Scene], None]


def streaming(scene: Scene) -> None:
    scene.begin("slow 2; stream 5000 word")
    scene.follower.wait_delta()


def stalled(scene: Scene) -> None:
    scene.begin("say some; stall forever")
    scene.follower.wait_delta()


def silent(scene: Scene) -> None:
    """The model has taken the request and is silent."""
    scene.begin(f"hold {scene.name}")
    scene.model.wait_held(scene.name)


def retrying(scene: Scene) -> None:
    scene.begin("status 500 retry-after=60 times=all")
    scene.follower.wait_type("stream_error")


def asking(scene: Scene) -> None:
    scene.begin('call shell ["touch","/nowhere/at/all"]; then; say done', policy="untrusted")
    scene.follower.wait_type("approval_requested")


def starting(scene: Scene) -> None:
    """The interrupt is sent right behind the prompt's answer, without any wait."""
    scene.begin("slow 2; stream 5000 word")


def last_moment(scene: Scene) -> None:
    """The model's last word and the interrupt are sent at the same moment."""
    scene.begin(f"say all; hold {scene.name}")
    scene.model.wait_held(scene.name)
    scene.model.open(scene.name)


def commanding(scene: Scene) -> None:
    scene.begin('call shell ["sleep","300"]')
    scene.follower.wait_type("work_began")


def leaving_something(scene: Scene) -> None:
    """The command has ended, its child has not; the model goes on meanwhile."""
    scene.begin('call shell ["bash","-c","setsid sleep 300 >/dev/null 2>&1 &"]; then; say some; stall forever')
    scene.follower.wait_type("work_ended")
    scene.follower.wait_delta()
    until(scene.harness.processes, "nothing was left, so nothing is proved")


SITUATIONS: tuple[Prepare, ...] = (
    streaming,
    stalled,
    silent,
    retrying,
    asking,
    starting,
    last_moment,
    commanding,
    leaving_something,
)


def stubborn(kind: Kind) -> Prepare:
    def prepare(scene: Scene) -> None:
        set_off(scene, kind)
        wait_until_it_runs(scene, kind)

    prepare.__name__ = kind.name
    return prepare


def set_off(scene: Scene, kind: Kind) -> None:
    words = ",".join(f'"{word.format(token=scene.token)}"' for word in _quoted(kind.argv))
    scene.begin(f"call shell [{words}]")


def wait_until_it_runs(scene: Scene, kind: Kind) -> None:
    if kind.says_ready:
        scene.follower.wait_delta()
    else:
        scene.follower.wait_type("work_began")


def _quoted(argv: tuple[str, ...]) -> Iterator[str]:
    yield from (word.replace("\\", "\\\\").replace('"', '\\"') for word in argv)


def interrupted(scene: Scene, prepare: Prepare) -> float:
    """Interrupt, and check all that must be true afterwards; the seconds until the answer."""
    prepare(scene)
    began = time.monotonic()
    answers = [one.start("conversation/interrupt", conversation=scene.conversation) for one in scene.clients]
    results = [answer.result(WAIT_S) for answer in answers]
    took = time.monotonic() - began
    scene.follower.wait(lambda: scene.follower.count(*TERMINAL) == 1, "the turn had no end")
    assert not scene.harness.processes(), "the turn has ended, its processes have not"
    told = {result["turn"] for result in results} - {None}
    assert told <= {one["turn"] for one in scene.follower.seen}
    check_next_turn(scene)
    return took


def check_next_turn(scene: Scene) -> None:
    words = f"say next {scene.name}"
    caller = scene.clients[-1]
    assert caller.send(scene.conversation, words, wait=True)["ending"] == "completed"
    history = caller.history(scene.conversation)
    judge(history)
    scene.follower.wait_seq(history[-1]["seq"])
    scene.follower.check(history)
    ends = [one["event"]["type"] for one in history if one["event"]["type"] in TERMINAL]
    assert len(ends) == 2, ends
    asked = [one for one in scene.model.requests[-40:] if words in str(one.body["messages"][-1])]
    assert len(asked) == 1, "the next turn asked the model once"
    assert not faults_of(asked[0].body), faults_of(asked[0].body)
    caller.delete(scene.conversation)


def faults_of(body: dict[str, Any]) -> list[str]:
    """Faults of a chat request: all that a model's server would refuse or a reader would find odd."""
    faults: list[str] = []
    waiting: list[str] = []
    users: Counter[str] = Counter()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                faults.append(f"an output of nothing: {message}")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            faults.append(f"{message['role']} comes before the outputs of {waiting}")
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] == "user":
            users[str(message["content"])] += 1
        if message["role"] == "assistant" and not message.get("content") and not waiting:
            faults.append("an assistant message without anything in it")
    faults += [f"calls without an output: {waiting}"] if waiting else []
    return faults + [f"said {times} times: {text}" for text, times in users.items() if times > 1]


def matrix(harness: DaemonHarness, model: ModelServer, row: Row, prepares: list[Prepare], clients: int) -> None:
    callers = [harness.caller(f"client-{number}") for number in range(clients)]
    took = []
    for prepare in prepares:
        scene = Scene(harness, model, callers, f"{prepare.__name__}-{next(NUMBERS)}")
        took.append(interrupted(scene, prepare))
        row.times += 1
    note(row, took)


def note(row: Row, took: list[float]) -> None:
    took.sort()
    row.notes.append(f"answered in {statistics.median(took) * 1e3:.1f} ms at the median")
    row.notes.append(f"{took[-1 - len(took) // 100] * 1e3:.0f} ms at p99")


def side_by_side(harness: DaemonHarness, model: ModelServer, caller: Caller) -> list[float]:
    """Interrupt all stubborn kinds at once, each in its conversation: each turn ends by itself."""
    cast = [(Scene(harness, model, [caller], f"{kind.name}-{next(NUMBERS)}"), kind) for kind in kinds()]
    for scene, kind in cast:
        set_off(scene, kind)
    for scene, kind in cast:
        wait_until_it_runs(scene, kind)
    began = time.monotonic()
    answers = [caller.start("conversation/interrupt", conversation=scene.conversation) for scene, _ in cast]
    took = []
    for (scene, kind), answer in zip(cast, answers, strict=True):
        assert answer.result(WAIT_S)["ending"] == "interrupted"
        took.append(time.monotonic() - began)
        left = harness.processes(scene.token, f"GREENROOM_CONVERSATION={scene.conversation}")
        assert not [line for line in left.values() if kind.name == LIAR or LIAR not in line], kind.name
    assert not harness.processes(), "every turn has ended, and something runs"
    assert took[-1] < TOGETHER_S, "one command held up the others"
    for scene, _ in cast:
        scene.follower.wait(lambda scene=scene: scene.follower.count(*TERMINAL) == 1, "the turn had no end")  # type: ignore[misc]  # mypy knows no defaults in lambdas
        check_next_turn(scene)
    return took


def test_an_interrupt_in_any_situation_ends_the_turn_once_and_the_next_is_well_formed(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    with measure("I", f"{len(SITUATIONS)} situations, two clients at once") as row:
        matrix(harness, shared_model, row, [*SITUATIONS] * 3, clients=2)


def test_an_interrupt_ends_stubborn_commands_with_all_they_started(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    chosen = random.Random(time.time_ns()).sample(kinds(), 5)
    with measure("I", "stubborn commands, one by one") as row:
        matrix(harness, shared_model, row, [stubborn(kind) for kind in chosen], clients=1)


def test_an_interrupt_of_all_stubborn_commands_at_once_ends_each(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    with measure("I", f"{len(kinds())} kinds of stubborn command, all at once") as row:
        took = side_by_side(harness, shared_model, harness.caller("client"))
        row.times = len(took)
        note(row, took)


@pytest.mark.soak(takes_s=150)
@pytest.mark.parametrize("clients", [1, 2, 5])
def test_two_hundred_interrupts_in_each_situation(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure, clients: int
) -> None:
    with measure("I", f"{len(SITUATIONS)} situations, {clients} clients at once") as row:
        matrix(harness, shared_model, row, [*SITUATIONS] * (200 if clients == 2 else 50), clients)


@pytest.mark.soak
def test_interrupts_of_stubborn_commands_again_and_again(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    """Ten of each alone, the rest with all other kinds beside it: most of the time is their grace period."""
    with measure("I", f"{len(kinds())} kinds of stubborn command, one by one") as row:
        matrix(harness, shared_model, row, [stubborn(kind) for kind in kinds()] * 10, clients=1)


@pytest.mark.soak(takes_s=200)
def test_two_hundred_times_all_stubborn_commands_at_once(
    harness: DaemonHarness, shared_model: ModelServer, measure: Measure
) -> None:
    with measure("I", f"{len(kinds())} kinds of stubborn command, all at once") as row:
        caller, took = harness.caller("client"), []
        for _ in range(200):
            took += side_by_side(harness, shared_model, caller)
        row.times = len(took)
        note(row, took)


def test_a_request_that_is_not_well_formed_is_noticed() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
    output = {"role": "tool", "tool_call_id": "a", "content": "x"}
    said = {"role": "user", "content": "hello"}
    assert not faults_of({"messages": [said, call, output]})
    assert faults_of({"messages": [said, call]})
    assert faults_of({"messages": [said, output]})
    assert faults_of({"messages": [said, call, said]})
    assert faults_of({"messages": [said, call, output, output]})
