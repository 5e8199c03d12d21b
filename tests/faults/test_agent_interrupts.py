"""G: interrupts of agents that are programs of others, in every situation, and of stubborn commands of theirs."""

import random
import shlex
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.faults.agent_harness import AgentScene, config
from tests.faults.caller import WAIT_S, Caller
from tests.faults.conftest import Measure
from tests.faults.daemon_harness import DaemonHarness, until
from tests.faults.report import Row
from tests.support.stubborn import Kind, kinds

NUMBERS = count(1)
TOGETHER = 6  # scenes at once: most of their time is grace
Prepare = Callable[[AgentScene], None]


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[DaemonHarness]:
    with DaemonHarness(tmp_path / "home", config()) as harness:
        yield harness
        assert not harness.complaints(), harness.complaints()


def streaming(scene: AgentScene) -> None:
    scene.say("count 5000")
    scene.follower.wait_delta()


def starting(scene: AgentScene) -> None:
    """The program has just been asked for."""
    scene.say("count 5000")


def silent(scene: AgentScene) -> None:
    scene.say("say so far; then slow 300")
    scene.follower.wait_delta()


def asking(scene: AgentScene) -> None:
    scene.say("ask touch made; then say never")
    scene.follower.wait_type("approval_requested")


def answering(scene: AgentScene) -> None:
    """The answer to its question and the interrupt are sent at the same moment."""
    scene.say("ask sleep 300; then say never")
    scene.follower.wait_type("approval_requested")
    asked = next(one for one in scene.follower.seen if one["event"]["type"] == "approval_requested")
    approval = asked["event"]["approval_id"]
    scene.caller.start("approvals/answer", approval=approval, decision="approved")


def commanding(scene: AgentScene) -> None:
    scene.say("run sleep 300")
    until(scene.living, "the command never ran")


def leaving(scene: AgentScene) -> None:
    """Nobody was told of a process that lives on in the agent's own group."""
    scene.say(f"leave {shlex.join(('bash', '-c', 'trap : TERM; sleep 300; sleep 300'))}; then slow 300")
    until(scene.living, "nothing was left, so nothing is proved")


def behind_the_answer(scene: AgentScene) -> None:
    """The prompt is answered, and the turn waits for what was begun in the background."""
    scene.say("start sleep 300; then say answered")
    scene.follower.wait_type("agent_message")
    until(scene.living, "nothing was left, so nothing is proved")


def last_moment(scene: AgentScene) -> None:
    """The last word and the interrupt come at the same moment."""
    scene.say("say so far; then slow 0.05")
    scene.follower.wait_delta()
    time.sleep(random.uniform(0.03, 0.07))  # not for luck: what comes first is what is varied


SITUATIONS: tuple[Prepare, ...] = (
    streaming,
    starting,
    silent,
    asking,
    answering,
    commanding,
    leaving,
    behind_the_answer,
    last_moment,
)


def stubborn(kind: Kind) -> Prepare:
    def prepare(scene: AgentScene) -> None:
        words = shlex.join(word.format(token=scene.token) for word in kind.argv)
        scene.say(f"run {words}")
        until(scene.living, f"{kind.name} never ran")
        time.sleep(random.uniform(0, 0.3))  # not for luck: it becomes stubborn meanwhile, or has not yet

    return prepare


def begun(agents: DaemonHarness, caller: Caller, prepare: Prepare, agent: str) -> AgentScene:
    scene = AgentScene(agents, caller, f"scene-{next(NUMBERS)}", agent)
    scene.open()
    prepare(scene)
    return scene


def interrupt(scenes: list[AgentScene], chance: random.Random, *, twice: bool) -> list[float]:
    """Interrupt each at a moment of its own, and check what must be true when its end is told."""
    took: list[float] = []
    for scene in scenes:
        time.sleep(chance.uniform(0, 0.05))  # not for luck: when it comes is what is varied
        took_since(
            time.monotonic(), took, scene.caller.start("conversation/interrupt", conversation=scene.conversation)
        )
        if twice:
            scene.caller.start("conversation/interrupt", conversation=scene.conversation, kill=True)
    for scene in scenes:
        scene.ended(1)
        assert not scene.left, f"the turn of {scene.name} had ended, its processes had not: {scene.left}"
    for scene in scenes:
        scene.check_next_turn()
    return took


def took_since(began: float, took: list[float], answer: "Future[Any]") -> None:
    answer.add_done_callback(lambda _: took.append(time.monotonic() - began))


def matrix(agents: DaemonHarness, row: Row, trials: list[tuple[Prepare, str]], *, twice: bool = False) -> None:
    """Try all of them, some at a time, each in a conversation of its own."""
    caller, chance, took = agents.caller("client"), random.Random(len(trials)), []
    for first in range(0, len(trials), TOGETHER):
        scenes = [begun(agents, caller, *trial) for trial in trials[first : first + TOGETHER]]
        took += interrupt(scenes, chance, twice=twice)
        row.times += len(scenes)
    row.notes.append(f"ended in {statistics.median(took):.2f} s at the median, {max(took):.2f} s at most")
    assert max(took) < WAIT_S


def situations(times: int) -> list[tuple[Prepare, str]]:
    """Each situation with an agent that hears, and the next time with one that doesn't."""
    kinds_of_agent = ("polite", "deaf", "helped", "term_deaf")
    return [(one, kinds_of_agent[number % len(kinds_of_agent)]) for number in range(times) for one in SITUATIONS]


def test_an_interrupt_of_an_agent_in_any_situation_leaves_nothing_of_the_turn(
    agents: DaemonHarness, measure: Measure
) -> None:
    with measure("G", f"interrupts in {len(SITUATIONS)} situations") as row:
        matrix(agents, row, situations(1))


def test_an_interrupt_of_an_agent_ends_stubborn_commands_with_all_they_started(
    agents: DaemonHarness, measure: Measure
) -> None:
    chosen = random.Random(time.time_ns()).sample(kinds(), 3)
    with measure("G", "interrupts of stubborn commands") as row:
        matrix(agents, row, [(stubborn(kind), "polite") for kind in chosen])


def test_a_second_interrupt_of_an_agent_kills_what_the_first_one_waits_for(
    agents: DaemonHarness, measure: Measure
) -> None:
    with measure("G", "second interrupts") as row:
        matrix(agents, row, [(streaming, "term_deaf"), (commanding, "deaf"), (asking, "polite")], twice=True)


@pytest.mark.soak(takes_s=150)
def test_two_hundred_interrupts_of_agents(agents: DaemonHarness, measure: Measure) -> None:
    with measure("G", f"interrupts in {len(SITUATIONS)} situations") as row:
        matrix(agents, row, situations(24))


@pytest.mark.soak(takes_s=150)
def test_two_hundred_interrupts_of_stubborn_commands_of_agents(agents: DaemonHarness, measure: Measure) -> None:
    with measure("G", f"interrupts of {len(kinds())} kinds of stubborn command") as row:
        trials = [(stubborn(kind), "polite") for kind in kinds()]
        matrix(agents, row, (trials * (200 // len(trials) + 1))[:200])


@pytest.mark.soak(takes_s=100)
def test_two_hundred_second_interrupts_of_agents(agents: DaemonHarness, measure: Measure) -> None:
    with measure("G", "second interrupts, in situations and of stubborn commands") as row:
        trials = [*situations(4), *((stubborn(kind), "term_deaf") for kind in kinds())]
        matrix(agents, row, (trials * (200 // len(trials) + 1))[:200], twice=True)
