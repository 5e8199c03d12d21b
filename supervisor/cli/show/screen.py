"""Flowing text with a foot line below it. Owns the last line of the terminal, knows no events.

Without a terminal there is no foot line, and text goes out as it is.
"""

import re
import unicodedata
from typing import TextIO

from supervisor.cli.kit import terminal
from supervisor.cli.kit.formatting import cut_to_width, end_of_fit, width

# the sign that begins an approval, and signs that look like it
APPROVAL_SIGNS = tuple("?\uff1f\ufe56\u2047\u2048\u2049\u203d\u0294\u2753\u2754")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_PIECES = re.compile(r"\x1b\[[0-9;]*m|\n|[^\S\n]+|[^\s\x1b]+")


class Screen:
    def __init__(self, stream: TextIO, *, live: bool) -> None:
        self._stream = stream
        self.live = live
        self._columns = terminal.size()[0]
        self._at = 0  # the cell of the next character
        self._bare = True  # nothing is drawn in this line yet
        self._foot = ""
        self._drawn = ""  # the foot line as it is drawn now

    def resize(self) -> None:
        self._erase()
        self._columns = terminal.size()[0]
        self._draw()
        self._stream.flush()

    @property
    def columns(self) -> int:
        return self._columns

    @property
    def room(self) -> int | None:
        """Cells of a line that the window does not break; None without a window."""
        return max(8, self._columns - 1) if self.live else None

    def write(self, text: str, *, asks: bool = False) -> None:
        """Write text; full lines break between words. Only an approval (`asks`) may begin a line with its sign."""
        self._erase()
        self._stream.write("".join(self._wrap(text, asks=asks)))
        self._draw()
        self._stream.flush()

    def line(self, text: str = "", *, asks: bool = False) -> None:
        """Write the text on lines of its own."""
        self.write(("\n" if self._at else "") + text + "\n", asks=asks)

    def start_line(self) -> None:
        """Go to the beginning of a line."""
        if self._at:
            self.write("\n")

    def foot(self, text: str) -> None:
        if self.live and text != self._foot:
            self._erase()
            self._foot = text
            self._draw()
            self._stream.flush()

    def close(self) -> None:
        self.foot("")
        self.start_line()

    # --- the foot line --------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if self._foot:
            self._drawn = _fitting(self._foot, self._columns - 1)
            self._stream.write(("\n" if self._at else "") + self._drawn)

    def _erase(self) -> None:
        """Erase the foot line, also if a narrower window has broken it into several lines."""
        if not self._drawn:
            return
        columns = max(1, terminal.size()[0])
        above = (width(_ESCAPE.sub("", self._drawn)) - 1) // columns
        self._stream.write("\r" + (f"\x1b[{above}A" if above > 0 else "") + "\x1b[J")
        if self._at:
            self._stream.write(f"\x1b[A\x1b[{self._at}C")
        self._drawn = ""

    # --- the flow -------------------------------------------------------------------------------------------------

    def _wrap(self, text: str, *, asks: bool) -> list[str]:
        out: list[str] = []
        for piece in _PIECES.findall(text):
            if piece.startswith("\x1b"):
                out.append(piece)
            elif piece == "\n":
                self._end_line(out)
            elif self.live:
                self._put(piece, out, asks=asks)
            else:
                out.append(piece)
                self._at += width(piece)
        return out

    def _put(self, piece: str, out: list[str], *, asks: bool) -> None:
        """Write a word. No line is filled, so the terminal breaks none itself, and the position stays known."""
        room = self._columns - 1
        if self._at and self._at + width(piece) > room and (piece.isspace() or width(piece) <= room):
            self._end_line(out)
            if piece.isspace():
                return
        self._indent(piece, 0, out, asks=asks)
        start, left = 0, width(piece)
        while self._at + left > room:  # longer than a line: broken at its end
            end = max(start + 1, end_of_fit(piece, start, room - self._at))
            out.append(piece[start:end])
            left -= width(piece[start:end])
            self._end_line(out)
            start = end
            self._indent(piece, start, out, asks=asks)
        out.append(piece[start:])
        self._at += left
        self._bare = self._bare and not _first_drawn(piece, start)

    def _indent(self, piece: str, start: int, out: list[str], *, asks: bool) -> None:
        """Indent words of the model that would look like an approval."""
        if self._bare and not asks and _first_drawn(piece, start).startswith(APPROVAL_SIGNS):
            out.append("  ")
            self._at, self._bare = 2, False

    def _end_line(self, out: list[str]) -> None:
        out.append("\n")
        self._at, self._bare = 0, True


def _first_drawn(text: str, start: int) -> str:
    """The first character with a cell of its own: joiners and marks are drawn over their neighbour, or not at all."""
    rest = (text[at] for at in range(start, len(text)))
    return next((character for character in rest if unicodedata.category(character) not in {"Mn", "Me", "Cf"}), "")


def _fitting(text: str, cells: int) -> str:
    """The foot line, cut if it is too long; a cut line has no colours."""
    bare = _ESCAPE.sub("", text)
    return text if width(bare) <= cells else cut_to_width(bare, cells)
