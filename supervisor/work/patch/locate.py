"""Finds the place of each chunk of an update in a file, and applies the chunks. Pure."""

import sys
from collections.abc import Callable, Iterator, Sequence

from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchMismatch
from supervisor.work.patch.grammar import Chunk, Mark, PatchLine
from supervisor.work.patch.misfit import Misfit
from supervisor.work.patch.text import Splice, TextFile, TextLine

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


def _fold_typography(text: str) -> str:
    return text.strip().translate(TYPOGRAPHY)


# Strictest first: a loose match counts only if there is no closer match.
READINGS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip, _fold_typography)

FEW = 3  # lines that may be ambiguous; more identify a place, and models give three of context on either side


def apply_chunks(content: str, chunks: Sequence[Chunk], path: str, effort: Effort | None = None) -> str:
    """Apply every chunk to the content; `path` is for the failure text."""
    effort = effort or Effort()
    effort.spend_lines(content.count("\n") + 1)
    file = TextFile.parse(content, effort.walk)
    return file.replace_lines(_splices(file, chunks, path, effort))


def _splices(file: TextFile, chunks: Sequence[Chunk], path: str, effort: Effort) -> Iterator[Splice]:
    lines = [line.text for line in file.lines]
    search = _Search(lines, effort)
    cursor = 0
    for number, chunk in enumerate(chunks, 1):
        effort.go_on()
        misfit = Misfit(path, lines, chunk, number, len(chunks), lambda wanted: search.find(wanted, 0), effort)
        if chunk.context is not None:
            found = search.find([chunk.context], cursor)
            if found is None:
                raise PatchMismatch(misfit.context_message())
            cursor = found + 1
        if chunk.old:
            splice = _replacement(file, search, misfit, cursor)
            cursor = splice.start + splice.count
        else:
            after_context = chunk.context is not None and not chunk.at_end
            splice = _splice(file, chunk.lines, cursor if after_context else len(file.lines))
        yield splice


def _replacement(file: TextFile, search: "_Search", misfit: Misfit, cursor: int) -> Splice:
    chunk = misfit.chunk
    lines = chunk.lines
    start = search.find(chunk.old, cursor, at_end=chunk.at_end)
    if start is None and chunk.old[-1] == "":
        # Models write the file's last line feed as an empty line.
        lines = _without_last_old(chunk.lines)
        start = search.find(chunk.old[:-1], cursor, at_end=chunk.at_end)
    if start is None:
        raise PatchMismatch(misfit.message())
    _note_a_second_place(search, misfit, start)
    return _splice(file, lines, start)


def _note_a_second_place(search: "_Search", misfit: Misfit, start: int) -> None:
    """Note for the model that a few lines without @@ occur twice: the first place may not be the intended one."""
    old, lines = list(misfit.chunk.old), misfit.lines
    if misfit.chunk.context is not None or len(old) > FEW or lines[start : start + len(old)] != old:
        return
    again = search.find(old, start + 1)
    if again is not None and lines[again : again + len(old)] == old:
        misfit.effort.note(
            f"change {misfit.number} of {misfit.path} fits at line {start + 1} and at line {again + 1} as they were; "
            "the first was changed, so look whether that was meant"
        )


def _without_last_old(lines: tuple[PatchLine, ...]) -> tuple[PatchLine, ...]:
    last = max(index for index, line in enumerate(lines) if line.mark is not Mark.INSERT)
    return lines[:last] + lines[last + 1 :]


def _splice(file: TextFile, lines: Sequence[PatchLine], start: int) -> Splice:
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


class _Reading:
    """A file's lines in a way of reading, as a text with a letter for each line; equal lines share a letter.

    So lines are found by the interpreter's text search, which takes linear time even at its worst.
    """

    def __init__(self, lines: list[str], read: Callable[[str], str], effort: Effort) -> None:
        self._read = read
        self._effort = effort
        self._letters: dict[str, str] = {}
        self._text = "".join(self._letter(read(line)) for line in effort.walk(lines))

    def find(self, wanted: Sequence[str], start: int) -> int | None:
        letters: list[str] = []
        for line in self._effort.walk(wanted):
            letter = self._letters.get(self._read(line))
            if letter is None:
                return None  # the file has no such line
            letters.append(letter)
        found = self._text.find("".join(letters), start)
        self._effort.spend_comparisons(len(wanted) + (len(self._text) if found < 0 else found) - start)
        return None if found < 0 else found

    def _letter(self, line: str) -> str:
        letter = self._letters.get(line)
        if letter is None:
            if len(self._letters) == sys.maxunicode:
                raise self._effort.refusal("patch_lines", "the file has too many different lines")
            letter = self._letters[line] = chr(len(self._letters) + 1)
        return letter


class _Search:
    """A file in each of its readings; a reading is made when it is first needed."""

    def __init__(self, lines: list[str], effort: Effort) -> None:
        self._lines = lines
        self._effort = effort
        self._readings: dict[Callable[[str], str], _Reading] = {}

    def find(self, wanted: Sequence[str], start: int, *, at_end: bool = False) -> int | None:
        last = len(self._lines) - len(wanted)
        if at_end and last >= start and (found := self._find_strictest(wanted, last)) is not None:
            return found
        return self._find_strictest(wanted, start)

    def _find_strictest(self, wanted: Sequence[str], start: int) -> int | None:
        places = (self._reading(read).find(wanted, start) for read in READINGS)
        return next((place for place in places if place is not None), None)

    def _reading(self, read: Callable[[str], str]) -> _Reading:
        if read not in self._readings:
            self._readings[read] = _Reading(self._lines, read, self._effort)
        return self._readings[read]
