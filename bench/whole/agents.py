"""The cost of supervising a third-party agent, next to the same agent spoken to directly over its pipe."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.whole.direct_agent import PROGRAM, DirectAgent, read_alone
from bench.whole.rows import Figure, p50, p99
from tests.faults.caller import Caller, Message
from tests.faults.daemon_harness import DEMO, DaemonHarness

TURNS, CONVERSATIONS = 300, 5
DELTAS, LINES = 30_000, 2_000
STARTS = 15
WEIGHED = 40  # after as many that were there before
DIRECTLY = "directly"
READ = "read directly"
CONFIG = f"""{DEMO}
agent = "scripted"
[agents.scripted]
command = "{sys.executable}"
args = ["{PROGRAM}"]
confine = "none"
[greenroom]
limits.agents = 200
"""


@dataclass(frozen=True, slots=True)
class AgentStage:
    harness: DaemonHarness
    caller: Caller

    def begin(self) -> str:
        """A conversation whose agent is warm."""
        conversation = self.caller.create()
        self.turn_ms(conversation, "say x")
        return conversation

    def turn_ms(self, conversation: str, words: str) -> float:
        began = time.perf_counter()
        ending = self.caller.send(conversation, words, wait=True)["ending"]
        assert ending == "completed", ending
        return (time.perf_counter() - began) * 1e3

    def end(self, *conversations: str) -> None:
        for conversation in conversations:
            self.caller.delete(conversation)


@contextmanager
def agent_stage(home: Path) -> Iterator[AgentStage]:
    with DaemonHarness(home, CONFIG) as harness:
        yield AgentStage(harness, harness.caller("bench"))


class OutputReader:
    """A reader that counts the characters of output that it gets, until a turn is over."""

    def __init__(self, caller: Caller, conversation: str) -> None:
        self.characters = 0
        self.done = threading.Event()
        answer = caller.call("conversation/attach", conversation=conversation, after=None)
        caller.listen(answer["subscription"], self._take)

    def _take(self, message: Message) -> None:
        for envelope in message["params"].get("events", ()):
            if envelope["event"]["type"] == "work_output":
                self.characters += len(envelope["event"]["delta"])
            elif envelope["event"]["type"] == "task_complete":
                self.done.set()


def part(directory: Path) -> list[Figure]:
    with agent_stage(directory / "home") as stage:
        return [
            *weight(stage),
            *turns(stage, directory),
            *starts(stage, directory),
            *stream(stage),
            *resent(stage),
        ]


def turns(stage: AgentStage, directory: Path) -> list[Figure]:
    """A turn with us and a turn without, one after the other, so that both have the same hour of the machine."""
    made = [stage.begin() for _ in range(CONVERSATIONS)]
    times, bare = [], []
    with DirectAgent(directory) as agent:
        for number in range(TURNS):
            began = time.perf_counter()
            agent.prompt("say x")
            bare.append((time.perf_counter() - began) * 1e3)
            times.append(stage.turn_ms(made[number % CONVERSATIONS], "say x"))
    stage.end(*made)
    return [
        Figure("one-word turn of an agent, p50", p50(times), "ms", p50(bare), DIRECTLY),
        Figure("one-word turn of an agent, p99", p99(times), "ms", p99(bare), DIRECTLY),
        Figure("what supervision adds to a turn, p50", p50(times) - p50(bare), "ms", target="≤ 2"),
    ]


def starts(stage: AgentStage, directory: Path) -> list[Figure]:
    """A new conversation with its first turn: the program starts, and begins a session."""
    times, bare, made = [], [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        with DirectAgent(directory) as agent:
            agent.prompt("say x")
            bare.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        made.append(stage.begin())
        times.append((time.perf_counter() - began) * 1e3)
    stage.end(*made)
    return [Figure("start of an agent, with its first turn, p50", p50(times), "ms", p50(bare), DIRECTLY)]


def stream(stage: AgentStage) -> list[Figure]:
    words = f"chunks {DELTAS} 5"
    took, used = measure_turn(stage, words)
    bare, bare_cpu = read_alone(words)
    cost, least = used / DELTAS * 1e6, bare_cpu / DELTAS * 1e6
    return [
        Figure("one stream: CPU of the daemon per update", cost, "µs", least, READ),
        Figure("one stream: updates", DELTAS / took, "/s", DELTAS / bare, READ, more_is_better=True),
    ]


def resent(stage: AgentStage) -> list[Figure]:
    """A tool that sends its whole output again with each line of it."""
    words, what = f"stream {LINES}", f"{LINES:,} lines, the whole output again with each"
    conversation = stage.begin()
    reader = OutputReader(stage.caller, conversation)
    cpu = stage.harness.cpu_s()
    stage.turn_ms(conversation, words)
    used = stage.harness.cpu_s() - cpu
    assert reader.done.wait(60), "the reader never saw the end"
    stage.end(conversation)
    _, bare_cpu = read_alone(words)
    written = sum(len(f"line {number}\n") for number in range(LINES))
    told = reader.characters / 1024
    return [
        Figure(f"{what}: told to readers", told, "KiB", written / 1024, "the output once", "≤ 1.01 times"),
        Figure(f"{what}: CPU per update", used / LINES * 1e6, "µs", bare_cpu / LINES * 1e6, READ),
    ]


def measure_turn(stage: AgentStage, words: str) -> tuple[float, float]:
    """The seconds of a turn, and the daemon's seconds of CPU."""
    conversation = stage.begin()
    cpu, took = stage.harness.cpu_s(), stage.turn_ms(conversation, words) / 1e3
    used = stage.harness.cpu_s() - cpu
    stage.end(conversation)
    return took, used


def weight(stage: AgentStage) -> list[Figure]:
    """Memory of the daemon for a live conversation with a warm agent, without that of the agent's own program.

    Taken first: memory that was freed before would be taken again, and not be seen.
    """
    made = [stage.begin() for _ in range(WEIGHED)]
    before = stage.harness.rss()
    made += [stage.begin() for _ in range(WEIGHED)]
    each = (stage.harness.rss() - before) / WEIGHED / 1024
    stage.end(*made)
    return [Figure("memory of the daemon per conversation with a warm agent", each, "KiB", target="≤ 200")]
