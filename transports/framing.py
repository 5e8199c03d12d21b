"""Bytes to lines, incrementally. Pure: knows no sockets and no JSON; its caller owns it.

At most one unfinished line is kept, and never more of it than the limit. The values of a long line are counted while
it arrives: decoding it cannot be divided and delays everybody.
"""

from typing import cast

from msgspec import Struct

from actors.vocabulary.shortening import end_of_text

LINE_LIMIT = 16 * 1024 * 1024  # bytes of one line without its end
VALUES_LIMIT = 50_000  # of one line: decoding so many takes some 15 ms, in which no other client is served
COPY_LIMIT = 1024 * 1024  # bytes; a longer line is kept as the bytearray that it arrived in: a copy takes 20 ms

# Outside the strings of a JSON text, each of these bytes stands for at most one value.
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b",[{")


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


class ValueCounter:
    """Counts the values of one line of JSON, in whatever pieces it comes. Other text soon exceeds any limit."""

    def __init__(self) -> None:
        self.count = 0
        self._in_string = False
        self._escaped = False  # the previous piece ended in a backslash

    def feed(self, piece: bytes, limit: int) -> bool:
        """Count a piece; True if the total exceeds the limit."""
        at, end = 0, len(piece)
        if self._escaped and end:
            self._escaped, at = False, 1
        while at < end and self.count <= limit:
            if self._in_string:
                at = self._leave_string(piece, at)
            else:
                quote = piece.find(b'"', at)
                outside = piece[at : end if quote < 0 else quote]
                self.count += len(outside.translate(None, _NOT_STRUCTURE)) + (quote >= 0)
                self._in_string, at = quote >= 0, end if quote < 0 else quote + 1
        return self.count > limit

    def _leave_string(self, piece: bytes, at: int) -> int:
        after = end_of_text(piece, at)
        if after < len(piece) and piece[after : after + 1] == b'"':
            self._in_string = False
            return after + 1
        self._escaped = after < len(piece)  # a backslash whose character comes with the next piece
        return len(piece)


class LineSplitter:
    """Splits bytes at newlines; a CR before a newline belongs to the line end. Blank lines are dropped.

    `put` takes a chunk, `take` returns its lines. A chunk must be taken completely before the next is put.
    """

    def __init__(self, limit: int = LINE_LIMIT, values: int = VALUES_LIMIT) -> None:
        self._limit = limit
        self._most_values = values
        self._rest = bytearray()
        self._skipped = 0  # bytes of the current line if it is being dropped, else 0
        self._values: ValueCounter | None = None  # the count for the current line, once it is long
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
            self._values = ValueCounter()
            piece = bytes(self._rest)
        return self._values.feed(piece, self._most_values)

    def _finish(self, lines: list[Line]) -> None:
        values, self._values = self._values, None
        if self._skipped:
            too_many = values is not None and values.count > self._most_values
            lines.append(TooMany(self._skipped, self._most_values) if too_many else LineTooLong(self._skipped))
            self._skipped = 0
        elif self._rest:
            line, self._rest = self._rest, bytearray()
            self._judge(
                cast("bytes", line) if len(line) > COPY_LIMIT else bytes(line), lines, counted=values is not None
            )

    def _judge(self, line: bytes, lines: list[Line], *, counted: bool = False) -> None:
        content = line.removesuffix(b"\r") if line.endswith(b"\r") else line
        if len(content) > self._limit:
            lines.append(LineTooLong(len(line)))
        elif len(line) > self._most_values and not counted and ValueCounter().feed(line, self._most_values):
            lines.append(TooMany(len(line), self._most_values))
        elif content and not content.isspace():
            lines.append(content)
