"""The time from an interrupt to its answer, which comes when the command's processes are gone."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.whole import floors
from bench.whole.drain import draining_readers
from bench.whole.rows import Figure, p50, p99
from bench.whole.stage import DaemonAndModel, end_all
from tests.faults.follower import Follower

ROUNDS, AT_ONCE = 100, 100
BUSY, BUSY_PER_S = 16, 100  # streams, and deltas a second of each
COMMAND = 'call shell {"command":["sleep","300"],"timeout":600000}'


def running(stage: DaemonAndModel, count: int) -> list[str]:
    """Conversations whose command runs."""
    caller = stage.caller
    made = [caller.create() for _ in range(count)]
    followers = [Follower(conversation) for conversation in made]
    for follower in followers:
        follower.attach(caller)
        caller.send(follower.conversation, COMMAND)
    for follower in followers:
        follower.wait_type("work_began")
    return made


def interrupts_ms(stage: DaemonAndModel, rounds: int) -> list[float]:
    times = []
    conversation = stage.caller.create()
    follower = Follower(conversation)
    follower.attach(stage.caller)
    for number in range(rounds):
        stage.caller.send(conversation, COMMAND)
        follower.wait_type("work_began", number + 1)
        began = time.perf_counter()
        ended = stage.caller.call("conversation/interrupt", conversation=conversation)
        times.append((time.perf_counter() - began) * 1e3)
        assert ended["ending"] is not None
        if number % 20 == 19:  # a short history, so that only the interrupt is measured
            end_all(stage, [conversation])
            return times + (interrupts_ms(stage, rounds - number - 1) if rounds > number + 1 else [])
    end_all(stage, [conversation])
    return times


@contextmanager
def busy(stage: DaemonAndModel) -> Iterator[None]:
    made = [stage.caller.create() for _ in range(BUSY)]
    with draining_readers(stage.harness.socket, made):
        for conversation in made:
            stage.caller.send(conversation, f"slow {1000 // BUSY_PER_S}; stream 20000 word")
        yield
    end_all(stage, made)


def latency(stage: DaemonAndModel) -> list[Figure]:
    floor = floors.kill_ms()
    idle = interrupts_ms(stage, ROUNDS)
    with busy(stage):
        loaded = interrupts_ms(stage, ROUNDS)
    name = "TERM to a bare process"
    return [
        Figure("interrupt of a running command, idle, p50", p50(idle), "ms", p50(floor), name, "≤ 2.5"),
        Figure("interrupt of a running command, idle, p99", p99(idle), "ms", p99(floor), name),
        Figure(f"the same with {BUSY} streams at {BUSY_PER_S}/s, p50", p50(loaded), "ms", p50(floor), name, "≤ 2.5"),
        Figure(f"the same with {BUSY} streams at {BUSY_PER_S}/s, p99", p99(loaded), "ms", p99(floor), name, "≤ 8"),
    ]


def at_once(stage: DaemonAndModel) -> list[Figure]:
    made = running(stage, AT_ONCE)
    began = time.perf_counter()
    answers = [stage.caller.start("conversation/interrupt", conversation=conversation) for conversation in made]
    for answer in answers:
        answer.result(60)
    took = (time.perf_counter() - began) * 1e3
    end_all(stage, made)
    floor = floors.kill_all_ms(AT_ONCE)
    what, bare = f"{AT_ONCE} running commands interrupted at once", f"TERM to {AT_ONCE} bare processes"
    return [Figure(what, took, "ms", floor, bare, "≤ 150")]
