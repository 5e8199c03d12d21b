"""Keys as they are pressed, where standard input is a terminal; the terminal is put back however we leave."""

import os
import sys
import termios
import tty
from typing import Self

CTRL_C, CTRL_D, CTRL_U, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x04", "\x15", "\x1a", "\x1c"
ENTER, BACKSPACE, ESCAPE = "\r", "\x7f", "\x1b"
UP, DOWN = "\x1b[A", "\x1b[B"


def there_are() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except ValueError:
        return False  # closed


class Keyboard:
    """Every key comes to us, Ctrl-C too: what it means is for the verb to say."""

    def __init__(self) -> None:
        self.fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self.fd)
        self._unfinished = b""

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def take(self) -> None:
        tty.setcbreak(self.fd)
        now = termios.tcgetattr(self.fd)
        now[0] &= ~(termios.ICRNL | termios.IXON)
        now[3] &= ~(termios.ISIG | termios.IEXTEN)
        termios.tcsetattr(self.fd, termios.TCSADRAIN, now)

    def give_back(self) -> None:
        termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)

    def read(self) -> list[str]:
        """What has been pressed or pasted since; an end of input is Ctrl-D. Arrow keys and the like come whole."""
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            data = b""
        if not data:
            return [CTRL_D]
        text = (self._unfinished + data).decode(errors="surrogateescape")
        self._unfinished = b""
        if text and "\udc80" <= text[-1] <= "\udcff":  # the first bytes of a character
            keep = (
                next(at for at in range(len(text), 0, -1) if at == 1 or not "\udc80" <= text[at - 2] <= "\udcff") - 1
            )
            self._unfinished = text[keep:].encode(errors="surrogateescape")
            text = text[:keep]
        return _keys(text)


def _keys(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("\x1b[", at) or text.startswith("\x1bO", at):
            end = at + 2
            while end < len(text) and not text[end].isalpha() and text[end] != "~":
                end += 1
            found.append(text[at : end + 1].replace("\x1bO", "\x1b["))
            at = end + 1
        else:
            found.append(ENTER if text[at] == "\n" else text[at])
            at += 1
    return found
