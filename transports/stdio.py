"""Standard input and output as the ends of a wire, for a program that is itself the server. Loop thread.

The descriptors may be pipes, sockets, files, /dev/null or a terminal, and are shared with the parent process: their
flags are left alone. While taken, descriptor 1 leads to standard error, so that a stray print can't get into the
wire, and descriptor 0 to /dev/null, so that no child process eats a line.
"""

import os
import select
import sys

LINGER_S = 0.5  # after the end of input; clients kill a server that is still there after a second or two
PIPE_BUF = 4096  # a descriptor that polls as writable takes this much without waiting


class StandardStreams:
    """Standard input and output, taken over; `close` restores the descriptors."""

    linger_s: float | None = LINGER_S

    def __init__(self, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        sys.stdout.flush()
        self._stdin, self._stdout = stdin, stdout
        self._kept = (os.dup(stdin), os.dup(stdout))
        self.reads_from, self.writes_to = (_own(fd) for fd in self._kept)
        self._room = select.poll()
        self._room.register(self.writes_to, select.POLLOUT)
        self._food = select.poll()
        self._food.register(self.reads_from, select.POLLIN)
        _point(stdin, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        os.dup2(stderr, stdout)

    def read(self, size: int) -> bytes:
        if not self._food.poll(0):
            raise BlockingIOError
        return os.read(self.reads_from, size)

    def write(self, data: memoryview) -> int:
        if not self._room.poll(0):
            raise BlockingIOError
        return os.write(self.writes_to, data[:PIPE_BUF])

    def close(self) -> None:
        try:  # noqa: SIM105  # importing contextlib costs more than this module
            sys.stdout.flush()
        except (OSError, ValueError):  # stdout leads to standard error, which may be closed
            pass
        for private, public in ((self._kept[0], self._stdin), (self._kept[1], self._stdout)):
            os.dup2(private, public)
        for fd in {*self._kept, self.reads_from, self.writes_to}:
            os.close(fd)


def _own(fd: int) -> int:
    """Reopen a terminal, so that non-blocking reads affect nobody else; use anything else as it is."""
    if not os.isatty(fd):
        return fd
    try:
        return os.open(os.ttyname(fd), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return fd


def _point(public: int, private: int) -> None:
    os.dup2(private, public)
    os.close(private)
