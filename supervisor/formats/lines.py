"""A program's output as bounded lines: a message a line, and stderr for the log. Pure but for the log."""

from collections import deque
from collections.abc import Iterator

import structlog

LOGGED = 200  # lines of one run of a program; a person reads no more
LINE = 500  # characters of such a line
IN_A_ROW = 64  # messages read in a row before the loop does other work: short ones come by the thousand
LAST_WORDS = 3  # lines that are shown when the program ends by itself

log = structlog.get_logger()


class MessageTooLong(Exception):
    """A message beyond the bound. The connection is over, because the next message's beginning is not known."""


class LineCutter:
    """Bytes cut into lines. A last line without an end is not a message."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = bytearray()

    def complete_lines(self, piece: bytes) -> Iterator[bytes]:
        if b"\n" not in piece:
            self._rest += piece
        else:
            first, *lines = piece.split(b"\n")
            yield bytes(self._rest + first)
            yield from lines[:-1]
            self._rest = bytearray(lines[-1])
        if len(self._rest) > self._longest:
            raise MessageTooLong


class StderrLog:
    """A program's stderr: written to the log, its last lines kept for the notice of its end."""

    def __init__(self, event: str, **of: str) -> None:
        """Log each line as `event`, with the members of `of`, which name the program."""
        self._event = event
        self._of = of
        self._lines = LineCutter(LINE * 4)
        self._logged = 0
        self._last: deque[str] = deque(maxlen=LAST_WORDS)

    def take(self, piece: bytes) -> None:
        try:
            for line in self._lines.complete_lines(piece):
                self._say(line)
        except MessageTooLong:
            self._lines = LineCutter(LINE * 4)

    @property
    def text(self) -> str:
        return " / ".join(self._last)

    def _say(self, raw: bytes) -> None:
        line = raw.decode("utf-8", "replace").strip()[:LINE]
        if not line:
            return
        self._last.append(line)
        self._logged += 1
        if self._logged <= LOGGED:
            log.info(self._event, **self._of, line=line)
        elif self._logged == LOGGED + 1:
            log.info(self._event, **self._of, line="(more is not logged)")
