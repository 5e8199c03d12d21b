"""Keys as a person presses them on a terminal, which is restored however the program ends.

Keys that were not read are thrown away then: a shell would take them for a command.
"""

import os
import re
import select
import signal
import sys
import termios
import tty
from contextlib import suppress
from typing import NoReturn, Self

CTRL_C, CTRL_D, CTRL_U, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x04", "\x15", "\x1a", "\x1c"
ENTER, BACKSPACE, ESCAPE = "\r", "\x7f", "\x1b"
UP, DOWN = "\x1b[A", "\x1b[B"
BRACKETED_PASTE_ON, BRACKETED_PASTE_OFF = (
    "\x1b[?2004h",
    "\x1b[?2004l",
)  # the terminal says where a paste begins and ends
FOCUS_REPORTS_ON, FOCUS_REPORTS_OFF = (
    "\x1b[?1004h",
    "\x1b[?1004l",
)  # the terminal says when its window gets and loses the focus
_FOCUS = {"\x1b[I": True, "\x1b[O": False}
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_WAYS_OUT = {b"\x03", b"\x04", b"\x1c"}  # keys that end a paste if they are pressed alone
_BEGUN = re.compile(r"\x1b(\[[0-9;]*)?\Z")  # an escape sequence that has only begun
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class PastedText(str):
    """Pasted text, with its line ends; no key was pressed for it."""

    __slots__ = ()


def has_keyboard() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except ValueError:
        return False  # closed


class Keyboard:
    """The keyboard. Every key is read, Ctrl-C too; the verb decides its meaning. A signal raises SystemExit."""

    def __init__(self) -> None:
        self.fd = sys.stdin.fileno()
        self.has_focus: bool | None = None  # None: the terminal has not said
        self._handlers = {
            number: before for number in _ENDS if (before := signal.getsignal(number)) is not signal.SIG_IGN
        }
        self._before = termios.tcgetattr(self.fd)
        self._unfinished = b""
        self._begun = ""
        self._paste: str | None = None  # the text so far of a paste that has not ended

    def __enter__(self) -> Self:
        for number in self._handlers:
            signal.signal(number, end_by_signal)
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()
        for number, before in self._handlers.items():
            signal.signal(number, before)

    def take(self) -> None:
        tty.setcbreak(self.fd)
        now = termios.tcgetattr(self.fd)
        now[0] &= ~(termios.ICRNL | termios.IXON)
        now[3] &= ~(termios.ISIG | termios.IEXTEN)
        termios.tcsetattr(self.fd, termios.TCSADRAIN, now)
        self._say(BRACKETED_PASTE_ON + FOCUS_REPORTS_ON)

    def give_back(self) -> None:
        self._say(BRACKETED_PASTE_OFF + FOCUS_REPORTS_OFF)
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.fd, termios.TCSAFLUSH, self._before)

    @staticmethod
    def _say(words: str) -> None:
        with suppress(OSError):  # the terminal is gone
            sys.stdout.write(words)
            sys.stdout.flush()

    def pending(self) -> list[str]:
        """The keys that were pressed already, up to Ctrl-D."""
        found: list[str] = []
        while CTRL_D not in found and select.select([self.fd], [], [], 0)[0]:  # Ctrl-D is also the end of the input
            found += self.read()
        return found

    def read(self) -> list[str]:
        """Read the pressed keys and the pastes. The end of input is Ctrl-D; arrow keys and the like come whole."""
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            data = b""
        if not data:
            return [CTRL_D]
        if self._paste is not None and data in _WAYS_OUT:
            self._paste = None  # the end of the paste was lost; let the person out
        text = (self._unfinished + data).decode(errors="surrogateescape")
        self._unfinished = b""
        if text and "\udc80" <= text[-1] <= "\udcff":  # the first bytes of a character
            keep = (
                next(at for at in range(len(text), 0, -1) if at == 1 or not "\udc80" <= text[at - 2] <= "\udcff") - 1
            )
            self._unfinished = text[keep:].encode(errors="surrogateescape")
            text = text[:keep]
        return self.parse_keys(text)

    def parse_keys(self, text: str) -> list[str]:
        """The keys and whole pastes in a text that may end anywhere."""
        text, self._begun = self._begun + text, ""
        found: list[str] = []
        while text:
            if self._paste is not None:
                whole, ended, text = (self._paste + text).partition(_PASTE_ENDS)
                self._paste = None if ended else whole
                if ended:
                    found.append(PastedText(_CONTROLS.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))))
                continue
            typed, begins, text = text.partition(_PASTE_BEGINS)
            if begins:
                self._paste = ""
            elif (begun := _BEGUN.search(typed)) is not None:
                typed, self._begun = typed[: begun.start()], begun[0]
            found += [key for key in _keys(typed) if not self._tells_focus(key)]
        return found

    def _tells_focus(self, key: str) -> bool:
        self.has_focus = _FOCUS.get(key, self.has_focus)
        return key in _FOCUS


def end_by_signal(number: int, _: object) -> NoReturn:
    """Raise SystemExit for a signal, so that the terminal is restored on the way out."""
    raise SystemExit(128 + number)


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
