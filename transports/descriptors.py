"""A wire over file descriptors: bounded reads, partial writes, half-open and vanished peers.

Runs on the loop's thread alone. A write leaves at once, as far as the peer takes it; the rest when the peer is ready.
Knows bytes and line ends, not the contents of lines.
"""

import asyncio
import select
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Protocol

import structlog

from actors.messages.conversation import Address
from actors.vocabulary.errors import GreenroomError
from transports.framing import LINE_LIMIT, VALUES_LIMIT, Line, LineSplitter
from transports.wire import (
    HANGUP_GRACE_S,
    HIGH_WATER,
    LINES,
    LOW_WATER,
    WRITE_LIMIT,
    InputEnded,
    LinesArrived,
    Parcel,
    WireClosed,
    WireNews,
)

log = structlog.get_logger()

READ_SIZE = 64 * 1024
ONE_GO = 64 * 1024  # bytes of small parcels copied together for one system call
STILL_THERE_S = 1.0  # interval of the check for a client that only listens: no event reports that it is gone


class End(Protocol):
    """The descriptors themselves. Reading and writing never wait: they raise BlockingIOError instead."""

    reads_from: int
    writes_to: int
    linger_s: float | None  # time for answers after the client has closed its writing side; None: no limit

    def read(self, size: int) -> bytes: ...

    def write(self, data: memoryview) -> int: ...

    def close(self) -> None: ...


class DescriptorWire:
    def __init__(
        self,
        end: End,
        loop: asyncio.AbstractEventLoop,
        on_closed: Callable[["DescriptorWire"], None] | None = None,
        line_limit: int = LINE_LIMIT,
        values_limit: int = VALUES_LIMIT,
    ) -> None:
        self._end = end
        self._loop = loop
        self._on_closed = on_closed
        self._splitter = LineSplitter(line_limit, values_limit)
        self._write_limit = max(WRITE_LIMIT, 4 * line_limit)
        self._owner: Address[WireNews] | None = None
        self._watching = False  # the loop calls _readable when there is input
        self._watchable = True  # false for a file or /dev/null: always ready, cannot be watched
        self._handed_out = False  # the owner has a batch and has not asked for more
        self._ended = False  # end of the client's input
        self._out: deque[Parcel] = deque()
        self._offset = 0  # bytes of the first parcel that have left
        self._unsent = 0
        self._writing = False  # the peer is full; the loop calls _flush when it takes more
        self._hanging_up: str | None = None
        self._closed = False
        self._timers: list[asyncio.TimerHandle] = []

    # --- for its owner ------------------------------------------------------------------------------------------

    def open(self, owner: Address[WireNews]) -> None:
        self._owner = owner
        self._watch()

    def hand_to(self, owner: Address[WireNews]) -> None:
        self._owner = owner

    def write(self, parcels: Sequence[Parcel], *, take_more: bool = False) -> None:
        if self._closed:
            return
        self._out.extend(parcels)
        self._unsent += sum(len(parcel.data) for parcel in parcels)
        if not self._writing:
            self._push()
        if self._unsent > self._write_limit:
            log.warning("wire.overrun", unsent=self._unsent)
            self.cut_off("it does not read what it is sent")
        if take_more:
            self._handed_out = False
            self._watch()

    def hang_up(self, reason: str) -> None:
        self._loop.call_soon(self._hang_up, reason)

    def cut_off(self, reason: str) -> None:
        self._loop.call_soon(self._close, reason)

    @property
    def unsent_bytes(self) -> int:
        return self._unsent

    # --- reading ------------------------------------------------------------------------------------------------

    @property
    def _may_read(self) -> bool:
        return not (self._handed_out or self._ended or self._closed or self._hanging_up)

    def _watch(self) -> None:
        if not self._may_read or self._unsent > (LOW_WATER if self._writing else HIGH_WATER):
            return
        if self._splitter.has_more:
            self._loop.call_soon(self._hand_on)
            return
        if self._watching:
            return
        self._watching = True
        if self._watchable:
            try:
                self._loop.add_reader(self._end.reads_from, self._readable)
            except OSError:
                self._watchable = False
        if not self._watchable:
            self._loop.call_soon(self._readable)

    def _stop_reading(self) -> None:
        if self._watching and self._watchable:
            self._loop.remove_reader(self._end.reads_from)
        self._watching = False

    def _readable(self) -> None:
        self._watching = self._watching and self._watchable
        if not self._may_read or self._unsent > HIGH_WATER or self._splitter.has_more:
            self._stop_reading()  # not earlier: a client that waits for its answers sends nothing more anyway
            return
        try:
            chunk = self._end.read(READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._close(f"reading failed: {error.strerror}")
            return
        if chunk:
            self._splitter.put(chunk)
            self._hand_on()
        else:
            self._end_of_stream()

    def _hand_on(self) -> None:
        """Hand on the next lines of the chunk; the others follow when these are done."""
        if self._may_read:
            self._hand_out(self._splitter.take(LINES))
            self._watch()

    def _hand_out(self, lines: list[Line]) -> None:
        if lines:
            self._handed_out = True
            self._tell(LinesArrived(tuple(lines)))

    def _end_of_stream(self) -> None:
        self._ended = True
        self._stop_reading()
        self._hand_out(self._splitter.end())
        if self._peer_is_gone():
            self._close("the client is gone")
        else:
            self._tell(InputEnded(self._end.linger_s))
            self._look_again()

    def _look_again(self) -> None:
        if self._peer_is_gone():
            self._close("the client is gone")
        elif not self._closed:
            self._call_later(STILL_THERE_S, self._look_again)

    def _peer_is_gone(self) -> bool:
        """True if nobody can read our output any more."""
        if self._closed:
            return False
        poll = select.poll()
        poll.register(self._end.writes_to, 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))

    # --- writing ------------------------------------------------------------------------------------------------

    def _push(self) -> None:
        """Write in order, as much as the peer takes."""
        try:
            while self._out:
                written = self._end.write(self._next_chunk())
                self._unsent -= written
                self._offset += written
                while self._out and self._offset >= len(self._out[0].data):
                    self._offset -= len(self._out[0].data)
                    left = self._out.popleft().on_sent
                    if left is not None:
                        left()
        except (BlockingIOError, InterruptedError):
            if not self._writing:
                self._writing = True
                self._loop.add_writer(self._end.writes_to, self._flush)
        except OSError as error:
            self.cut_off(f"writing failed: {error.strerror}")

    def _next_chunk(self) -> memoryview:
        """The bytes for one system call: the first parcel, and the small ones after it."""
        rest = memoryview(self._out[0].data)[self._offset :]
        pieces, size = [rest], len(rest)
        for parcel in islice(self._out, 1, None):
            size += len(parcel.data)
            if size > ONE_GO:
                break
            pieces.append(memoryview(parcel.data))
        return memoryview(b"".join(pieces)) if len(pieces) > 1 else rest

    def _flush(self) -> None:
        self._push()
        if not self._out:
            self._writing = False
            self._loop.remove_writer(self._end.writes_to)
        self._watch()
        if self._hanging_up is not None and not self._out:
            self._close(self._hanging_up)

    # --- the end ------------------------------------------------------------------------------------------------

    def _hang_up(self, reason: str) -> None:
        if self._closed or self._hanging_up is not None:
            return
        self._hanging_up = reason
        self._stop_reading()
        if self._out:
            self._call_later(HANGUP_GRACE_S, lambda: self._close(reason))
        else:
            self._close(reason)

    def _close(self, reason: str) -> None:
        if self._closed:
            return
        self._closed = True
        self._stop_reading()
        if self._writing:
            self._loop.remove_writer(self._end.writes_to)
        self._out.clear()
        self._unsent = 0
        self._end.close()
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._on_closed is not None:
            self._on_closed(self)
        self._tell(WireClosed(reason))
        self._owner = None

    def _call_later(self, delay_s: float, do: Callable[[], None]) -> None:
        self._timers = [timer for timer in self._timers if not timer.cancelled() and timer.when() > self._loop.time()]
        self._timers.append(self._loop.call_later(delay_s, do))

    def _tell(self, news: WireNews) -> None:
        if self._owner is None:
            return
        try:
            self._owner.tell(news)
        except GreenroomError:
            self._owner = None
            self._close("nobody is in charge of it any more")
