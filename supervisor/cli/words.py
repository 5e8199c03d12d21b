"""Numbers and times as people read them, and text made safe for a terminal. Pure but for the clock."""

import time
import unicodedata
from collections.abc import Iterable
from datetime import datetime

from actors.vocabulary.visible import escape, unseen
from supervisor.cli.problems import Problem

# In prose these have a use: they join letters, choose the look of a sign, or keep two words on one line.
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_ENDS_OF_LINES = str.maketrans({"\r": "\n", "\u2028": "\n", "\u2029": "\n"})
_NO_CELL = {"Mn", "Me", "Cf"}  # marks and joiners
_WIDENS = "\ufe0f"  # may make the sign before it as wide as a picture
_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def age(then: float, now: float | None = None) -> str:
    return span(max(0.0, (time.time() if now is None else now) - then))


def span(length_s: float) -> str:
    """A duration in its largest unit."""
    for unit, size in _UNITS:
        if length_s >= size:
            return f"{int(length_s // size)}{unit}"
    return "0s"


def took(length_s: float) -> str:
    return f"{length_s:.1f} s" if length_s < 60 else f"{int(length_s // 60)} min {int(length_s % 60)} s"


def many(count: int, what: str, whats: str = "") -> str:
    return f"{count:,} {what if count == 1 else whats or what + 's'}"


def nearest(word: str, known: Iterable[str], otherwise: str) -> str:
    """The advice on an unknown word: what else may have been meant."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=3)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def moment(then: float) -> str:
    return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def when(text: str, now: float | None = None) -> float:
    """Read a time: `10m` ago, or a date and time."""
    from supervisor.cli.arguments import seconds

    if text[:1].isdigit() and text[-1:] in "smhd":
        return (time.time() if now is None else now) - seconds(text)
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise Problem(f"{text!r} is not a time", "write 10m, 2h or 2026-01-31T12:00", "usage") from None


def clean(text: str) -> str:
    """Make prose safe: a character that a terminal obeys or nobody sees is written by its number."""
    text = text.replace("\r\n", "\n").translate(_ENDS_OF_LINES).expandtabs(4)
    return text if text.isprintable() else "".join(map(_cleaned, text))


def _cleaned(character: str) -> str:
    if character == "\n" or character in _JOINERS or not unseen(character):
        return character
    return " " if unicodedata.category(character) == "Zs" else escape(character)


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def width(text: str) -> int:
    """The width in cells of a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(one) in _NO_CELL and one != _WIDENS
        else 2
        if unicodedata.east_asian_width(one) in "WF"
        else 1
        for one in text
    )


def cut(text: str, cells: int) -> str:
    """Cut the text to this width; `…` stands for what is missing."""
    if width(text) <= cells:
        return text
    return f"{text[: fitting(text, 0, cells - 1)]}…" if cells > 0 else ""


def fitting(text: str, start: int, cells: int) -> int:
    """The end of what fits into this width."""
    end, used = start, 0
    while end < len(text) and used + width(text[end]) <= cells:
        used += width(text[end])
        end += 1
    return end


def hung(text: str, cells: int | None, below: str = "  ") -> list[str]:
    """Break the text into lines of this width; all but the first begin with `below`."""
    lines: list[str] = []
    for line in text.split("\n"):
        at = 0
        while True:
            head = below if lines else ""
            end = len(line) if cells is None else _end(line, at, max(2, cells - len(head)))
            lines.append(f"{head}{line[at:end]}")
            at = end
            if at >= len(line):
                break
    return lines


def _end(text: str, start: int, cells: int) -> int:
    """The place to break a line: after a blank in its second half, or where it is full."""
    end = fitting(text, start, cells)
    if end == len(text):
        return end
    blank = text.rfind(" ", (start + end) // 2, end)
    return blank + 1 if blank > start else max(start + 1, end)
