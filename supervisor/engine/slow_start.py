"""A start that takes long: each second a word about it, in the log and to those who wait."""

import time
from collections.abc import Callable

import structlog

EACH_S = 1.0

log = structlog.get_logger()


class SlowStart:
    def __init__(self, busy: Callable[[str], None]) -> None:
        self._busy = busy
        self._began = self._told = time.monotonic()

    def tell(self, doing: str) -> None:
        """Take what goes on now. Called often: all but one word a second is dropped."""
        now = time.monotonic()
        if now - self._told < EACH_S:
            return
        self._told = now
        log.info("engine.busy", doing=doing, took_s=round(now - self._began))
        self._busy(f"{doing} ({now - self._began:.0f} s)")
