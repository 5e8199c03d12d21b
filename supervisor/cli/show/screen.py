"""Text that flows, with one foot line below it that comes and goes. Owns the terminal's last line, knows no events.

Without a terminal there is no foot line, and text goes out as it is.
"""

import re
from typing import TextIO

from supervisor.cli import terminal
from supervisor.cli.words import cut, width

ASKS = (
    "?",
    "\uff1f",
    "\ufe56",
    "\u2047",
    "\u2048",
    "\u2049",
    "\u203d",
    "\u0294",
    "\u2753",
    "\u2754",
)  # at the beginning of a question, and what looks like it
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_PIECES = re.compile(r"\x1b\[[0-9;]*m|\n|[^\S\n]+|[^\s\x1b]+")


class Screen:
    def __init__(self, stream: TextIO, *, live: bool) -> None:
        self._stream = stream
        self._live = live
        self._columns = terminal.size()[0]
        self._at = 0  # the cell in which the next character goes
        self._foot = ""
        self._drawn = ""  # the foot line as it stands there

    def resized(self) -> None:
        self._erase()
        self._columns = terminal.size()[0]
        self._draw()
        self._stream.flush()

    @property
    def columns(self) -> int:
        return self._columns

    @property
    def room(self) -> int | None:
        """Cells of a line that is never broken; None where no window breaks any."""
        return max(8, self._columns - 1) if self._live else None

    def write(self, text: str, *, asks: bool = False) -> None:
        """In the flow: words are kept whole where a line is full. Only what `asks` begins a line with its mark."""
        self._erase()
        self._stream.write("".join(self._wrapped(text, asks=asks)))
        self._draw()
        self._stream.flush()

    def line(self, text: str = "", *, asks: bool = False) -> None:
        """On lines of its own."""
        self.write(("\n" if self._at else "") + text + "\n", asks=asks)

    def fresh(self) -> None:
        """At the beginning of a line."""
        if self._at:
            self.write("\n")

    def foot(self, text: str) -> None:
        if self._live and text != self._foot:
            self._erase()
            self._foot = text
            self._draw()
            self._stream.flush()

    def close(self) -> None:
        self.foot("")
        self.fresh()

    # --- the foot line --------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if self._foot:
            self._drawn = _fitting(self._foot, self._columns - 1)
            self._stream.write(("\n" if self._at else "") + self._drawn)

    def _erase(self) -> None:
        """Also where a narrower window has broken it into several lines."""
        if not self._drawn:
            return
        columns = max(1, terminal.size()[0])
        above = (width(_ESCAPE.sub("", self._drawn)) - 1) // columns
        self._stream.write("\r" + (f"\x1b[{above}A" if above > 0 else "") + "\x1b[J")
        if self._at:
            self._stream.write(f"\x1b[A\x1b[{self._at}C")
        self._drawn = ""

    # --- the flow -------------------------------------------------------------------------------------------------

    def _wrapped(self, text: str, *, asks: bool) -> list[str]:
        out: list[str] = []
        for piece in _PIECES.findall(text):
            if piece.startswith("\x1b"):
                out.append(piece)
            elif piece == "\n":
                out.append(piece)
                self._at = 0
            elif self._live:
                self._put(piece, out, asks=asks)
            else:
                out.append(piece)
                self._at += width(piece)
        return out

    def _put(self, piece: str, out: list[str], *, asks: bool) -> None:
        """A line is never quite full, so the terminal does not break it itself and we know where we are."""
        room = self._columns - 1
        if self._at and self._at + width(piece) > room and (piece.isspace() or width(piece) <= room):
            out.append("\n")
            self._at = 0
            if piece.isspace():
                return
        if not (self._at or asks) and piece.startswith(ASKS):
            out.append("  ")  # where a model's own words would look like a question of ours
            self._at = 2
        while self._at + width(piece) > room:  # longer than a line: broken where lines end
            head = _head(piece, max(1, room - self._at))
            out += [head, "\n"]
            piece = piece[len(head) :]
            self._at = 0
        out.append(piece)
        self._at += width(piece)


def _head(text: str, cells: int) -> str:
    end, used = 0, 0
    while end < len(text) and (end == 0 or used + width(text[end]) <= cells):
        used += width(text[end])
        end += 1
    return text[:end]


def _fitting(text: str, cells: int) -> str:
    """A foot line that is too long loses its colours with its end."""
    bare = _ESCAPE.sub("", text)
    return text if width(bare) <= cells else cut(bare, cells)
