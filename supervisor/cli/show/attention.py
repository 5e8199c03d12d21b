"""The bell and the window's title, which tell a person who looks elsewhere of an approval or of a long turn's end.

The title names the conversation in the window, and says whether it asks; the terminal restores its own title later.
The bell rings once for each approval, and for the end of a turn that took long, but not for a person who is there:
the window has the focus, or a key was pressed a moment ago.
"""

import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol, Self

from actors.vocabulary.visible_text import visible

BELL = "\a"
KEEP_TITLE, OLD_TITLE = "\x1b[22;0t", "\x1b[23;0t"
THERE_S = 10.0  # after a key the person is still looking, where the terminal does not tell of its focus
LONG_S = 10.0  # a person who waits for a shorter turn is looking


class Window(Protocol):
    """The window of a terminal."""

    has_focus: bool | None  # None: the terminal does not say


class Attention:
    """The bell, and our title inside the `with` block. `name` is the conversation or the verb in the window."""

    def __init__(self, window: Window, name: str, now: float) -> None:
        self._window = window
        self._name = visible(name)
        self._pressed = now
        self._asked: set[str] = set()  # every approval so far
        self._title = ""

    def __enter__(self) -> Self:
        _write(KEEP_TITLE)
        self._entitle(f"{self._name} (greenroom)")
        return self

    def __exit__(self, *_: object) -> None:
        _write(OLD_TITLE)

    def note_key(self, now: float) -> None:
        self._pressed = now

    def show_open_approvals(self, open_: Iterable[str], now: float) -> None:
        """Show whether approvals are open, and ring for a new one."""
        asked = set(open_)
        if asked - self._asked:
            self._ring(now)
        self._asked |= asked
        self._entitle(f"? {self._name} asks (greenroom)" if asked else f"{self._name} (greenroom)")

    def note_turn_end(self, began: float, ended: float, now: float) -> None:
        """Ring for the end of a long turn, unless it ended long ago."""
        if ended - began >= LONG_S and now - ended < LONG_S:
            self._ring(now)

    def _ring(self, now: float) -> None:
        focused = self._window.has_focus
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
