"""Changes of files as a client shows them: pieces of old and new text, with their locations. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

from actors.vocabulary.visible_text import visible
from transports.dialects.acp.updates import Content, FileDiff, Location, TextContent
from transports.jsonrpc import JsonObject

HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
Changes = Mapping[str, object]  # path to change, as JSON


def diff_contents(changes: Changes) -> tuple[Content, ...]:
    return tuple(content for path, change in changes.items() for content in _contents(path, change))


def places(changes: Changes) -> tuple[Location, ...]:
    return tuple(Location(_path(path, change), _line(change)) for path, change in changes.items())


def kind(changes: Changes) -> str:
    """`delete` or `move` if all changes are, else `edit`."""
    if changes and all(change == "delete" for change in changes.values()):
        return "delete"
    moved = [_update_of(change) for change in changes.values()]
    only_moves = bool(moved) and all(update.get("move_path") and not update.get("unified_diff") for update in moved)
    return "move" if only_moves else "edit"


def _contents(path: str, change: object) -> Iterator[Content]:
    match change:
        case {"add": {"content": str(content)}}:
            yield FileDiff(path, None, content)
        case {"update": {"unified_diff": str(diff)}}:
            target = _path(path, change)
            if target != path:
                yield TextContent(f"{visible(path)} moves to {visible(target)}")
            yield from (FileDiff(target, old, new) for old, new in hunks(diff))
        case _:
            yield TextContent(f"{visible(path)} is deleted")


def hunks(diff: str) -> Iterator[tuple[str, str]]:
    """The old and the new text of each hunk."""
    old: list[str] = []
    new: list[str] = []
    in_hunk = False
    last_mark = ""
    for line in _lines(diff):
        mark, text = line[:1], line[1:]
        if mark == "@" and HUNK.match(line):
            if in_hunk:
                yield "".join(old), "".join(new)
            old, new, in_hunk = [], [], True
        elif mark == "\\":  # no newline at the end of the previous text
            for side in {" ": (old, new), "-": (old,), "+": (new,)}.get(last_mark, ()):
                side[-1:] = [side[-1].removesuffix("\n")] if side else []
        else:
            old += [text] if mark in {" ", "-"} else []
            new += [text] if mark in {" ", "+"} else []
        last_mark = mark
    if in_hunk:
        yield "".join(old), "".join(new)


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: other line ends are part of the text."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _update_of(change: object) -> JsonObject:
    updated = change.get("update") if isinstance(change, Mapping) else None
    return cast("JsonObject", updated) if isinstance(updated, Mapping) else {}


def _path(path: str, change: object) -> str:
    return str(_update_of(change).get("move_path") or path)


def _line(change: object) -> int | None:
    hunk = HUNK.search(str(_update_of(change).get("unified_diff") or ""))
    return max(1, int(hunk[2])) if hunk else None
