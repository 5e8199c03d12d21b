"""Bytes to lines, incrementally. Pure: knows no sockets and no JSON; its caller owns it.

At most one unfinished line is kept, and never more of it than the limit. The values of a long line are counted:
decoding it cannot be divided and delays everybody.
"""

from typing import cast

from msgspec import Struct

from actors.vocabulary.json_values import has_too_many_values

LINE_LIMIT = 16 * 1024 * 1024  # bytes of one line without its end
VALUES_LIMIT = 50_000  # of one line: decoding so many takes some 15 ms, in which no other client is served
COPY_LIMIT = 1024 * 1024  # bytes; a longer line is kept as the bytearray that it arrived in: a copy takes 20 ms


class LineTooLong(Struct, frozen=True):
    """A line over the limit was skipped. `size` counts everything before its newline."""

    size: int

    @property
    def reason(self) -> str:
        return f"a message of {self.size} bytes is too long (greenroom.limits.frame_bytes)"


class TooMany(Struct, frozen=True):
    """A line with more values than the limit was skipped."""

    size: int
    limit: int

    @property
    def reason(self) -> str:
        return (
            f"a message of {self.size} bytes has more than {self.limit} values (greenroom.limits.message_values); "
            "send it in several"
        )


Skipped = LineTooLong | TooMany
Line = bytes | Skipped
LINE_TYPES = (bytes, bytearray)  # the types of a line that was not skipped; a long line is a bytearray


class LineSplitter:
    """Splits bytes at newlines; a CR before a newline belongs to the line end. Blank lines are dropped.

    `put` takes a chunk, `take` returns its lines. A chunk must be taken completely before the next is put.
    """

    def __init__(self, limit: int = LINE_LIMIT, values: int = VALUES_LIMIT) -> None:
        self._limit = limit
        self._most_values = values
        self._rest = bytearray()
        self._skipped = 0  # bytes of the current line if it is being dropped, else 0
        self._chunk = b""
        self._at = 0  # the place in the chunk up to which lines were taken

    def put(self, chunk: bytes) -> None:
        self._chunk, self._at = chunk, 0

    def take(self, most: int) -> list[Line]:
        """The next lines, at most `most`; blank ones count, too."""
        lines: list[Line] = []
        chunk, at = self._chunk, self._at
        for _ in range(most):
            end = chunk.find(b"\n", at)
            if end < 0:
                if at < len(chunk):
                    self._keep(chunk[at:])
                self._chunk, self._at = b"", 0
                return lines
            if self._rest or self._skipped:
                self._keep(chunk[at:end])
                self._finish(lines)
            else:
                self._judge(chunk[at:end], lines)
            at = end + 1
        self._at = at
        return lines

    @property
    def has_more(self) -> bool:
        """True if part of the chunk was not taken yet."""
        return self._at < len(self._chunk)

    def end(self) -> list[Line]:
        """Finish at the end of the stream: an unfinished line counts as a line."""
        lines: list[Line] = []
        self._finish(lines)
        return lines

    def _keep(self, piece: bytes) -> None:
        if self._skipped:
            self._skipped += len(piece)
        elif len(self._rest) + len(piece) > self._limit + 1:  # one more byte, which may be the CR of the line end
            self._skipped = len(self._rest) + len(piece)
            self._rest = bytearray()
        else:
            self._rest += piece

    def _finish(self, lines: list[Line]) -> None:
        if self._skipped:
            lines.append(LineTooLong(self._skipped))
            self._skipped = 0
        elif self._rest:
            line, self._rest = self._rest, bytearray()
            self._judge(cast("bytes", line) if len(line) > COPY_LIMIT else bytes(line), lines)

    def _judge(self, line: bytes, lines: list[Line]) -> None:
        content = line.removesuffix(b"\r") if line.endswith(b"\r") else line
        if len(content) > self._limit:
            lines.append(LineTooLong(len(line)))
        elif has_too_many_values(content, self._most_values):
            lines.append(TooMany(len(line), self._most_values))
        elif content and not content.isspace():
            lines.append(content)
