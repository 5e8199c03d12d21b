"""Reports of a start that takes long: one a second, to the log and to the process that waits. Main thread."""

import time
from collections.abc import Callable

import structlog

EACH_S = 1.0

log = structlog.get_logger()


class SlowStart:
    def __init__(self, busy: Callable[[str], None]) -> None:
        self._busy = busy
        self._began = self._reported = time.monotonic()

    def tell(self, doing: str) -> None:
        """Report the present work. Called often; all but one report a second are dropped."""
        now = time.monotonic()
        if now - self._reported < EACH_S:
            return
        self._reported = now
        log.info("engine.busy", doing=doing, took_s=round(now - self._began))
        self._busy(f"{doing} ({now - self._began:.0f} s)")
