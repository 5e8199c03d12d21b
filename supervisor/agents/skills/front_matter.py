"""The front matter of a Markdown file: single values of its YAML, read as people write them. Pure, standard library.

No YAML reader: two keys are wanted, each as one line of text, and a file may come from anybody.
"""

import json
import re
from collections.abc import Iterator, Mapping

FENCE, ENDS = "---", ("---", "...")
KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*)|$)")
BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(#.*)?")
COMMENT = re.compile(r"(^|\s)#.*")


class NoFrontMatter(Exception):
    """The file does not begin with front matter. The text gives the reason."""


def front_matter(text: str) -> Mapping[str, str]:
    """Return the keys of the top level, each with its value as one line of text. Raises NoFrontMatter."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise NoFrontMatter("it does not begin with front matter, a line `---`")
    end = next((place for place, line in enumerate(lines[1:], 1) if line.rstrip() in ENDS), None)
    if end is None:
        raise NoFrontMatter("its front matter has no end, a second line `---`")
    return {key: " ".join(_value(parts).split()) for key, parts in _entries(lines[1:end])}


def _entries(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each key of the top level, and the lines of its value."""
    key, parts = "", list[str]()
    for line in lines:
        found = KEY.fullmatch(line)
        if found is None:
            parts.append(line)
            continue
        if key:
            yield key, parts
        key, parts = found[1], [found[2] or ""]
    if key:
        yield key, parts


def _value(parts: list[str]) -> str:
    first, *more = parts
    if BLOCK.fullmatch(first):
        return "\n".join(more)
    whole = "\n".join((first, *more)).strip()
    if whole[:1] == '"' and (quoted := re.match(r'"(?:[^"\\]|\\.)*"', whole, re.DOTALL)):
        return _unescape(quoted[0])
    if whole[:1] == "'" and (quoted := re.match(r"'(?:[^']|'')*'", whole)):
        return quoted[0][1:-1].replace("''", "'")
    return "\n".join(COMMENT.sub("", part) for part in parts)


def _unescape(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:  # an escape that YAML has and JSON has not
        return quoted[1:-1]
