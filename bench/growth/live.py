"""The same work with more and more conversations alive, in one daemon."""

from bench.growth.curves import Curve, Growth, counted
from bench.whole import floors
from bench.whole.rows import p50
from bench.whole.stage import DaemonAndModel, end_all
from bench.whole.turning import turn_ms

SIZES = (10, 100, 1000)
TURNS, INTERRUPTS, LISTS = 60, 20, 20
NOTE = "All of them are alive in the daemon's memory. The list is a page of 100, so the first one is shorter."


def growth(stage: DaemonAndModel) -> Growth:
    found: dict[tuple[str, str], dict[int, float]] = {}
    made: list[str] = []
    for size in SIZES:
        made += [stage.caller.create() for _ in range(size - len(made))]
        turns = [turn_ms(stage, made[number % size]) for number in range(TURNS)]
        interrupts = [stalled_ms(stage, made[number % size]) for number in range(INTERRUPTS)]
        lists = [floors.timed_ms(lambda: stage.caller.call("conversation/list")) for _ in range(LISTS)]
        for what, unit, value in (
            ("turn, p50", "ms", p50(turns)),
            ("interrupt of a stalled model, p50", "ms", p50(interrupts)),
            ("list of 100, p50", "ms", p50(lists)),
            ("daemon's memory", "MiB", stage.harness.rss() / 2**20),
        ):
            found.setdefault((what, unit), {})[size] = value
    end_all(stage, made)
    curves = [Curve(what, unit, by_size) for (what, unit), by_size in found.items()]
    return Growth("live", "Live conversations", "live conversations", counted(SIZES), curves, NOTE)


def stalled_ms(stage: DaemonAndModel, conversation: str) -> float:
    stage.caller.send(conversation, "stall forever")
    return floors.timed_ms(lambda: stage.caller.call("conversation/interrupt", conversation=conversation))
