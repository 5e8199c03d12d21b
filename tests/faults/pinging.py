"""Another client of the daemon, which sends a small request again and again and notes the times."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.faults.daemon_harness import DaemonHarness

BEAT_S = 0.002  # between two pings


@dataclass(slots=True)
class Pings:
    took_ms: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.took_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    @property
    def p50(self) -> float:
        return self.quantile(0.5)

    @property
    def p99(self) -> float:
        return self.quantile(0.99)


@contextmanager
def pinging(harness: DaemonHarness) -> Iterator[Pings]:
    """The pings of another client while the block runs."""
    caller = harness.caller("neighbour")
    conversation = caller.create()
    pings, done = Pings(), threading.Event()

    def ping() -> None:
        while not done.is_set():
            began = time.perf_counter()
            caller.call("conversation/get", conversation=conversation)
            pings.took_ms.append((time.perf_counter() - began) * 1000)
            done.wait(BEAT_S)

    thread = threading.Thread(target=ping, name="pinging")
    thread.start()
    try:
        yield pings
    finally:
        done.set()
        thread.join()
        caller.delete(conversation)
        caller.close()
