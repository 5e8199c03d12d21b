"""A program's bytes as lines, bounded: a message a line, and words on stderr for the log. Pure but for the log."""

from collections import deque
from collections.abc import Iterator

import structlog

LOGGED = 200  # lines of one life of a program; what says more than that says nothing to a person
LINE = 500  # characters of such a line
IN_A_ROW = 64  # messages that are heard before others have their turn: short ones come by the thousand at once
LAST_WORDS = 3  # lines that are told when it ends by itself

log = structlog.get_logger()


class TooLong(Exception):
    """A message beyond the bound. The connection is over, for where the next one begins is not known."""


class Lines:
    """Bytes cut into lines. What was said without a line's end is no message."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = bytearray()

    def cut(self, piece: bytes) -> Iterator[bytes]:
        if b"\n" not in piece:
            self._rest += piece
        else:
            first, *lines = piece.split(b"\n")
            yield bytes(self._rest + first)
            yield from lines[:-1]
            self._rest = bytearray(lines[-1])
        if len(self._rest) > self._longest:
            raise TooLong


class LastWords:
    """A program's stderr: to the log, and its last lines for the person who is told that it ended."""

    def __init__(self, event: str, **of: str) -> None:
        """Each line is logged as such an `event`, with `of`: whose words they are."""
        self._event = event
        self._of = of
        self._lines = Lines(LINE * 4)
        self._logged = 0
        self._last: deque[str] = deque(maxlen=LAST_WORDS)

    def take(self, piece: bytes) -> None:
        try:
            for line in self._lines.cut(piece):
                self._say(line)
        except TooLong:
            self._lines = Lines(LINE * 4)

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
