"""The changes of files that a tool call tells of, as our own patches tell theirs. Pure; effort and size are bounded.

A diff of ACP has the old and the new text of a file, or of a piece of it: then its lines are numbered from 1.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from actors.vocabulary.event_bases import FileAdd, FileChange, FileUpdate, UpdatedFile
from supervisor.agent.acp.contents import diffs_in
from supervisor.agent.acp.shapes import Shape, shape, short, text
from supervisor.agent.bounds import Bounds
from supervisor.agent.patch.diff import COMMENT, diff_lines
from supervisor.agent.patch.edits import DIFF_CONTEXT_LINES
from supervisor.agent.patch.telling import Telling
from supervisor.agent.patch.text import split_lines

MOST_FILES = 100  # of one call; patches of agents change a handful
MOST_STEPS = 100_000  # of the matcher: 25 ms, in which nobody else is served
LONGEST_PATH = 4_096

Changes = dict[str, FileChange]


def changes_in(content: Any, arguments: Any, cwd: Path | None, bounds: Bounds) -> Changes:
    """The changes that the content shows, or that stand in the arguments as Codex writes them."""
    told = Telling(bounds)
    found: Changes = {}
    for path, change in _of_codex(shape(arguments).get("changes"), told) or _of_diffs(content, told):
        name = _absolute(path, cwd)
        if name in found:
            found[name] = _both(found[name], change)
        elif len(found) < MOST_FILES and told.take(name):
            found[name] = change
    return found


def _absolute(path: str, cwd: Path | None) -> str:
    return path if path.startswith("/") or cwd is None else str(cwd / path)


def _of_diffs(content: Any, told: Telling) -> Iterator[tuple[str, FileChange]]:
    for diff in diffs_in(content):
        yield short(diff["path"], LONGEST_PATH), _of_diff(diff, told)


def _of_diff(diff: Shape, told: Telling) -> FileChange:
    old, new = text(diff.get("oldText")), text(diff.get("newText"))
    kind = shape(diff.get("_meta")).get("kind")
    if kind == "delete" or not isinstance(diff.get("newText"), str):
        return "delete"
    if not old and kind != "update":
        return _added(new, told)
    return _updated(_difference(old, new, told), None)


def _difference(old: str, new: str, told: Telling) -> str:
    size = max(len(old), len(new))
    fits = size <= told.room  # what doesn't is not even split into lines
    compared = diff_lines(old, new, DIFF_CONTEXT_LINES, most_steps=MOST_STEPS) if fits else (max(old, new, key=len),)
    return told.told(compared, size, COMMENT)


def _added(content: str, told: Telling) -> FileChange:
    added: FileAdd = {"add": {"content": told.told(split_lines(content[: told.room + 1]), len(content))}}
    return added


def _updated(diff: str, move_path: Path | None) -> FileChange:
    update: FileUpdate = {"update": UpdatedFile(unified_diff=diff, move_path=move_path)}
    return update


def _of_codex(changes: Any, told: Telling) -> tuple[tuple[str, FileChange], ...]:
    """The changes in the arguments of Codex: nothing if some of them are told otherwise."""
    read = [
        (path, _of_codex_file(shape(change), told)) for path, change in islice(shape(changes).items(), MOST_FILES)
    ]
    return tuple((path, change) for path, change in read if change) if all(change for _, change in read) else ()


def _of_codex_file(change: Shape, told: Telling) -> FileChange | None:
    match change.get("type"):
        case "add" if isinstance(change.get("content"), str):
            return _added(text(change["content"]), told)
        case "update" if isinstance(change.get("unified_diff"), str):
            diff, moved = text(change["unified_diff"]), short(change.get("move_path"), LONGEST_PATH)
            lines = split_lines(diff[: told.room + 1])
            return _updated(told.told(lines, len(diff), COMMENT), Path(moved) if moved else None)
        case "delete":
            return "delete"
        case _:
            return None


def _both(first: FileChange, second: FileChange) -> FileChange:
    """Two changes of one file in one call: their hunks one after the other; else the first stands for both."""
    one, other = _update_of(first), _update_of(second)
    if one is None or other is None:
        return first
    same = other.unified_diff in one.unified_diff
    return first if same else _updated(one.unified_diff + other.unified_diff, one.move_path or other.move_path)


def _update_of(change: FileChange) -> UpdatedFile | None:
    match change:
        case {"update": UpdatedFile() as found}:
            return found
        case _:
            return None
