"""A bound on what others can have us log: the first lines of a thing, then a few a minute, and a count of the rest.

Agents, servers, clients, models and commands decide how often much of what we log happens. Without a bound one of
them could wash over all log files, and with them what it has done. Any thread.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

# A program's words on stderr are 200 lines a life, see agent/lines.py: those of one life are never left out.
ONES, ONES_A_MINUTE = 250, 10.0  # lines about one agent, server, client or conversation
ALL, ALL_A_MINUTE = 2_500, 60.0  # lines about all of them together: their number is up to others, too
WHOSE = ("agent", "server", "client", "conversation", "program")  # fields that say whom a line is about
KNOWN = 4_096  # buckets; the one that was used least goes first
LEFT_OUT = "left_out"


class _Bucket(Struct):
    room: float
    at: float
    left_out: int = 0


class Flood(logging.Filter):
    """A filter for one sink. Nobody's lines keep others' out, but those of the same event."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[tuple[str, ...], _Bucket] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record through, with the number of those like it that were left out before; or count it."""
        event, whose = _about(record)
        with self._lock:
            ones = self._bucket((event, whose), ONES, ONES_A_MINUTE)
            every = self._bucket((event,), ALL, ALL_A_MINUTE)
            if min(ones.room, every.room) < 1:
                ones.left_out += 1
                return False
            ones.room -= 1
            every.room -= 1
            left_out, ones.left_out = ones.left_out, 0
        if left_out:
            _tell(record, left_out)
        return True

    def _bucket(self, key: tuple[str, ...], most: int, a_minute: float) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(most, now)
            if len(self._buckets) > KNOWN:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        bucket.room, bucket.at = min(most, bucket.room + (now - bucket.at) * a_minute / 60), now
        return bucket


def _about(record: logging.LogRecord) -> tuple[str, str]:
    """Return what a record says and whom it is about. A library's is known by the line of code that says it."""
    said = record.msg
    if not isinstance(said, dict):
        return f"{record.name}:{record.lineno}", ""
    return str(said.get("event")), next((str(said[field])[:100] for field in WHOSE if field in said), "")


def _tell(record: logging.LogRecord, left_out: int) -> None:
    if isinstance(record.msg, dict):
        record.msg = {**record.msg, LEFT_OUT: left_out}
    else:
        record.msg = f"{record.msg} ({left_out} like this were left out)"
