"""A fuzzy search for file names, as editors ask for it. Blocking, for a worker thread.

Only names are read; no file is opened and no link followed. Scores are those that Codex's clients expect.
"""

import heapq
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from transports.supervisor_answers import FoundFile

MOST_FOUND = 50  # the best; a list to choose from holds fewer
NAMES = 50_000  # looked at, in all roots together: a large repository has as many
SEARCH_S = 2.0  # on a slow disk the search ends then, with the names found so far
NAME_CHARACTERS, QUERY_CHARACTERS = 512, 64  # longer names and queries are not compared
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
MATCH, GAP, GAP_GROWS, RUN = 16, 3, 1, 4
SPACE, DELIMITER, BOUNDARY, CAMEL = 10, 9, 8, 5  # the worth of a character, by the character before it
Places = tuple[int, ...]  # of the query's characters in a name
Way = tuple[int, int, Places]  # to find them: points, the worth of the last run, places


def search(query: str, roots: Iterable[Path]) -> tuple[FoundFile, ...]:
    """Matches, best first, then by path. A query with a capital letter is case-sensitive."""
    until = time.monotonic() + SEARCH_S
    names = ((root, path) for root in dict.fromkeys(roots) for path in _files(root, until))
    found = ((way, root, path) for root, path in islice(names, NAMES) if (way := points(query, path)) is not None)
    best = heapq.nsmallest(MOST_FOUND, found, key=lambda match: (-match[0][0], match[2], match[1]))
    return tuple(
        FoundFile(str(root), path, path.rpartition("/")[2], score, places) for (score, places), root, path in best
    )


def _files(root: Path, until: float) -> Iterator[str]:
    """Paths below the root, the nearest first. A directory that can't be read has none."""
    waiting = deque([""])
    while waiting and time.monotonic() < until:
        below = waiting.popleft()
        try:
            with os.scandir(root / below) as entries:
                for entry in sorted(islice(entries, NAMES), key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED_FOLDERS:
                            waiting.append(f"{below}{entry.name}/")
                    elif time.monotonic() < until:
                        yield below + entry.name.encode("utf-8", "replace").decode()
        except (OSError, ValueError):
            continue


def points(query: str, name: str) -> tuple[int, Places] | None:
    """The best way to find the query's characters in this order; None if there is no way."""
    minded = name if query != query.lower() else name.lower()
    too_long = len(name) > NAME_CHARACTERS or len(query) > QUERY_CHARACTERS
    if too_long or len(minded) != len(name) or not _has(query, minded):
        return None
    worth = [_worth(before, character) for before, character in zip(" " + name, name, strict=False)]
    ways: list[Way | None] = [None] * len(name)
    for place, wanted in enumerate(query):
        ways = _ways_with_one_more(wanted, minded, worth, ways, first=place == 0)
    best = max((way for way in ways if way is not None), key=lambda way: way[0], default=(0, 0, ()))
    return best[0], best[2]


def _ways_with_one_more(
    wanted: str,
    name: str,
    worth: Sequence[int],
    before: Sequence[Way | None],
    *,
    first: bool,
) -> list[Way | None]:
    """The best way to each place after one more character of the query."""
    ways: list[Way | None] = []
    gap: tuple[int, Places] | None = None
    for at, character in enumerate(name):
        gap = None if gap is None else (gap[0] - GAP_GROWS, gap[1])
        left = before[at - 2] if at > 1 else None
        if left is not None and (gap is None or left[0] - GAP >= gap[0]):
            gap = (left[0] - GAP, left[2])
        options: list[Way] = [(MATCH + 2 * worth[at], worth[at], (at,))] if first else []
        last = before[at - 1] if at else None
        if last is not None:
            run = max(last[1], worth[at], RUN)
            options.append((last[0] + MATCH + run, run, (*last[2], at)))
        if gap is not None:
            options.append((gap[0] + MATCH + worth[at], worth[at], (*gap[1], at)))
        ways.append(max(options, key=lambda way: way[0]) if options and character == wanted else None)
    return ways


def _has(query: str, name: str) -> bool:
    rest = iter(name)
    return all(character in rest for character in query)


def _worth(before: str, character: str) -> int:
    if not character.isalnum():
        return BOUNDARY
    if before.isspace():
        return SPACE
    if before in "/,:;|":
        return DELIMITER
    if not before.isalnum():
        return BOUNDARY
    risen = (before.islower() and character.isupper()) or (character.isdigit() and not before.isdigit())
    return CAMEL if risen else 0
