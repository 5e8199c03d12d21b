"""The cost of a turn above the bare model, and its growth with the number of conversations."""

import time

from bench.whole import floors
from bench.whole.rows import Figure, p50, p99
from bench.whole.stage import DaemonAndModel, end_all

TURNS, CONVERSATIONS = 300, 20
SIZES = (10, 100, 1000)


def turn_ms(stage: DaemonAndModel, conversation: str) -> float:
    began = time.perf_counter()
    stage.caller.send(conversation, "say x", wait=True)
    return (time.perf_counter() - began) * 1e3


def overhead(stage: DaemonAndModel) -> list[Figure]:
    bare = floors.http_ms(stage.base_url, "say x", TURNS)
    made = [stage.caller.create() for _ in range(CONVERSATIONS)]
    for one in made:
        turn_ms(stage, one)
    times = [turn_ms(stage, made[number % CONVERSATIONS]) for number in range(TURNS)]
    end_all(stage, made)
    floor = "bare HTTP read"
    over50, over99 = p50(times) - p50(bare), p99(times) - p99(bare)
    echo, line = floors.echo_ms(), "socket echo"
    return [
        Figure("one-word turn, p50", p50(times), "ms", p50(bare), floor),
        Figure("one-word turn, p99", p99(times), "ms", p99(bare), floor),
        Figure("turn overhead over the bare model, p50", over50, "ms", p50(echo), line, "≤ 3"),
        Figure("turn overhead over the bare model, p99", over99, "ms", p99(echo), line, "≤ 10"),
    ]


def growth(stage: DaemonAndModel) -> list[Figure]:
    """The same figures with more and more conversations alive. The floor is that of the fewest."""
    rows: list[Figure] = []
    made: list[str] = []
    first: dict[str, float] = {}
    for size in SIZES:
        made += [stage.caller.create() for _ in range(size - len(made))]
        figures = {
            "turn, p50": p50([turn_ms(stage, made[number % size]) for number in range(60)]),
            "interrupt of a stalled model, p50": p50(
                [stalled_ms(stage, made[number % size]) for number in range(20)]
            ),
            "list of 100": p50([floors.timed_ms(lambda: stage.caller.call("conversation/list")) for _ in range(20)]),
            "daemon's memory": stage.harness.rss() / 2**20,
        }
        for what, value in figures.items():
            unit = "MiB" if "memory" in what else "ms"
            first.setdefault(what, value)
            rows.append(Figure(f"{what}, {size:,} conversations", value, unit, first[what], f"with {SIZES[0]}"))
    end_all(stage, made)
    return rows


def stalled_ms(stage: DaemonAndModel, conversation: str) -> float:
    stage.caller.send(conversation, "stall forever")
    began = time.perf_counter()
    stage.caller.call("conversation/interrupt", conversation=conversation)
    return (time.perf_counter() - began) * 1e3
