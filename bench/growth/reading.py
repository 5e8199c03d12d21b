"""Ever longer histories read in every way: memory, the longest hold of the loop, and the time.

A callback's hold is its CPU time, which a busy machine does not lengthen. Those of less than a millisecond are not
noted, so that a figure of 1 ms says that no hold was longer.
"""

from pathlib import Path

from bench.growth.curves import Curve, Growth, size_names
from bench.growth.histories import Json, many_events, quick_model, reading
from bench.whole.rows import p50

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 3
NOTED_MS = 1.0
LEAST_MIB = 0.1
WAYS = {"attach": "attach from the beginning", "page back": "page back from the end", "export": "export"}
NOTE = """A daemon just started, a reader, and a neighbour that asks something every two milliseconds. The longest
hold is the CPU time of the longest step of the loop; steps of less than a millisecond count as one."""


def growth(_directory: Path) -> Growth:
    found: dict[int, list[Json]] = {size: [] for size in SIZES}
    with quick_model() as base_url:
        for _ in range(ROUNDS):
            for size, readings in found.items():
                readings.append(reading(base_url, many_events(size)))

    def curve(what: str, unit: str, key: str, target: str = "", least: float = 0.0) -> Curve:
        by_size = {size: max(least, p50([figures[key] for figures in readings])) for size, readings in found.items()}
        return Curve(what, unit, by_size, target=target)

    curves = [
        row
        for way, said in WAYS.items()
        for row in (
            curve(f"{said}: longest hold", "ms", f"{way}, loop held up, ms", "≤ 5", NOTED_MS),
            curve(f"{said}: memory", "MiB", f"{way}, memory MiB", "", LEAST_MIB),
            curve(f"{said}: time", "s", f"{way}, s"),
        )
    ]
    return Growth("reading", "Reading long histories", "events", size_names(SIZES), curves, NOTE)
