"""The latest stored events of all conversations, for readers with a cursor. Bounded; a slow reader is told it lagged.

Written on the journalist's thread, by the journal after each commit; read on the loop. A lock orders the two and is
never held while waiting.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from actors.runtime.shared import call_on_loop
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import Append, Record
from actors.vocabulary.shortening import outline, shorten_json
from transports.supervisor_answers import NewsRead

KEPT_RECORDS = 8_192  # a busy second of many conversations, and a reader that pauses for it
KEPT_BYTES = 4 << 20
SHOWN_BYTES = KEPT_BYTES // 8  # of one event: a longer event is shortened, so that it does not push out the others


def shortened_record(record: Record) -> Record:
    size = len(record.body)
    if size <= SHOWN_BYTES:
        return record
    body = outline((record.body,), SHOWN_BYTES) or shorten_json(record.body, SHOWN_BYTES)
    return replace(record, body=body, stored_bytes=record.stored_bytes or size)


class RecentEvents:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[tuple[ConversationId, Record]] = deque()
        self._bytes = 0
        self._end = 0  # the number of all events so far
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def publish(self, appends: Sequence[Append]) -> None:
        with self._lock:
            for append in appends:
                for whole in append.records:
                    record = shortened_record(whole)
                    self._kept.append((append.conversation, record))
                    self._bytes += len(record.body)
                    self._end += 1
            while len(self._kept) > KEPT_RECORDS or self._bytes > KEPT_BYTES:
                self._bytes -= len(self._kept.popleft()[1].body)
            waiting, self._waiting = self._waiting, set()
        for loop, event in waiting:
            call_on_loop(loop, event.set)

    def read_after(self, cursor: int | None, limit: int) -> NewsRead:
        """Events after the cursor (None: from now on). A cursor of an earlier process counts as lagging."""
        with self._lock:
            if cursor is None:
                return NewsRead((), self._end)
            first = self._end - len(self._kept)
            lagged = cursor < first or cursor > self._end
            start = first if lagged else cursor
            place = start - first
            records = tuple(self._kept[at] for at in range(place, min(len(self._kept), place + limit)))
            return NewsRead(records, start + len(records), lagged)

    async def wait(self, cursor: int, limit: int, wait_s: float) -> NewsRead:
        """Like `after`, but wait for at least one record until the time is over."""
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        with self._lock:
            ready = cursor != self._end
            if not ready:
                self._waiting.add(entry)
        if not ready:
            try:
                await asyncio.wait_for(event.wait(), wait_s)
            except TimeoutError:
                with self._lock:
                    self._waiting.discard(entry)
        return self.read_after(cursor, limit)
