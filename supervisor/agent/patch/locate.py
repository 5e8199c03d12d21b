"""Where in a file the chunks of an update belong, and what comes out. Pure."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from supervisor.agent.patch.errors import PatchMismatch
from supervisor.agent.patch.grammar import Chunk, Line, Mark
from supervisor.agent.patch.text import Splice, TextFile, TextLine

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
SINGLE_QUOTES = "\u2018\u2019\u201a\u201b"
DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f"
SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
TYPOGRAPHY = str.maketrans(
    dict.fromkeys(DASHES, "-")
    | dict.fromkeys(SINGLE_QUOTES, "'")
    | dict.fromkeys(DOUBLE_QUOTES, '"')
    | dict.fromkeys(SPACES, " ")
)


def _typography_folded(text: str) -> str:
    return text.strip().translate(TYPOGRAPHY)


# Strictest first: a loose match is only taken where no closer one exists.
READINGS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip, _typography_folded)


def updated(content: str, chunks: Sequence[Chunk], path: str) -> str:
    """The content with every chunk applied; `path` is for the failure text."""
    file = TextFile.of(content)
    return file.spliced(_splices(file, chunks, path))


def _splices(file: TextFile, chunks: Sequence[Chunk], path: str) -> Iterator[Splice]:
    search = _Search([line.text for line in file.lines])
    cursor = 0
    for chunk in chunks:
        if chunk.context is not None:
            found = search.find([chunk.context], cursor)
            if found is None:
                raise PatchMismatch(f"Failed to find context '{chunk.context}' in {path}")
            cursor = found + 1
        if chunk.old:
            splice = _replacement(file, search, chunk, cursor, path)
            cursor = splice.start + splice.count
        else:
            after_context = chunk.context is not None and not chunk.at_end
            splice = _splice(file, chunk.lines, cursor if after_context else len(file.lines))
        yield splice


def _replacement(file: TextFile, search: "_Search", chunk: Chunk, cursor: int, path: str) -> Splice:
    lines = chunk.lines
    start = search.find(chunk.old, cursor, at_end=chunk.at_end)
    if start is None and chunk.old[-1] == "":
        # Models write the file's last line feed as an empty line.
        lines = _without_last_old(chunk.lines)
        start = search.find(chunk.old[:-1], cursor, at_end=chunk.at_end)
    if start is None:
        raise PatchMismatch(f"Failed to find expected lines {json.dumps(chunk.old, ensure_ascii=False)} in {path}")
    return _splice(file, lines, start)


def _without_last_old(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    last = max(index for index, line in enumerate(lines) if line.mark is not Mark.INSERT)
    return lines[:last] + lines[last + 1 :]


def _splice(file: TextFile, lines: Sequence[Line], start: int) -> Splice:
    new: list[TextLine] = []
    at = start
    for line in lines:
        if line.mark is Mark.INSERT:
            new.append(TextLine(line.text, file.ending_at(at)))
            continue
        if line.mark is Mark.KEEP:
            new.append(file.lines[at])  # the file's own text, which may have matched loosely
        at += 1
    return Splice(start, at - start, tuple(new))


class _Search:
    """The lines of a file in each of their readings; a reading is made when it is first needed."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._readings: dict[Callable[[str], str], list[str]] = {}

    def find(self, wanted: Sequence[str], start: int, *, at_end: bool = False) -> int | None:
        last = len(self._lines) - len(wanted)
        if at_end and last >= start and (found := self._first(wanted, last)) is not None:
            return found
        return self._first(wanted, start)

    def _first(self, wanted: Sequence[str], start: int) -> int | None:
        for reading in READINGS:
            lines = self._lines_as(reading)
            pattern = [reading(line) for line in wanted]
            for index in _places(lines, pattern, start):
                if lines[index : index + len(pattern)] == pattern:
                    return index
        return None

    def _lines_as(self, reading: Callable[[str], str]) -> list[str]:
        if reading not in self._readings:
            self._readings[reading] = [reading(line) for line in self._lines]
        return self._readings[reading]


def _places(lines: list[str], pattern: list[str], start: int) -> Iterator[int]:
    """Where the pattern's first line stands; `list.index` finds it many times faster than a loop would."""
    if not pattern:
        yield start
    with suppress(ValueError):
        while pattern:
            start = lines.index(pattern[0], start)
            yield start
            start += 1
