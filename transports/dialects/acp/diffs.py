"""Changes of files as a client shows them: pieces of old and new text, with their locations. Pure."""

import re
from collections.abc import Iterator, Mapping

from actors.vocabulary.events import FileChange, UpdatedFile
from actors.vocabulary.visible_text import visible
from transports.dialects.acp.updates import Content, FileDiff, Location, TextContent

HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
Changes = Mapping[str, FileChange]  # path to change
NO_UPDATE = UpdatedFile(unified_diff="")


def diff_contents(changes: Changes) -> tuple[Content, ...]:
    return tuple(content for path, change in changes.items() for content in _contents(path, change))


def places(changes: Changes) -> tuple[Location, ...]:
    return tuple(Location(_path(path, change), _line(change)) for path, change in changes.items())


def kind(changes: Changes) -> str:
    """`delete` or `move` if all changes are, else `edit`."""
    if changes and all(change == "delete" for change in changes.values()):
        return "delete"
    moved = [_update_of(change) for change in changes.values()]
    only_moves = bool(moved) and all(update.move_path and not update.unified_diff for update in moved)
    return "move" if only_moves else "edit"


def _contents(path: str, change: FileChange) -> Iterator[Content]:
    match change:
        case {"add": {"content": content}}:
            yield FileDiff(path, None, content)
        case {"update": UpdatedFile(unified_diff=diff)}:
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


def _update_of(change: FileChange) -> UpdatedFile:
    match change:
        case {"update": UpdatedFile() as update}:
            return update
        case _:
            return NO_UPDATE


def _path(path: str, change: FileChange) -> str:
    return str(_update_of(change).move_path or path)


def _line(change: FileChange) -> int | None:
    hunk = HUNK.search(_update_of(change).unified_diff)
    return max(1, int(hunk[2])) if hunk else None
