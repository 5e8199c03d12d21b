"""Error texts for a change that does not fit its file, from which a model can correct it. Pure.

The first line names the expected lines, in words that models know from Codex; the others give advice.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from actors.vocabulary.brief import brief
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.grammar import Chunk, Mark

SHOWN = 4000  # characters of the expected lines: a model knows its own text
WINDOW = 12  # lines of the file that are shown
WIDTH = 200  # characters of each
COMMON = 30  # most places of a line; a commoner line (blank, a brace) says nothing about the place
LOOKED_AT = 4_000  # lines that are compared by their letters, at some 10 µs each
TELLING = 2  # least lines that are not blank; a single line, like `pass`, may be there by chance
LIKE = 0.6  # least share of equal letters in similar lines

Find = Callable[[Sequence[str]], int | None]


class Misfit(Struct, frozen=True):
    """A change whose place was not found in its file. `number` counts from 1; `find` searches the whole file."""

    path: str
    lines: Sequence[str]
    chunk: Chunk
    number: int
    count: int
    find: Find
    effort: Effort

    def message(self) -> str:
        expected = json.dumps(self.chunk.old, ensure_ascii=False)
        shown = brief(expected, SHOWN)
        return "\n".join((f"Failed to find expected lines {shown} in {self.path}", self._position, self._advice()))

    def context_message(self) -> str:
        context = self.chunk.context or ""
        nearest = self._most_similar(context)
        advice = (
            "Name a line of the file behind @@ exactly, or none." if nearest is None else self._window(nearest, 1)
        )
        return f"Failed to find context '{context}' in {self.path}\n{self._position}\n{advice}"

    @property
    def _position(self) -> str:
        return f"This is change {self.number} of {self.count} for that file; nothing of the patch was applied."

    def _advice(self) -> str:
        new = tuple(line.text for line in self.chunk.lines if line.mark is not Mark.REMOVE)
        inserts = any(line.mark is Mark.INSERT for line in self.chunk.lines)
        tells = inserts and sum(bool(line.strip()) for line in new) >= TELLING
        if tells and (found := self.find(new)) is not None:
            return f"The file has what this change makes already, at line {found + 1}: leave the change out."
        if (earlier := self.find(self.chunk.old)) is not None:
            return (
                f"These lines are at line {earlier + 1}, before the place of an earlier change or of its @@ line: "
                "give the changes in the order of the file."
            )
        nearest = self._nearest_start()
        if nearest is None:
            return "Nothing in the file is like them: read the file again, and copy its lines exactly."
        return self._window(nearest, len(self.chunk.old))

    def _window(self, start: int, length: int) -> str:
        """Show the nearest lines of the file, and the first difference."""
        start = max(start, 0)
        end = min(start + min(length, WINDOW), len(self.lines))
        shown = "\n".join(f"{number + 1:>6}|{self.lines[number][:WIDTH]}" for number in range(start, end))
        return (
            f"The nearest lines in the file are:\n{shown}\n{self._difference(start)}"
            "Copy the lines exactly, with their indentation; read the file again if it has changed."
        )

    def _difference(self, start: int) -> str:
        for offset, wanted in enumerate(self.chunk.old):
            line = self.lines[start + offset] if start + offset < len(self.lines) else None
            if line is not None and line.strip() != wanted.strip():
                expected = json.dumps(wanted[:WIDTH], ensure_ascii=False)
                return f"Line {start + offset + 1} differs: the patch has {expected}.\n"
        return ""

    def _nearest_start(self) -> int | None:
        """Return the start at which most expected lines match; else the start at which the longest is similar."""
        places: dict[str, list[int]] = {}
        for number, line in enumerate(self.effort.walk(self.lines)):
            places.setdefault(line.strip(), []).append(number)
        votes: Counter[int] = Counter()
        for offset, wanted in enumerate(self.effort.walk(self.chunk.old)):
            found = places.get(wanted.strip(), []) if wanted.strip() else []
            if len(found) <= COMMON:
                votes.update(number - offset for number in found)
        if votes:
            return max(votes.most_common(1)[0][0], 0)
        longest = max(range(len(self.chunk.old)), key=lambda number: len(self.chunk.old[number].strip()))
        alike = self._most_similar(self.chunk.old[longest])
        return None if alike is None else max(alike - longest, 0)

    def _most_similar(self, wanted: str) -> int | None:
        """Return the number of the line that is most similar to another."""
        text = wanted.strip()[:WIDTH]
        if not text:
            return None
        matcher, best, best_line = SequenceMatcher(None, "", text, autojunk=False), LIKE, None
        for number, line in enumerate(self.lines[:LOOKED_AT]):
            self.effort.go_on()
            matcher.set_seq1(line.strip()[:WIDTH])
            if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
                best, best_line = matcher.ratio(), number
        return best_line
