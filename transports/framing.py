"""Bytes to lines, incrementally. Pure: knows no sockets and no JSON; whoever feeds it owns it.

At most one unfinished line is kept, and never more of it than the limit.
"""

from dataclasses import dataclass

LINE_LIMIT = 16 * 1024 * 1024  # bytes of one line without its end


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit was skipped. `size` counts everything before its newline."""

    size: int


Item = bytes | TooLong


class LineSplitter:
    """Lines end with a newline; a CR before it belongs to the line end. Blank lines are dropped."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._skipped = 0  # bytes of the current line that were not kept, 0 while it is kept

    def feed(self, chunk: bytes) -> list[Item]:
        """What this chunk completes, in order."""
        first, *others = chunk.split(b"\n")
        self._keep(first)
        if not others:
            return []
        items: list[Item] = []
        self._finish(items)
        last = others.pop()
        for line in others:
            self._judge(line, items)
        self._keep(last)
        return items

    def end(self) -> list[Item]:
        """The stream is over: an unfinished line counts as one."""
        items: list[Item] = []
        self._finish(items)
        return items

    def _keep(self, piece: bytes) -> None:
        if self._skipped:
            self._skipped += len(piece)
        elif len(self._rest) + len(piece) <= self._limit + 1:  # one more, for it may be the CR of the line end
            self._rest += piece
        else:
            self._skipped = len(self._rest) + len(piece)
            self._rest = bytearray()

    def _finish(self, items: list[Item]) -> None:
        if self._skipped:
            items.append(TooLong(self._skipped))
            self._skipped = 0
        elif self._rest:
            line, self._rest = bytes(self._rest), bytearray()
            self._judge(line, items)

    def _judge(self, line: bytes, items: list[Item]) -> None:
        content = line.removesuffix(b"\r")
        if len(content) > self._limit:
            items.append(TooLong(len(line)))
        elif content and not content.isspace():
            items.append(content)
