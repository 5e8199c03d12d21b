"""A limit on repeated log lines: the first lines about a subject, then a few a minute, and a count of the others.

Agents, servers, clients, models and commands decide how often many of our log lines occur. Without a limit one of
them could fill all log files, and so erase its own traces. Any thread.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

# A program may write 200 lines to stderr in its life, see agent/lines.py: those of a single life are never left out.
OWN_LINES, OWN_LINES_A_MINUTE = 250, 10.0  # lines about one agent, server, client or conversation
SHARED_LINES, SHARED_LINES_A_MINUTE = 2_500, 60.0  # lines about all of them together: others decide their number, too
SUBJECT_FIELDS = ("agent", "server", "client", "conversation", "program")  # fields that name the subject of a line
MOST_BUCKETS = 4_096  # buckets; the least recently used goes first
LEFT_OUT = "left_out"


class _Bucket(Struct):
    room: float
    at: float
    left_out: int = 0


class FloodFilter(logging.Filter):
    """A filter for one sink. A subject's lines can push out only lines of the same event."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[tuple[str, ...], _Bucket] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record through, with the number of similar records that were left out before; or count it."""
        event, subject = _event_and_subject(record)
        with self._lock:
            own = self._bucket((event, subject), OWN_LINES, OWN_LINES_A_MINUTE)
            shared = self._bucket((event,), SHARED_LINES, SHARED_LINES_A_MINUTE)
            if min(own.room, shared.room) < 1:
                own.left_out += 1
                return False
            own.room -= 1
            shared.room -= 1
            left_out, own.left_out = own.left_out, 0
        if left_out:
            _add_count(record, left_out)
        return True

    def _bucket(self, key: tuple[str, ...], most: int, a_minute: float) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(most, now)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        bucket.room, bucket.at = min(most, bucket.room + (now - bucket.at) * a_minute / 60), now
        return bucket


def _event_and_subject(record: logging.LogRecord) -> tuple[str, str]:
    """Return a record's event and its subject. A library's record is known by the line of code that logs it."""
    message = record.msg
    if not isinstance(message, dict):
        return f"{record.name}:{record.lineno}", ""
    return str(message.get("event")), next(
        (str(message[field])[:100] for field in SUBJECT_FIELDS if field in message), ""
    )


def _add_count(record: logging.LogRecord, left_out: int) -> None:
    if isinstance(record.msg, dict):
        record.msg = {**record.msg, LEFT_OUT: left_out}
    else:
        record.msg = f"{record.msg} ({left_out} like this were left out)"
