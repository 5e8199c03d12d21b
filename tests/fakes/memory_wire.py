"""A wire without a kernel: client and server in one process, under the contract tests of the real one.

No thread of its own: the caller that sends, reads or writes does the work, behind one re-entrant lock.
Telling never waits, so holding it while the owner is told is harmless.
"""

import threading
from collections import deque
from collections.abc import Sequence

from actors.messages.conversation import Address
from actors.vocabulary.errors import GreenroomError
from transports.framing import LINE_LIMIT, Line, LineSplitter
from transports.wire import HIGH_WATER, LINES, WRITE_LIMIT, InputEnded, LinesArrived, Parcel, WireClosed, WireNews

PATIENCE_S = 30.0
CAPACITY = 64 * 1024  # what may lie between the two, as in a pipe
READ_SIZE = 64 * 1024


class MemoryWire:
    """The server's end. `client` is the other one."""

    def __init__(self, line_limit: int = LINE_LIMIT) -> None:
        self.client = MemoryClient(self)
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self._splitter = LineSplitter(line_limit)
        self._owner: Address[WireNews] | None = None
        self._coming = bytearray()
        self._client_done = False
        self._handed_out = False
        self._ended = False
        self._out: deque[Parcel] = deque()
        self._offset = 0
        self._between = bytearray()
        self._hanging_up: str | None = None
        self._closed = False

    # --- the owner's side -----------------------------------------------------------------------------------------

    def open(self, owner: Address[WireNews]) -> None:
        with self.lock:
            self._owner = owner
            self._read()

    def hand_to(self, owner: Address[WireNews]) -> None:
        with self.lock:
            self._owner = owner

    def write(self, parcels: Sequence[Parcel], *, take_more: bool = False) -> None:
        with self.lock:
            if self._closed:
                return
            if take_more:
                self._handed_out = False
            self._out.extend(parcels)
            self._flush()
            if self.unsent_bytes > WRITE_LIMIT:
                self._close("it does not read what it is sent")
            self._read()

    def hang_up(self, reason: str) -> None:
        with self.lock:
            self._hanging_up = self._hanging_up or reason
            self._flush()

    def cut_off(self, reason: str) -> None:
        with self.lock:
            self._close(reason)

    @property
    def unsent_bytes(self) -> int:
        with self.lock:
            return sum(len(parcel.data) for parcel in self._out) - self._offset

    # --- the client's side, called by MemoryClient ----------------------------------------------------------------

    def arrive(self, data: bytes) -> None:
        with self.lock:
            if self._closed or self._client_done:
                raise BrokenPipeError("the connection is closed")
            self._coming += data
            self._read()

    def client_is_done(self) -> None:
        with self.lock:
            self._client_done = True
            self._read()

    def client_is_gone(self) -> None:
        with self.lock:
            self._between.clear()
            self._close("the client is gone")

    def take(self, timeout_s: float) -> bytes:
        """The bytes that have come; empty at the end of the stream."""
        with self.changed:
            if not self.changed.wait_for(lambda: self._between or self._closed, timeout_s):
                raise TimeoutError(f"nothing came in {timeout_s} s")
            taken = bytes(self._between)
            self._between.clear()
            self._flush()
            self._read()
            return taken

    # --- both, under the lock -------------------------------------------------------------------------------------

    @property
    def _may_read(self) -> bool:
        idle = not (self._owner is None or self._handed_out or self._ended or self._closed or self._hanging_up)
        return idle and self.unsent_bytes <= HIGH_WATER

    def _read(self) -> None:
        while (self._coming or self._splitter.has_more) and self._may_read:
            if not self._splitter.has_more:
                self._splitter.put(bytes(self._coming[:READ_SIZE]))
                del self._coming[:READ_SIZE]
            self._hand_out(self._splitter.take(LINES))
        if self._client_done and not (self._coming or self._splitter.has_more) and self._may_read:
            self._ended = True
            self._hand_out(self._splitter.end())
            self._tell(InputEnded())

    def _hand_out(self, lines: list[Line]) -> None:
        if lines:
            self._handed_out = True
            self._tell(LinesArrived(tuple(lines)))

    def _flush(self) -> None:
        while self._out and len(self._between) < CAPACITY:
            parcel = self._out[0]
            end = min(len(parcel.data), self._offset + CAPACITY - len(self._between))
            self._between += parcel.data[self._offset : end]
            self._offset = end
            if end < len(parcel.data):
                break
            self._out.popleft()
            self._offset = 0
            if parcel.on_sent is not None:
                parcel.on_sent()
        self.changed.notify_all()
        if self._hanging_up is not None and not self._out:
            self._close(self._hanging_up)

    def _close(self, reason: str) -> None:
        if self._closed:
            return
        self._closed = True
        self._out.clear()
        self._offset = 0
        self.changed.notify_all()
        self._tell(WireClosed(reason))
        self._owner = None

    def _tell(self, news: WireNews) -> None:
        if self._owner is None:
            return
        try:
            self._owner.tell(news)
        except GreenroomError:
            self._owner = None
            self._close("nobody is in charge of it any more")


class MemoryClient:
    """The client's end. Sending never waits: what the server does not take stays with the client."""

    def __init__(self, wire: MemoryWire) -> None:
        self._wire = wire

    def send(self, data: bytes) -> None:
        self._wire.arrive(data)

    def receive(self) -> bytes:
        return self._wire.take(PATIENCE_S)

    def shut_down(self) -> None:
        """Nothing more is sent; what comes is still read."""
        self._wire.client_is_done()

    def close(self) -> None:
        self._wire.client_is_gone()
