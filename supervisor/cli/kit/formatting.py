"""Numbers and times as people read them, and text made safe for a terminal. Pure but for the clock."""

import time
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime

from actors.vocabulary.visible_text import escape, is_invisible, is_joiner, is_of_use, is_plain, visible
from supervisor.cli.kit.problems import Problem

NOTHING = "nothing"  # the value of a setting that has none
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


def duration(length_s: float) -> str:
    return f"{length_s:.1f} s" if length_s < 60 else f"{int(length_s // 60)} min {int(length_s % 60)} s"


def plural(count: int, what: str, whats: str = "") -> str:
    return f"{count:,} {what if count == 1 else whats or what + 's'}"


def size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def moment(then: float) -> str:
    return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def parse_time(text: str, now: float | None = None) -> float:
    """Read a time: `10m` ago, or a date and time."""
    from supervisor.cli.kit.arguments import seconds

    if text[:1].isdigit() and text[-1:] in "smhd":
        return (time.time() if now is None else now) - seconds(text)
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise Problem(f"{text!r} is not a time", "write 10m, 2h or 2026-01-31T12:00", "usage") from None


def clean(text: str) -> str:
    """Make prose safe: control characters and invisible characters are written by their numbers."""
    text = _in_lines(text)
    return text if is_plain(text) else "".join(_visible_characters(text))


def clean_piece(text: str) -> str:
    """Make a piece of streamed prose safe: the next piece is not known yet, so joiners stay."""
    text = _in_lines(text)
    return text if is_plain(text) else "".join(char if is_joiner(char) else _visible_form(char) for char in text)


def _in_lines(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_ENDS_OF_LINES).expandtabs(4)


def _visible_characters(text: str) -> Iterator[str]:
    for at, character in enumerate(text):
        yield character if is_of_use(text, at) else _visible_form(character)


def _visible_form(character: str) -> str:
    if character == "\n" or not is_invisible(character):
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
        if unicodedata.category(character) in _NO_CELL and character != _WIDENS
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def cut_to_width(text: str, cells: int) -> str:
    """Cut the text to this width; `…` stands for the rest."""
    if width(text) <= cells:
        return text
    return f"{text[: end_of_fit(text, 0, cells - 1)]}…" if cells > 0 else ""


def end_of_fit(text: str, start: int, cells: int) -> int:
    """The end of the longest part from `start` that fits into this width."""
    end, used = start, 0
    while end < len(text) and used + width(text[end]) <= cells:
        used += width(text[end])
        end += 1
    return end


def wrap_text(text: str, cells: int | None, below: str = "  ") -> list[str]:
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
    end = end_of_fit(text, start, cells)
    if end == len(text):
        return end
    blank = text.rfind(" ", (start + end) // 2, end)
    return blank + 1 if blank > start else max(start + 1, end)


def setting_change(change: Mapping[str, object]) -> str:
    """A changed setting in one line."""
    return (
        f"{change['name']}: {visible(str(change['before'])) or NOTHING} → {visible(str(change['after'])) or NOTHING}"
    )
