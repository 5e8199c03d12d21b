"""A terminal as far as our output uses it: what a person would see. Unknown sequences are failures."""

import re
import unicodedata

_TOKENS = re.compile(
    r"\x1b\[(\??[0-9;]*)([A-Za-z])|(\r)|(\n)|\x1b\]0;([^\x07\x1b]*)\x1b\\|(\x07)|([^\x1b\r\n\x07])", re.DOTALL
)
_BEGUN = re.compile(r"(\x1b(\[[?0-9;]*|\][^\x07\x1b]*\x1b?)?)?\Z")


class Emulator:
    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self.title, self._titles = "", list[str]()  # the window's, and those that are kept for later
        self.bells = 0
        self._rest = ""  # the beginning of a sequence whose end has not been read yet

    def feed(self, text: str) -> "Emulator":
        text, at = self._rest + text, 0
        self._rest = _BEGUN.search(text)[0]  # type: ignore[index]  # it matches the empty string too
        text = text[: len(text) - len(self._rest)]
        while at < len(text):
            found = _TOKENS.match(text, at)
            assert found is not None, f"the terminal would choke on {text[at : at + 20]!r}"
            at = found.end()
            if found[2]:
                self._sequence(found[1], found[2])
            elif found[3]:
                self.column = 0
            elif found[4]:
                self._down()
            elif found[5] is not None:
                self.title = found[5]
            elif found[6]:
                self.bells += 1
            else:
                self._put(found[7])
        return self

    def _sequence(self, arguments: str, letter: str) -> None:
        count = int(arguments) if arguments.isdigit() else 1
        match letter:
            case "m" | "h" | "l":
                pass  # colours, and the choice of a screen: neither is text
            case "t" if arguments == "22;0":
                self._titles.append(self.title)
            case "t" if arguments == "23;0":
                self.title = self._titles.pop()
            case "A":
                self.row = max(0, self.row - count)
            case "C":
                self.column = min(self.columns - 1, self.column + count)
            case "H":
                self.row = self.column = 0
            case "K":
                del self.rows[self.row][self.column :]
            case "J":
                if arguments == "2":
                    self.rows = [[] for _ in self.rows]
                    return
                del self.rows[self.row][self.column :]
                del self.rows[self.row + 1 :]
            case _:
                raise AssertionError(f"not a sequence of ours: {arguments}{letter}")

    def _put(self, character: str) -> None:
        cells = [character, *[""] * (unicodedata.east_asian_width(character) in "WF")]  # a wide character has two
        if self.column + len(cells) > self.columns:
            self._down()
            self.column = 0
        line = self.rows[self.row]
        line.extend(" " * (self.column - len(line)))
        line[self.column : self.column + len(cells)] = cells
        self.column += len(cells)

    def _down(self) -> None:
        self.row += 1
        while len(self.rows) <= self.row:
            self.rows.append([])

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.rows).rstrip("\n")
