"""The terminal that output goes to, if any: its size, and whether it takes colour."""

import os
import sys
from typing import TextIO

COLUMNS = 80  # if the system does not tell
ROWS = 24

_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "reverse": "7",
}


def is_terminal(stream: TextIO | None = None) -> bool:
    try:
        return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:
        return False  # closed


def size() -> tuple[int, int]:
    """Columns and rows."""
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError):
            continue
        if columns > 0:
            return columns, rows or ROWS
    return COLUMNS, ROWS


class Paint:
    """Colours for text, or no change at all where colours are not wanted."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.on = is_terminal(stream) and not os.environ.get("NO_COLOR")

    def __call__(self, text: str, *styles: str) -> str:
        codes = [_CODES[style] for style in styles if style != "plain"]
        if not self.on or not text or not codes:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"
