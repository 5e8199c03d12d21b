"""The bridge's end towards the client, and the only poll of the bridge.

Standard library only, one thread. Moves whole lines, byte for byte, and reads no more from either end than the other
end takes.
"""

from __future__ import annotations

import select
import time

from transports.bridge.lines import LineReader

TYPE_CHECKING = False  # loading typing costs more than this whole module
if TYPE_CHECKING:
    from collections.abc import Callable

    from transports.bridge.daemon_link import DaemonLink
    from transports.stdio import StandardStreams

CHUNK = 1 << 16
BUFFER = 1 << 20  # bytes for the client; with more than that unread, nothing is taken from the daemon
GOODBYE_S = 0.5  # for open answers after the end of the client's input; clients wait a second for us
HANGUP = getattr(select, "POLLRDHUP", 0)  # reports the end of input while we don't read
GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL
TOO_LONG = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message was too long and was skipped"}}\n'


class Bridge:
    """`wake`: a descriptor that becomes readable when a signal has called `stop`."""

    def __init__(
        self, client: StandardStreams, link: DaemonLink, note: Callable[[str], None], wake: int | None = None
    ) -> None:
        self._client = client
        self._link = link
        self._outbox = link.outbox
        self._note = note
        self._wake = wake
        self._lines = LineReader()
        self._input_over = False
        self._deadline: float | None = None  # set when the client has closed its end
        self._ended: str | None = None

    def stop(self, reason: str) -> None:
        """End the bridge; called from a signal handler."""
        self._ended = reason

    def begin(self) -> None:
        """Say hello to a daemon, or start one."""
        self._link.begin(time.monotonic())

    def run(self) -> None:
        """Serve until the client has left and all answers were sent, or the time for them is over."""
        while self._ended is None:
            self._turn()
        self._note(f"ended: {self._ended}")
        self._link.close()
        self._write()

    # --- one turn -------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        ready = self._poll()
        now = time.monotonic()
        if self._client.reads_from in ready:
            self._hear(ready[self._client.reads_from], now)
            self._write()  # before a daemon is started, which takes longer than an answer
        if ready.get(self._client.writes_to, 0) & GONE:
            self._ended = "nobody reads our output"
            return
        self._link.turn(ready, now)
        self._write()
        if self._ended is None and self._deadline is not None:
            self._ended = self._leaving(now)

    def _poll(self) -> dict[int, int]:
        poll = select.poll()
        if not self._input_over:
            if not self._link.full:
                poll.register(self._client.reads_from, select.POLLIN)
            elif self._deadline is None:
                poll.register(self._client.reads_from, HANGUP)
        poll.register(self._client.writes_to, select.POLLOUT if self._outbox else 0)
        for descriptor, events in self._link.interests(room=len(self._outbox) < BUFFER):
            poll.register(descriptor, events)
        if self._wake is not None:
            poll.register(self._wake, select.POLLIN)
        return dict(poll.poll(self._patience_ms()))

    def _patience_ms(self) -> float | None:
        due = [at for at in (self._deadline, self._link.due) if at is not None]
        return max(0.0, min(due) - time.monotonic()) * 1000 + 1 if due else None

    def _leaving(self, now: float) -> str | None:
        if self._deadline is not None and now >= self._deadline:
            return "the client left before everything was answered"
        left = self._input_over and not self._link.owes and not self._outbox
        return "the client left" if left else None

    # --- the client -----------------------------------------------------------------------------------------------

    def _hear(self, events: int, now: float) -> None:
        """Read lines of the client. Its end of input is noticed at once, even while lines have to wait."""
        if events & (GONE | HANGUP) and self._deadline is None:
            self._deadline = now + GOODBYE_S
        if self._link.full:
            return
        try:
            data = self._client.read(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""  # a closed terminal
        lines = self._lines.feed(data) if data else self._lines.end()
        for line in lines:
            self._link.take(line, now)
        if self._lines.skipped:
            self._outbox += TOO_LONG
            self._lines.skipped = 0
        if not data:
            self._input_over = True
            self._deadline = self._deadline or now + GOODBYE_S

    def _write(self) -> None:
        """Write as much as the client takes without waiting."""
        try:
            sent = 0
            while sent < len(self._outbox):
                with memoryview(self._outbox) as view:
                    sent += self._client.write(view[sent : sent + CHUNK])
        except BlockingIOError:
            pass
        except OSError as error:
            self._ended = f"our output is broken: {error.strerror}"
            sent = len(self._outbox)
        del self._outbox[:sent]
