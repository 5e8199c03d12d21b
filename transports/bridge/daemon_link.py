"""The bridge's end towards the daemon: dialling, starting one, the hello, the queue of lines, and every loss.

Standard library only; never waits. Its owner polls its descriptors, calls `turn`, and sends the client the contents
of `outbox`. Four states: away, starting (a daemon is on its way up), greeting, open.
"""

from __future__ import annotations

import select

from transports.bridge.c_modules import deque
from transports.bridge.lines import LineReader
from transports.bridge.messages import answer, message_line, parse_message, refusal, unreachable
from transports.bridge.outstanding import Outstanding

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from transports.bridge.c_modules import socket
    from transports.bridge.messages import Message
    from transports.bridge.outstanding import OutgoingLine
    from transports.bridge.replay import Replay

    class StartingDaemon(Protocol):
        """A daemon on its way up."""

        def fileno(self) -> int: ...

        def outcome(self) -> str | None:
            """The outcome once the descriptor is readable: "" is ready, None not yet, else why it failed."""

        def close(self) -> None: ...

    class DaemonAddress(Protocol):
        def dial(self) -> socket | None:
            """A connected socket that never waits; None if nobody listens."""

        def start(self) -> StartingDaemon: ...

        def left_in_order(self) -> bool:
            """True if the last daemon was stopped: then none is started before a client needs one."""


CHUNK = 1 << 16
BUFFER = 1 << 20  # bytes waiting to be sent; beyond it no more is read from the client
LOOKS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 30.0)  # pauses between looks for a daemon that another program may start
FIRST_S = 0.02  # wait for the client's first line: it may be answered before a starting daemon takes the processor
AGAIN_S = 0.1  # pause between tries while the client waits for an answer
PATIENCE_S = 20.0  # limit of such tries, and of a start without news
HELLO_S = 10.0  # limit for the welcome: a daemon may be suspended or swapped out

LOST_TEXT = "the Greenroom daemon went away before it answered; conversations are kept, and it can be asked again"
HUNG_TEXT = "the Greenroom daemon does not answer; `greenroom up --force` ends it and starts another"
LEFT_TEXT = "the input of this {} has ended; conversations are kept in the daemon"
UPGRADE = "; the daemon and this bridge are of different versions: `greenroom down`, then start this {} again"


class DaemonLink:
    def __init__(self, address: DaemonAddress, hello: bytes, replay: Replay, note: Callable[[str], None]) -> None:
        self.outbox = bytearray()
        self._address = address
        self._hello = hello
        self._note = note
        self._replay = replay
        self._outstanding = Outstanding(replay)
        self._start: StartingDaemon | None = None
        self._socket: socket | None = None
        self._open = False  # the daemon has sent its welcome
        self._mute = False  # the daemon takes no more, but its last lines may be unread
        self._lines = LineReader()
        self._first = bytearray()  # the hello and replayed lines; sent before the queue
        self._queue: deque[OutgoingLine] = deque()
        self._queued = 0  # bytes in the queue
        self._left = 0  # bytes sent of the first line in the queue
        self._wanted_since: float | None = None  # since when the client waits for an answer, or is about to
        self._listens = False  # waits for the client's first line before a daemon is started
        self._looks = -1  # index of the last pause in LOOKS_S
        self._until: float | None = None  # deadline of the present state

    # --- for the bridge -------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        return self._queued >= BUFFER

    @property
    def owes(self) -> bool:
        """True if requests of the client are open."""
        reachable = self._socket is not None or self._wanted_since is not None
        return self._outstanding.requests > 0 or (reachable and bool(self._queue))

    @property
    def due(self) -> float | None:
        return self._until

    def begin(self, now: float) -> None:
        """Find a daemon for a client that will soon send something; start one when the first line has come."""
        self._wanted_since = now
        self._dial(now, first=True)

    def take(self, line: bytes, now: float) -> None:
        """Take a line of the client. A request is a reason to start a daemon, and so is a full queue."""
        message = parse_message(line)
        if self._listens:
            self._until = now
        if self._outstanding.is_stale(message):
            self._note("an answer to a question of an earlier daemon was dropped")
            return
        queued = self._outstanding.outgoing_line(line, message)
        outcome = self._answer_here(message) if queued.asks is not None else None
        if queued.asks is None or outcome is None:
            self._add(queued)
            wants_daemon = queued.asks is not None or self._outstanding.awaits_daemon or (self._is_away and self.full)
        else:
            self.outbox += message_line(answer(queued.asks, outcome))
            wants_daemon = queued.begins
            if queued.begins:
                queued = self._outstanding.note_answered_handshake(message)
                if self._open:
                    self._add(queued)
        if wants_daemon and self._wanted_since is None and not self._open:
            away, self._wanted_since = self._is_away, now
            if away:
                self._dial(now)

    @property
    def _is_away(self) -> bool:
        return self._socket is None and self._wanted_since is None

    def _answer_here(self, request: Message) -> Message | None:
        """The outcome of a request that needs no daemon, or none but the starting one."""
        outcome = self._replay.answer_at_once(request)
        return self._replay.answer_alone(request) if outcome is None and self._socket is None else outcome

    def _add(self, queued: OutgoingLine) -> None:
        self._queue.append(queued)
        self._queued += len(queued.line)

    def interests(self, *, room: bool) -> list[tuple[int, int]]:
        """The descriptors to poll, with their events. `room`: the client can take more."""
        if self._start is not None:
            return [(self._start.fileno(), select.POLLIN)]
        if self._socket is None:
            return []
        sending = not self._mute and bool(self._first or (self._open and len(self._queue)))
        events = (select.POLLIN if room else 0) | (select.POLLOUT if sending else 0)
        return [(self._socket.fileno(), events)] if events else []

    def turn(self, ready: Mapping[int, int], now: float) -> None:
        if self._start is not None and self._start.fileno() in ready:
            self._hear_start(self._start, now)
        elif self._socket is not None and self._socket.fileno() in ready:
            self._serve(self._socket, ready[self._socket.fileno()], now)
        if self._until is not None and now >= self._until:
            self._time_out(now)

    def close(self) -> None:
        """Close when the client goes. Open requests get errors; a partly sent line counts as sent."""
        why = LEFT_TEXT.format(self._replay.server)
        if self._left:
            self._drop_first()
        self.outbox += b"".join(self._outstanding.lose_daemon(why, "client_left", for_good=True))
        if self._queue or self._outstanding.handshaking:
            self._give_up(unreachable(why, "client_left"))
        self._hang_up()

    # --- finding a daemon -----------------------------------------------------------------------------------------

    def _dial(self, now: float, *, first: bool = False) -> None:
        self._until, self._listens = None, False
        try:
            connection = self._address.dial()
            if connection is not None:
                self._greet(connection, now)
            elif first:
                self._until, self._listens = now + FIRST_S, True
            elif self._wanted_since is not None:
                self._start = self._address.start()
                self._until = self._wanted_since + PATIENCE_S
            else:
                self._look_later(now)
        except (OSError, ImportError) as error:  # an upgrade may just have removed the modules that start one
            self._retry(unreachable(f"the Greenroom daemon can't be reached: {error}"), now)

    def _hear_start(self, start: StartingDaemon, now: float) -> None:
        outcome = start.outcome()
        if outcome is None:  # a report on the progress of the start
            self._wanted_since = now
            self._until = now + PATIENCE_S
            return
        self._hang_up()
        if outcome:
            self._give_up(unreachable(outcome))
            return
        try:
            connection = self._address.dial()
        except OSError:
            connection = None
        if connection is not None:
            self._greet(connection, now)
        else:
            self._retry(unreachable("the Greenroom daemon was ready, and then was not there"), now)

    def _retry(self, error: Message, now: float) -> None:
        """Try again as long as the client can wait; then refuse with this error."""
        self._hang_up()
        if self._wanted_since is None:
            self._look_later(now)
        elif now >= self._wanted_since + PATIENCE_S:
            self._give_up(error)
        else:
            self._until = now + AGAIN_S

    def _look_later(self, now: float) -> None:
        self._looks = min(self._looks + 1, len(LOOKS_S) - 1)
        self._until = now + LOOKS_S[self._looks]

    def _time_out(self, now: float) -> None:
        if self._start is not None:
            self._give_up(unreachable("the Greenroom daemon was not ready in time; its log says more"))
        elif self._socket is not None:
            self._give_up(unreachable(HUNG_TEXT))
        else:
            self._dial(now)

    def _give_up(self, error: Message) -> None:
        """Refuse everything that waits. The client may ask again; no daemon is looked for before that."""
        self._hang_up()
        self._until = self._wanted_since = None
        queued = (line.asks for line in self._queue if line.asks is not None)
        numbers = [*self._outstanding.give_up(), *queued]
        self.outbox += b"".join(message_line(refusal(number, error)) for number in numbers)
        self._queue.clear()
        self._queued = 0
        self._note(f"no daemon, and {len(numbers)} requests refused: {error['message']}")

    # --- the hello ------------------------------------------------------------------------------------------------

    def _greet(self, connection: socket, now: float) -> None:
        self._socket, self._open, self._mute = connection, False, False
        self._lines = LineReader()
        self._first = bytearray(self._outstanding.hello(self._hello))
        self._until = now + HELLO_S
        self._send(connection)

    def _hear_welcome(self, line: bytes, now: float) -> None:
        message = parse_message(line)
        welcome = message.get("greenroom")
        if not isinstance(welcome, dict):
            self._hear_refusal(message.get("error"), now)
            return
        self._note(f"connected to daemon {welcome.get('version')}, instance {welcome.get('instance')}")
        self._open = True
        self._until = self._wanted_since = None
        self._looks = -1
        if not any(line.begins for line in self._queue):
            self._first += b"".join(self._outstanding.replayed_lines())

    def _hear_refusal(self, error: Any, now: float) -> None:
        """Handle a refusal of the hello."""
        if not isinstance(error, dict) or not isinstance(error.get("data"), dict):
            error = unreachable("the Greenroom daemon answered the hello with something else")
        if error["data"].get("code") == "unknown_protocol":
            error = {**error, "message": f"{error.get('message')}{UPGRADE.format(self._replay.server)}"}
        if error["data"].get("retryable"):
            self._retry(error, now)
        else:
            self._give_up(error)

    # --- an open line ---------------------------------------------------------------------------------------------

    def _serve(self, connection: socket, events: int, now: float) -> None:
        if events & ~select.POLLOUT:
            self._receive(connection, now)
        if self._socket is connection and events & select.POLLOUT:
            self._send(connection)

    def _receive(self, connection: socket, now: float) -> None:
        try:
            data = connection.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose(now)
            return
        for line in self._lines.feed(data):
            if self._open:
                if self._outstanding.note_received(line):
                    self.outbox += line
            else:
                self._hear_welcome(line, now)
                if self._socket is None:
                    return
        if self._lines.skipped:
            self._note("a message of the daemon was too long, and left out")
            self._lines.skipped = 0

    def _send(self, connection: socket) -> None:
        try:
            while self._first:
                del self._first[: connection.send(self._first[:CHUNK])]
            while self._open and self._queue:
                self._send_some(connection)
        except BlockingIOError:
            return
        except OSError:
            self._mute = True  # the socket may hold its last lines: the reading side finds the end

    def _send_some(self, connection: socket) -> None:
        first = self._queue[0]
        sent = connection.send(memoryview(first.line)[self._left : self._left + CHUNK])
        if self._left == 0:
            self._outstanding.note_sent(first)
        self._left += sent
        if self._left == len(first.line):
            self._drop_first()

    def _drop_first(self) -> None:
        self._queued -= len(self._queue.popleft().line)
        self._left = 0

    # --- a loss ---------------------------------------------------------------------------------------------------

    def _lose(self, now: float) -> None:
        """Fail sent requests; lines that only waited are for the next daemon."""
        if not self._open:
            self._retry(unreachable("the Greenroom daemon closed the connection without a message"), now)
            return
        if self._left:
            self._drop_first()
        self._hang_up()
        self._queue = deque(line for line in self._queue if not line.introduces)
        self._queued = sum(len(line.line) for line in self._queue)
        messages = self._outstanding.lose_daemon(LOST_TEXT)
        self.outbox += b"".join(messages)
        self._note(f"the daemon went away; {len(messages)} requests and questions went with it")
        cut_off = self._outstanding.awaits_daemon and not self._address.left_in_order()
        if cut_off or self._outstanding.handshaking or any(line.asks is not None for line in self._queue):
            self._wanted_since = now
            self._dial(now)
        else:
            self._look_later(now)

    def _hang_up(self) -> None:
        if self._start is not None:
            self._start.close()  # a starting daemon continues without us
        if self._socket is not None:
            self._socket.close()
        self._start, self._socket, self._open, self._left = None, None, False, 0
        self._first.clear()
