"""Numbers and times as people read them, and text made safe for a terminal. Pure but for the clock."""

import time
import unicodedata
from datetime import datetime

from supervisor.cli.problems import Problem

# What a model or a command wrote may hold anything. A terminal obeys some of it. Some of it makes a text look like
# another: what turns the direction of writing round, and what isn't seen at all.
_CONTROLS = (*range(32), *range(127, 160))
_DECEIVING = (0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_TAGS = range(0xE0000, 0xE0080)
_UNSAFE: dict[int, str | None] = {code: None for code in (*_CONTROLS, *_DECEIVING, *_TAGS) if code not in (9, 10)}
_UNSAFE |= dict.fromkeys((0x2028, 0x2029), "\n")
_NO_CELL = {"Mn", "Me", "Cf"}  # marks above and below, and what only joins
_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def age(then: float, now: float | None = None) -> str:
    return span(max(0.0, (time.time() if now is None else now) - then))


def span(length_s: float) -> str:
    """One unit is enough to tell a minute from a day."""
    for unit, size in _UNITS:
        if length_s >= size:
            return f"{int(length_s // size)}{unit}"
    return "0s"


def took(length_s: float) -> str:
    return f"{length_s:.1f} s" if length_s < 60 else f"{int(length_s // 60)} min {int(length_s % 60)} s"


def many(count: int, what: str, whats: str = "") -> str:
    return f"{count:,} {what if count == 1 else whats or what + 's'}"


def size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def moment(then: float) -> str:
    return datetime.fromtimestamp(then).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def when(text: str, now: float | None = None) -> float:
    """`10m` ago, or a date and time."""
    from supervisor.cli.arguments import seconds

    if text[:1].isdigit() and text[-1:] in "smhd":
        return (time.time() if now is None else now) - seconds(text)
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise Problem(f"{text!r} is not a time", "write 10m, 2h or 2026-01-31T12:00", "usage") from None


def clean(text: str) -> str:
    """Without what a terminal would obey, or show as something that it is not."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNSAFE).expandtabs(4)


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def width(text: str) -> int:
    """In cells of a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(one) in _NO_CELL else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def cut(text: str, cells: int) -> str:
    """At most so wide; what is missing is shown by a dot."""
    if width(text) <= cells:
        return text
    while text and width(text) > cells - 1:
        text = text[:-1]
    return f"{text}…" if cells > 0 else ""


def wrapped(text: str, cells: int) -> list[str]:
    """All of it, in lines that are at most so wide."""
    lines, line, room = [], "", max(2, cells)
    for one in text:
        if width(line) + width(one) > room:
            lines.append(line)
            line = ""
        line += one
    return [*lines, line]
