"""Deltas: their rate and the daemon's cost of each, in one stream, in 64, and for many readers."""

import threading
import time
from concurrent.futures import wait

from bench.whole import floors
from bench.whole.drain import draining_readers
from bench.whole.rows import Figure
from bench.whole.stage import DaemonAndModel, cpu_s, end_all
from tests.faults.caller import Caller, Message

DELTAS = 30_000
STREAMS, PER_S, SECONDS = 64, 50, 4
READERS = (1, 10, 100)


class CountingReader:
    """A reader that only notes the end of a turn, so that its own cost does not count."""

    def __init__(self, caller: Caller, conversation: str) -> None:
        self.done = threading.Event()
        answer = caller.call("conversation/attach", conversation=conversation, after=None)
        caller.listen(answer["subscription"], self._take)

    def _take(self, message: Message) -> None:
        for envelope in message["params"].get("events", ()):
            if envelope["event"]["type"] == "task_complete":
                self.done.set()


def one_fast(stage: DaemonAndModel) -> list[Figure]:
    caller = stage.caller
    conversation = caller.create()
    reader = CountingReader(caller, conversation)
    script = f"pack 4096; stream {DELTAS} word"
    caller.send(conversation, "say x", wait=True)  # connections are open
    reader.done.clear()
    cpu, began = stage.harness.cpu_s(), time.perf_counter()
    caller.send(conversation, script, wait=True)
    took, used = time.perf_counter() - began, stage.harness.cpu_s() - cpu
    end_all(stage, [conversation])
    bare, bare_cpu = floors.streams_s(stage.base_url, 1, script)
    cost, least = used / DELTAS * 1e6, bare_cpu / DELTAS * 1e6
    return [
        Figure("one fast stream: CPU of the daemon per delta", cost, "µs", least, "read bare", "≤ 12"),
        Figure("one fast stream: deltas", DELTAS / took, "/s", DELTAS / bare, "read bare", more_is_better=True),
    ]


def sixty_four(stage: DaemonAndModel) -> list[Figure]:
    """As many readers as streams, each stream at the pace of a quick model."""
    caller = stage.caller
    made = [caller.create() for _ in range(STREAMS)]
    count = PER_S * SECONDS
    for conversation in made:
        caller.send(conversation, "say x", wait=True)  # connections to the model are open
    script = f"slow {1000 // PER_S}; stream {count} word"
    bare, bare_cpu = floors.streams_s(stage.base_url, STREAMS, script)
    with draining_readers(stage.harness.socket, made):
        cpu, model, began = stage.harness.cpu_s(), cpu_s(stage.model_pid), time.perf_counter()
        turns = [
            caller.start("conversation/send", conversation=conversation, prompt=script, wait=True)
            for conversation in made
        ]
        wait(turns, 120)
        took = time.perf_counter() - began
        used, spoken = stage.harness.cpu_s() - cpu, cpu_s(stage.model_pid) - model
    end_all(stage, made)
    return [
        Figure(f"{STREAMS} streams at {PER_S}/s: time", took, "s", float(SECONDS), "ideal", "≤ 1.06 times"),
        Figure(f"{STREAMS} streams at {PER_S}/s: the same, read bare", bare, "s", float(SECONDS), "ideal"),
        Figure(
            f"{STREAMS} streams at {PER_S}/s: CPU of the daemon",
            used / took * 100,
            "% of a core",
            bare_cpu / bare * 100,
            "read bare",
            "≤ 60",
        ),
        Figure(f"{STREAMS} streams at {PER_S}/s: CPU of the model server", spoken / took * 100, "% of a core"),
        Figure(
            f"{STREAMS} streams: CPU of the daemon per delta",
            used / (STREAMS * count) * 1e6,
            "µs",
            bare_cpu / (STREAMS * count) * 1e6,
            "read bare",
        ),
    ]


def fan_out(stage: DaemonAndModel) -> list[Figure]:
    """One stream, many readers, each a connection of its own."""
    rows = []
    first = first_cost = 0.0
    for count in READERS:
        callers = [stage.harness.caller(f"reader-{number}") for number in range(count)]
        conversation = stage.caller.create()
        readers = [CountingReader(caller, conversation) for caller in callers]
        cpu, began = stage.harness.cpu_s(), time.perf_counter()
        stage.caller.send(conversation, "slow 2; stream 500 word", wait=True)
        for reader in readers:
            assert reader.done.wait(60), "a reader was left out"
        took, used = time.perf_counter() - began, stage.harness.cpu_s() - cpu
        cost = used / 500 / count * 1e6
        first, first_cost = first or took, first_cost or cost
        for caller in callers:
            caller.close()
            stage.harness._callers.remove(caller)  # noqa: SLF001  # else it would be closed twice
        end_all(stage, [conversation])
        rows.append(
            Figure(f"fan-out to {count}: until the last has the end", took * 1e3, "ms", first * 1e3, "one reader")
        )
        rows.append(Figure(f"fan-out to {count}: CPU per delta and reader", cost, "µs", first_cost, "one reader"))
    return rows
