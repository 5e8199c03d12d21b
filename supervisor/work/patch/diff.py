"""Unified diffs of two texts. Pure; adds no file header.

Texts that differ too much for a quick comparison are shown as a removed and an added text.
"""

from collections.abc import Callable, Iterator
from difflib import Match, SequenceMatcher
from itertools import takewhile

from supervisor.work.patch.text import split_lines

COMMENT = "\\ "  # begins a line of a diff that belongs to neither text
NO_NEWLINE = f"{COMMENT}No newline at end of file\n"
MOST_STEPS = 2_000_000  # of the matcher in a diff: half a second
GoOn = Callable[[], None]


class TooDifferent(Exception):
    """Comparing the texts would take too long."""


class Matcher(SequenceMatcher[str]):
    """A matcher that counts its steps before it makes them: on repetitive texts their number is quadratic."""

    def __init__(self, old: list[str], new: list[str], go_on: GoOn, most_steps: int) -> None:
        self._old = old
        self._steps_left = most_steps
        self._go_on = go_on
        super().__init__(None, old, new)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._go_on()
        same: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]  # positions of lines in the new text
        self._steps_left -= sum(1 + len(same.get(line, ())) for line in self._old[alo:ahi])
        if self._steps_left < 0:
            raise TooDifferent
        return super().find_longest_match(alo, ahi, blo, bhi)


def diff_lines(
    old: str, new: str, context: int, go_on: GoOn = lambda: None, *, most_steps: int = MOST_STEPS
) -> Iterator[str]:
    """Yield the hunks from `@@` on; none for equal texts. `go_on` is called between steps, and may raise."""
    return _hunks(split_lines(old), split_lines(new), context, go_on, most_steps)


def _hunks(old: list[str], new: list[str], context: int, go_on: GoOn, most_steps: int) -> Iterator[str]:
    # Equal lines at both ends are cut off first: usually only a few lines of a long file were edited, and the
    # matcher's time grows faster than its input.
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    skip = max(0, head - context)
    keep = max(0, tail - context)
    a, b = old[skip : len(old) - keep], new[skip : len(new) - keep]
    for group in _groups(a, b, context, go_on, most_steps):
        (_, a_from, _, b_from, _), (_, _, a_to, _, b_to) = group[0], group[-1]
        yield f"@@ -{_range(skip + a_from, skip + a_to)} +{_range(skip + b_from, skip + b_to)} @@\n"
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                yield from _mark_lines(" ", a[a1:a2])
            else:
                yield from _mark_lines("-", a[a1:a2])
                yield from _mark_lines("+", b[b1:b2])


def _groups(
    a: list[str], b: list[str], context: int, go_on: GoOn, most_steps: int
) -> list[list[tuple[str, int, int, int, int]]]:
    try:
        return list(Matcher(a, b, go_on, most_steps).get_grouped_opcodes(context))
    except TooDifferent:
        return [[("replace", 0, len(a), 0, len(b))]]


def _common(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _range(start: int, stop: int) -> str:
    """Format a range of lines, counted from 1; an empty range names the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _mark_lines(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line
        if not line.endswith("\n"):
            yield "\n" + NO_NEWLINE
