"""Changes of files as a client shows them: pieces of old and new text, and where they are. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from actors.vocabulary.visible import visible
from transports.dialects.acp.updates import Content, FileDiff, Location, Text
from transports.jsonrpc import JsonObject

HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
Changes = Mapping[str, object]  # paths, and what becomes of each, as JSON has it


def shown(changes: Changes) -> tuple[Content, ...]:
    return tuple(one for path, change in changes.items() for one in _shown(path, change))


def places(changes: Changes) -> tuple[Location, ...]:
    return tuple(Location(_path(path, change), _line(change)) for path, change in changes.items())


def kind(changes: Changes) -> str:
    """`delete` or `move` if that is all, else `edit`."""
    if changes and all(change == "delete" for change in changes.values()):
        return "delete"
    moved = [_updated(change) for change in changes.values()]
    only_moves = bool(moved) and all(one.get("move_path") and not one.get("unified_diff") for one in moved)
    return "move" if only_moves else "edit"


def _shown(path: str, change: object) -> Iterator[Content]:
    match change:
        case {"add": {"content": str(content)}}:
            yield FileDiff(path, None, content)
        case {"update": {"unified_diff": str(diff)}}:
            target = _path(path, change)
            if target != path:
                yield Text(f"{visible(path)} moves to {visible(target)}")
            yield from (FileDiff(target, old, new) for old, new in hunks(diff))
        case _:
            yield Text(f"{visible(path)} is deleted")


def hunks(diff: str) -> Iterator[tuple[str, str]]:
    """The old and the new text of each hunk."""
    old: list[str] = []
    new: list[str] = []
    begun = False
    last = ""
    for line in _lines(diff):
        mark, text = line[:1], line[1:]
        if mark == "@" and HUNK.match(line):
            if begun:
                yield "".join(old), "".join(new)
            old, new, begun = [], [], True
        elif mark == "\\":  # there is no newline at the end of the text before
            for side in {" ": (old, new), "-": (old,), "+": (new,)}.get(last, ()):
                side[-1:] = [side[-1].removesuffix("\n")] if side else []
        else:
            old += [text] if mark in {" ", "-"} else []
            new += [text] if mark in {" ", "+"} else []
        last = mark
    if begun:
        yield "".join(old), "".join(new)


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: other line ends are part of the text."""
    parts = text.split("\n")
    return [f"{one}\n" for one in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _updated(change: object) -> JsonObject:
    updated = change.get("update") if isinstance(change, Mapping) else None
    return cast("JsonObject", updated) if isinstance(updated, Mapping) else {}


def _path(path: str, change: object) -> str:
    return str(_updated(change).get("move_path") or path)


def _line(change: object) -> int | None:
    found = HUNK.search(str(_updated(change).get("unified_diff") or ""))
    return max(1, int(found[2])) if found else None
