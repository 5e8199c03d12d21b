"""MCP over stdio to the daemon's socket and back: a thin program that outlives any number of daemons.

Standard library only, one thread, one select. Moves whole lines; what it has to know of them is in ledger.py. When
the daemon goes it fails what was open, and dials again: by itself without starting one, at the client's next word
with.
"""

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Iterator

from transports.ledger import Ledger

CHUNK = 1 << 16
WRITE = 4096  # a pipe that select calls writable takes this much without blocking
BUFFER = 1 << 20  # of either direction; whoever is slower than that is waited for
GOODBYE_S = 0.9  # after the client's end of input, for answers that are under way
REDIAL_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # between looks for a new daemon
HELLO_S = 10.0

LOST = "the Greenroom daemon went away; the conversation is kept: ask again"

Dial = Callable[[bool], socket.socket | None]


class Refused(Exception):
    """The daemon is there and does not want us. The text is its own."""


class Bridge:
    """`dial(start)` gives a connected socket, starting a daemon if asked to, or None; `note` writes to our log."""

    def __init__(self, stdin: int, stdout: int, dial: Dial, hello: bytes, note: Callable[[str], None]) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._dial = dial
        self._hello = hello
        self._note = note
        self._ledger = Ledger()
        self._socket: socket.socket | None = None
        self._from_client = b""  # an unfinished line
        self._from_daemon = b""
        self._to_client = bytearray()
        self._to_daemon = bytearray()
        self._input_over = False
        self._deadline: float | None = None
        self._next_dial = 0.0
        self._dials = 0

    def run(self) -> int:
        """Until the client has no more to say and is owed nothing, or a second later."""
        self._connect(start=True)
        while not self._done():
            self._turn()
        self._flush_quickly()
        return 0

    # --- one turn -------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        readable, writable = self._interests()
        ready, free, _ = select.select(readable, writable, [], self._patience())
        if self._stdin in ready:
            self._read_client()
        if self._socket is not None and self._socket in ready:
            self._read_daemon()
        if self._stdout in free:
            self._write_client()
        if self._socket is not None and self._socket in free:
            self._write_daemon()
        if self._socket is None and not self._input_over and time.monotonic() >= self._next_dial:
            self._connect(start=bool(self._to_daemon))

    def _interests(self) -> tuple[list[int | socket.socket], list[int | socket.socket]]:
        readable: list[int | socket.socket] = []
        writable: list[int | socket.socket] = []
        if not self._input_over and len(self._to_daemon) < BUFFER:
            readable.append(self._stdin)
        if self._socket is not None:
            if len(self._to_client) < BUFFER:
                readable.append(self._socket)
            if self._to_daemon:
                writable.append(self._socket)
        if self._to_client:
            writable.append(self._stdout)
        return readable, writable

    def _patience(self) -> float | None:
        """Nothing to wait for but the two ends, unless there is no daemon or we are leaving."""
        now = time.monotonic()
        if self._deadline is not None:
            return max(0.0, self._deadline - now)
        return max(0.0, self._next_dial - now) if self._socket is None else None

    def _done(self) -> bool:
        if not self._input_over:
            return False
        late = self._deadline is not None and time.monotonic() >= self._deadline
        return late or self._socket is None or not (self._ledger.waiting or self._to_daemon or self._to_client)

    # --- the client -----------------------------------------------------------------------------------------------

    def _read_client(self) -> None:
        data = os.read(self._stdin, CHUNK)
        if not data:
            self._input_over = True
            self._deadline = time.monotonic() + GOODBYE_S
            return
        *lines, self._from_client = (self._from_client + data).split(b"\n")
        for line in lines:
            if line.strip():
                self._ledger.from_client(line)
                self._to_daemon += line + b"\n"
        if self._socket is None and self._to_daemon:
            self._connect(start=True)

    def _write_client(self) -> None:
        try:
            sent = os.write(self._stdout, self._to_client[:WRITE])
        except BrokenPipeError:
            self._input_over, self._deadline = True, 0.0  # the client is gone
            self._to_client.clear()
            return
        del self._to_client[:sent]

    def _flush_quickly(self) -> None:
        """The last words, as far as the client takes them without waiting."""
        while self._to_client and select.select([], [self._stdout], [], 0)[1]:
            self._write_client()

    # --- the daemon -----------------------------------------------------------------------------------------------

    def _read_daemon(self) -> None:
        try:
            data = self._socket.recv(CHUNK) if self._socket is not None else b""
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        *lines, self._from_daemon = (self._from_daemon + data).split(b"\n")
        for line in lines:
            if self._ledger.from_daemon(line):
                self._to_client += line + b"\n"

    def _write_daemon(self) -> None:
        try:
            sent = self._socket.send(self._to_daemon[:CHUNK]) if self._socket is not None else 0
        except BlockingIOError:
            return
        except OSError:
            self._lose()
            return
        del self._to_daemon[:sent]

    def _lose(self) -> None:
        """What was on its way to the old daemon is lost with it: its requests are among those that fail now."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._from_daemon = None, b""
        self._to_daemon.clear()
        for line in self._ledger.lost(LOST):
            self._to_client += line
        self._dials, self._next_dial = 0, time.monotonic()
        self._note("the daemon went away")

    def _connect(self, *, start: bool) -> None:
        waiting = bytes(self._to_daemon)
        try:
            found = self._dial(start)
            if found is not None:
                self._greet(found, waiting)
                return
            why = "no Greenroom daemon runs"
        except (OSError, Refused) as error:
            why = str(error) or type(error).__name__
        self._dials += 1
        self._next_dial = time.monotonic() + REDIAL_S[min(self._dials, len(REDIAL_S)) - 1]
        if start:
            self._give_up(why)

    def _give_up(self, why: str) -> None:
        """What the client has just said can't be done: it hears so, and may say it again."""
        self._note(f"no daemon: {why}")
        self._to_daemon.clear()
        for line in self._ledger.lost(f"the Greenroom daemon can't be reached: {why}"):
            self._to_client += line

    def _greet(self, found: socket.socket, waiting: bytes) -> None:
        found.settimeout(HELLO_S)
        try:
            found.sendall(self._hello)
            welcome, rest = _first_line(found)
        except BaseException:
            found.close()
            raise
        if b'"greenroom"' not in welcome:
            found.close()
            raise Refused(welcome.decode(errors="replace").strip())
        found.setblocking(False)
        self._socket, self._from_daemon, self._dials = found, b"", 0
        replayed = b"".join(line + b"\n" for line in self._ledger.replay() if line + b"\n" not in waiting)
        self._to_daemon = bytearray(replayed + waiting)
        if rest:
            self._from_daemon = rest
        self._note("connected")


def _first_line(found: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\n" not in data:
        piece = found.recv(CHUNK)
        if not piece:
            raise Refused(data.decode(errors="replace").strip() or "it closed the connection")
        data += piece
    line, _, rest = data.partition(b"\n")
    return line, rest


@contextlib.contextmanager
def clean_stdout() -> Iterator[int]:
    """Our own descriptor for the wire; whoever prints by accident prints to stderr."""
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        yield wire
    finally:
        os.close(wire)
