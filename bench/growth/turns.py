"""Turns after ever longer histories: their cost for the daemon, and the delay of a neighbour meanwhile.

All histories are in one daemon, and the turns go round them, so that other load of the machine meets all of them.
CPU is that of the whole daemon, kernel included. The model reads a request without looking into it.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.growth.curves import Curve, Growth, usual_p99
from bench.growth.histories import (
    KIB,
    MIB,
    Pings,
    import_history,
    long_talk,
    quick_model,
    restart,
    sent_bare_ms,
    size_name,
    turns,
)
from bench.whole.rows import p50
from tests.faults.caller import Caller
from tests.faults.daemon_harness import DaemonHarness, served_by, until

SIZES = (10 * KIB, MIB, 8 * MIB, 16 * MIB)
JUDGED = 8 * MIB  # the size for which the target of a turn is meant
LIVES, ROUNDS = 3, 12
TURNS, BESIDE = 4, 25  # of each round
ALONE_S = 0.3
PARKED_SOON = "idle_park_seconds = 1"
LISTED = 10
LEAST_MIB = 0.1  # less is noise
NOTE = """With each turn the model is sent all of the history; the second row says what that costs at least. Memory is
what the daemon holds more once the conversation is awake and has spoken, and when it has been parked again."""


def growth(directory: Path) -> Growth:
    with quick_model() as base_url, DaemonHarness(directory / "turns", served_by(base_url)) as harness:
        talks = {size: import_history(harness.caller(), long_talk(size)) for size in SIZES}
        parked: dict[int, list[float]] = {size: [] for size in SIZES}
        harness.config = served_by(base_url, PARKED_SOON)
        held = samples(LIVES, lambda size: woken_mib(harness, talks[size], parked[size]))
        harness.config = served_by(base_url)
        restart(harness)
        caller = harness.caller()
        used = samples(ROUNDS, lambda size: turns(harness, caller, talks[size], TURNS)[0])
        delayed: dict[int, list[float]] = {size: [] for size in SIZES}
        alone: list[float] = []
        for _ in range(ROUNDS):
            alone += beside_ms(harness, partial(time.sleep, ALONE_S))
            for size, talk in talks.items():
                delayed[size] += beside_ms(harness, partial(turns, harness, caller, talk, BESIDE))
    usual = {size: usual_p99(values) for size, values in delayed.items()}
    sent = {size: sent_bare_ms(size) for size in SIZES}
    each = {size: held[size] / (size / MIB) for size in SIZES if size >= MIB}  # of smaller ones that says nothing
    curves = [
        Curve("CPU of a turn, p50", "ms", used, target="≤ 1.3 times", judged=JUDGED),
        Curve("CPU of sending as much, a bare process", "ms", sent),
        Curve("CPU of a turn without sending", "ms", {size: used[size] - sent[size] for size in SIZES}),
        Curve("p99 of a neighbour meanwhile", "ms", usual, usual_p99(alone), "neighbour alone", "≤ 1.3 times"),
        Curve("memory held", "MiB", held),
        Curve("memory held when it is parked again", "MiB", {size: p50(values) for size, values in parked.items()}),
        Curve("memory held per MiB of history", "MiB", each, target="≤ 2"),
    ]
    sizes = {size: size_name(size) for size in SIZES}
    return Growth("histories", "Turns behind long histories", "bytes of history", sizes, curves, NOTE)


def samples(rounds: int, measure: Callable[[int], float]) -> dict[int, float]:
    """Return the median for each size; every round measures all of them."""
    found: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(rounds):
        for size, values in found.items():
            values.append(measure(size))
    return {size: p50(values) for size, values in found.items()}


def woken_mib(harness: DaemonHarness, talk: str, parked: list[float]) -> float:
    """Return the memory that a new daemon holds more after turns of the conversation; note that when parked, too."""
    restart(harness)
    caller = harness.caller()
    turns(harness, caller, caller.create(), 5)  # everything that any turn needs is loaded
    before = harness.rss()
    turns(harness, caller, talk, 3)
    held = (harness.rss() - before) / MIB
    until(lambda: talk in parked_conversations(caller), "it was not parked")
    parked.append(max(LEAST_MIB, (harness.rss() - before) / MIB))
    return held


def parked_conversations(caller: Caller) -> set[str]:
    """Return the parked ones of the latest conversations. The list wakes none of them."""
    listed = caller.call("conversation/list", limit=LISTED)["conversations"]
    return {row["conversation"] for row in listed if row["state"] == "parked"}


def beside_ms(harness: DaemonHarness, work: Callable[[], object]) -> list[float]:
    """Return the time of each answer to a neighbour while this work went on."""
    with Pings(harness) as pings:
        work()
    return pings.took_ms
