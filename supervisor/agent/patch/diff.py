"""Unified diffs of two texts. Pure; adds no file header."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile

from supervisor.agent.patch.text import split_lines

NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(old: str, new: str, context: int) -> str:
    """Hunks from `@@` on; empty for equal texts."""
    return "".join(_hunks(split_lines(old), split_lines(new), context))


def _hunks(old: list[str], new: list[str], context: int) -> Iterator[str]:
    # What is equal at both ends is cut off first: an edit of a few lines in a long file is the usual case, and the
    # matcher's time grows faster than its input.
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    skip = max(0, head - context)
    keep = max(0, tail - context)
    a, b = old[skip : len(old) - keep], new[skip : len(new) - keep]
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(context):
        (_, a_from, _, b_from, _), (_, _, a_to, _, b_to) = group[0], group[-1]
        yield f"@@ -{_range(skip + a_from, skip + a_to)} +{_range(skip + b_from, skip + b_to)} @@\n"
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                yield from _marked(" ", a[a1:a2])
            else:
                yield from _marked("-", a[a1:a2])
                yield from _marked("+", b[b1:b2])


def _common(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _range(start: int, stop: int) -> str:
    """Lines counted from 1; an empty range names the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line
        if not line.endswith("\n"):
            yield "\n" + NO_NEWLINE
