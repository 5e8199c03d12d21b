"""Bytes to lines, incrementally. Pure: knows no sockets and no JSON; its caller owns it.

At most one unfinished line is kept, and never more of it than the limit. A long one is counted while it comes: how
many values it has decides how long everybody waits while it is decoded, and that cannot be divided.
"""

from typing import cast

from msgspec import Struct

from actors.vocabulary.shortening import end_of_text

LINE_LIMIT = 16 * 1024 * 1024  # bytes of one line without its end
VALUES_LIMIT = 50_000  # of one line: decoding them takes some 15 ms, in which nobody else is served
AS_IT_IS = 1024 * 1024  # bytes; a longer line stays the bytearray that it was put together in: a copy takes 20 ms

# In JSON, what is left without its strings: each of these bytes stands for a value at most.
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b",[{")


class TooLong(Struct, frozen=True):
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


Skipped = TooLong | TooMany
Line = bytes | Skipped
KEPT = (bytes, bytearray)  # a line that was not skipped; a long one stays what it was put together in


class Values:
    """Counts the values of one line of JSON, however it is cut. Anything else gets some count that soon exceeds."""

    def __init__(self) -> None:
        self.count = 0
        self._in_string = False
        self._escaped = False  # the piece before ended in a backslash

    def feed(self, piece: bytes, limit: int) -> bool:
        """Count a piece; True if there are more than the limit so far."""
        at, end = 0, len(piece)
        if self._escaped and end:
            self._escaped, at = False, 1
        while at < end and self.count <= limit:
            if self._in_string:
                at = self._leave_string(piece, at)
            else:
                found = piece.find(b'"', at)
                outside = piece[at : end if found < 0 else found]
                self.count += len(outside.translate(None, _NOT_STRUCTURE)) + (found >= 0)
                self._in_string, at = found >= 0, end if found < 0 else found + 1
        return self.count > limit

    def _leave_string(self, piece: bytes, at: int) -> int:
        after = end_of_text(piece, at)
        if after < len(piece) and piece[after : after + 1] == b'"':
            self._in_string = False
            return after + 1
        self._escaped = after < len(piece)  # a backslash, and what it is for comes with the next piece
        return len(piece)


class LineSplitter:
    """Splits bytes at newlines; a CR before a newline belongs to the line end. Blank lines are dropped.

    `put` is given bytes, `take` gives lines of them. Nothing more is put before all is taken.
    """

    def __init__(self, limit: int = LINE_LIMIT, values: int = VALUES_LIMIT) -> None:
        self._limit = limit
        self._most_values = values
        self._rest = bytearray()
        self._skipped = 0  # bytes of the current line that were not kept, 0 while it is kept
        self._values: Values | None = None  # of the current line, once it is long
        self._chunk = b""
        self._at = 0  # of the chunk, what was looked at

    def put(self, chunk: bytes) -> None:
        self._chunk, self._at = chunk, 0

    def take(self, most: int) -> list[Line]:
        """The next lines, at most so many; blank ones count, too."""
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
        """True if something of the chunk was not looked at yet."""
        return self._at < len(self._chunk)

    def end(self) -> list[Line]:
        """Finish at the end of the stream: an unfinished line counts as a line."""
        lines: list[Line] = []
        self._finish(lines)
        return lines

    def _keep(self, piece: bytes) -> None:
        if self._skipped:
            self._skipped += len(piece)
        elif len(self._rest) + len(piece) > self._limit + 1:  # one more, for it may be the CR of the line end
            self._skip(len(piece))
        else:
            self._rest += piece
            if len(self._rest) > self._most_values and self._has_too_many(piece):
                self._skip(0)

    def _skip(self, more: int) -> None:
        self._skipped = len(self._rest) + more
        self._rest = bytearray()

    def _has_too_many(self, piece: bytes) -> bool:
        if self._values is None:
            self._values = Values()
            piece = bytes(self._rest)
        return self._values.feed(piece, self._most_values)

    def _finish(self, lines: list[Line]) -> None:
        values, self._values = self._values, None
        if self._skipped:
            too_many = values is not None and values.count > self._most_values
            lines.append(TooMany(self._skipped, self._most_values) if too_many else TooLong(self._skipped))
            self._skipped = 0
        elif self._rest:
            line, self._rest = self._rest, bytearray()
            self._judge(
                cast("bytes", line) if len(line) > AS_IT_IS else bytes(line), lines, counted=values is not None
            )

    def _judge(self, line: bytes, lines: list[Line], *, counted: bool = False) -> None:
        content = line.removesuffix(b"\r") if line.endswith(b"\r") else line
        if len(content) > self._limit:
            lines.append(TooLong(len(line)))
        elif len(line) > self._most_values and not counted and Values().feed(line, self._most_values):
            lines.append(TooMany(len(line), self._most_values))
        elif content and not content.isspace():
            lines.append(content)
