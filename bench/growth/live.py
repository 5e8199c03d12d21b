"""The same work with more and more conversations alive: a daemon for each number of them, asked in turns."""

from contextlib import ExitStack
from pathlib import Path

from bench.growth.curves import Curve, Growth, size_names
from bench.whole import floors
from bench.whole.rows import p50
from bench.whole.stage import DaemonAndModel
from bench.whole.turning import turn_ms
from tests.faults.daemon_harness import DaemonHarness, served_by

SIZES = (10, 100, 1000)
ROUNDS = 40
TURNS, INTERRUPTS, LISTS = 5, 3, 3  # of each round
NOTE = "The list is a page of 100, so the first one is shorter."


def growth(directory: Path, base_url: str, model_pid: int) -> Growth:
    with ExitStack() as alive:
        stages: dict[int, tuple[DaemonAndModel, list[str]]] = {}
        for size in SIZES:
            harness = alive.enter_context(DaemonHarness(directory / str(size), served_by(base_url)))
            caller = harness.caller()
            stages[size] = (
                DaemonAndModel(harness, base_url, model_pid, caller),
                [caller.create() for _ in range(size)],
            )
        turns, interrupts, lists = ({size: list[float]() for size in SIZES} for _ in range(3))
        for number in range(ROUNDS):
            for size, (stage, made) in stages.items():
                some = [made[(number * TURNS + place) % size] for place in range(TURNS)]
                turns[size] += [turn_ms(stage, conversation) for conversation in some]
                interrupts[size] += [stalled_ms(stage, conversation) for conversation in some[:INTERRUPTS]]
                lists[size] += [listed_ms(stage) for _ in range(LISTS)]
        held = {size: stage.harness.rss() / 2**20 for size, (stage, _) in stages.items()}
    times = {"turn, p50": turns, "interrupt of a stalled model, p50": interrupts, "list of 100, p50": lists}
    curves = [Curve(what, "ms", {size: p50(taken[size]) for size in SIZES}) for what, taken in times.items()]
    curves.append(Curve("daemon's memory", "MiB", held))
    return Growth("live", "Live conversations", "live conversations", size_names(SIZES), curves, NOTE)


def stalled_ms(stage: DaemonAndModel, conversation: str) -> float:
    stage.caller.send(conversation, "stall forever")
    return floors.timed_ms(lambda: stage.caller.call("conversation/interrupt", conversation=conversation))


def listed_ms(stage: DaemonAndModel) -> float:
    return floors.timed_ms(lambda: stage.caller.call("conversation/list"))
