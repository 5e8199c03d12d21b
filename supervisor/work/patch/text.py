"""A text file as lines, each with its own ending. Pure; knows nothing of patches."""

from collections.abc import Callable, Iterable, Iterator
from typing import Self

from msgspec import Struct

STRETCH = 256 * 1024  # characters that are split without a pause: other threads wait that long
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


def split_lines(text: str) -> list[str]:
    """Split a text into lines with their line feeds; unlike with `str.splitlines`, nothing else ends a line."""
    lines: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + STRETCH) + 1 or len(text)
        lines += [line + "\n" for line in text[start:end].split("\n")]
        rest = lines.pop()
        start = end
        if rest != "\n":
            lines.append(rest[:-1])
    return lines


class TextLine(Struct, frozen=True):
    text: str
    ending: str


class Splice(Struct, frozen=True):
    """A replacement of `count` lines from `start` by `lines`."""

    start: int
    count: int
    lines: tuple[TextLine, ...]


class TextFile(Struct, frozen=True):
    """A text file. Its last line always has an ending here, even if it has none in the file."""

    mark: str
    lines: tuple[TextLine, ...]

    @classmethod
    def parse(cls, content: str, walk: Callable[[list[str]], Iterable[str]] = iter) -> Self:
        """Split a text. `walk` iterates over the lines, and may do other work between them."""
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else ""
        return cls(mark, tuple(_with_endings(walk(split_lines(content.removeprefix(mark))))))

    def ending_at(self, index: int) -> str:
        """Return the ending for a new line at `index`: that of the line before it."""
        if not self.lines:
            return "\n"
        return self.lines[max(0, index - 1)].ending

    def replace_lines(self, splices: Iterable[Splice]) -> str:
        """Return the new content. Splices must not overlap; two at the same place stay in their order."""
        result: list[TextLine] = []
        done = 0
        for splice in sorted(splices, key=lambda splice: splice.start):
            result += self.lines[done : splice.start]
            result += splice.lines
            done = splice.start + splice.count
        result += self.lines[done:]
        return self.mark + "".join(line.text + line.ending for line in result)


def _with_endings(lines: Iterable[str]) -> Iterator[TextLine]:
    ending = "\n"
    for line in lines:
        if line.endswith("\r\n"):
            ending = "\r\n"
        elif line.endswith("\n"):
            ending = "\n"
        yield TextLine(line.removesuffix(ending), ending)
