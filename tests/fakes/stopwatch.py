"""A stopwatch that stands still: what the machine does meanwhile, or a garbage collection, is no part of a test."""

from transports.throttle import Stopwatch


class StoppedWatch(Stopwatch):
    """`spent_s` is what each message costs of the processor."""

    def __init__(self, spent_s: float = 0.0) -> None:
        super().__init__()
        self.spent_s = spent_s

    def took_s(self) -> float:
        return 0.0

    def heavy_s(self) -> float:
        return self.spent_s
