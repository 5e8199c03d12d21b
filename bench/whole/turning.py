"""The cost of a turn above the bare model."""

import time

from bench.whole import floors
from bench.whole.rows import Figure, p50, p99
from bench.whole.stage import DaemonAndModel, end_all

TURNS, CONVERSATIONS = 300, 20


def turn_ms(stage: DaemonAndModel, conversation: str) -> float:
    began = time.perf_counter()
    stage.caller.send(conversation, "say x", wait=True)
    return (time.perf_counter() - began) * 1e3


def overhead(stage: DaemonAndModel) -> list[Figure]:
    bare = floors.http_ms(stage.base_url, "say x", TURNS)
    made = [stage.caller.create() for _ in range(CONVERSATIONS)]
    for conversation in made:
        turn_ms(stage, conversation)
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
