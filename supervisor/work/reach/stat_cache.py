"""Caches readings of files and folders until these change. Any thread may use it: each step is atomic."""

import os
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 20_000  # readings that are kept; a folder's listing is some 100 bytes
SETTLED_NS = 2_000_000_000  # a younger file may change again within a tick of a file system's coarsest clock


class StatCache(Generic[T]):
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[tuple[int, int], T]] = {}

    def get(self, found: os.stat_result, read: Callable[[], T]) -> T:
        place, state = (found.st_dev, found.st_ino), (found.st_ctime_ns, found.st_size)
        known = self._known.get(place)
        if known is not None and known[0] == state:
            return known[1]
        reading = read()
        if time.time_ns() - found.st_ctime_ns > SETTLED_NS:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[place] = (state, reading)
        return reading
