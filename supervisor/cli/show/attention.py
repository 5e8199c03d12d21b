"""The bell and the window's title: how a person who looks elsewhere hears of a question, or of a long turn's end.

The title says whose conversation the window shows, and whether it asks; the terminal keeps its own meanwhile. The
bell rings once for each question, and for the end of a turn that took long, but not for somebody who is there: the
terminal says that its window has the focus, or a key was pressed a moment ago.
"""

import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol, Self

from actors.vocabulary.visible import visible

BELL = "\a"
KEEP_TITLE, OLD_TITLE = "\x1b[22;0t", "\x1b[23;0t"
THERE_S = 10.0  # after a key the person is still looking, where the terminal does not tell of its focus
LONG_S = 10.0  # who waits for a shorter turn is looking


class Window(Protocol):
    """The window of a terminal."""

    focused: bool | None  # None: the terminal does not say


class Attention:
    """Inside of its block the title is ours. `name` is what the window shows."""

    def __init__(self, window: Window, name: str, now: float) -> None:
        self._window = window
        self._name = visible(name)
        self._pressed = now
        self._asked: set[str] = set()  # every question so far
        self._title = ""

    def __enter__(self) -> Self:
        _write(KEEP_TITLE)
        self._entitle(f"{self._name} (greenroom)")
        return self

    def __exit__(self, *_: object) -> None:
        _write(OLD_TITLE)

    def pressed(self, now: float) -> None:
        self._pressed = now

    def questions(self, open_: Iterable[str], now: float) -> None:
        """The questions that are open now."""
        asked = set(open_)
        if asked - self._asked:
            self._ring(now)
        self._asked |= asked
        self._entitle(f"? {self._name} asks (greenroom)" if asked else f"{self._name} (greenroom)")

    def turn_ended(self, began: float, ended: float, now: float) -> None:
        """A turn's end is shown, maybe one of long ago."""
        if ended - began >= LONG_S and now - ended < LONG_S:
            self._ring(now)

    def _ring(self, now: float) -> None:
        focused = self._window.focused
        if not (now - self._pressed < THERE_S if focused is None else focused):
            _write(BELL)

    def _entitle(self, title: str) -> None:
        if title != self._title:
            self._title = title
            _write(f"\x1b]0;{title}\x1b\\")


def _write(text: str) -> None:
    with suppress(OSError):  # the terminal may be gone
        sys.stdout.write(text)
        sys.stdout.flush()
