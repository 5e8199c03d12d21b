"""File changes of a third-party agent's tool call, in the form of our own patches. Pure; effort and size are bounded.

A diff of ACP has the old and the new text of a file, or of a piece of it: then its lines are numbered from 1.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from actors.vocabulary.event_bases import FileAdd, FileChange, FileUpdate, UpdatedFile
from supervisor.agents.acp.json_readers import Shape, diffs_in, shape, short, text
from supervisor.config.bounds import Bounds
from supervisor.work.patch.diff import COMMENT, diff_lines
from supervisor.work.patch.edits import DIFF_CONTEXT_LINES
from supervisor.work.patch.event_room import EventRoom
from supervisor.work.patch.text import split_lines

MOST_FILES = 100  # of one call; patches of agents change a handful
MOST_STEPS = 100_000  # of the matcher: 25 ms, during which the loop serves nothing else
LONGEST_PATH = 4_096

Changes = dict[str, FileChange]


class FoundChanges(Struct, frozen=True):
    """Changes by file. `further`: those that don't fit in, as there are too many or two for one file."""

    changes: Mapping[str, FileChange] = {}
    further: tuple[tuple[str, FileChange], ...] = ()


def changes_in(content: Any, arguments: Any, cwd: Path | None, bounds: Bounds) -> FoundChanges:
    """Return the changes in a call's content, and those that Codex writes into the arguments."""
    told = EventRoom(bounds)
    found: Changes = {}
    further: list[tuple[str, FileChange]] = []
    codex = _of_codex(shape(arguments).get("changes"), told)
    known = {(_absolute(path, cwd), _changed_lines(change)) for path, change in codex}
    for path, change in (*codex, *_of_diffs(content, told)):
        name = _absolute(path, cwd)
        if name in found and (name, _changed_lines(change)) in known:
            continue  # Codex sends it both ways
        joined = _join_changes(found[name], change) if name in found else None
        if joined is not None:
            found[name] = joined
        elif name not in found and len(found) < MOST_FILES and told.take(name):
            found[name] = change
        else:
            further.append((name, change))
    return FoundChanges(found, tuple(further))


def has_codex_changes(arguments: Any) -> bool:
    """Tell whether the arguments have changes as Codex writes them, each of which can be shown."""
    changes = shape(shape(arguments).get("changes"))
    known = {"add": "content", "update": "unified_diff"}
    return 0 < len(changes) <= MOST_FILES and all(
        change.get("type") == "delete" or isinstance(change.get(known.get(text(change.get("type")), "")), str)
        for change in map(shape, changes.values())
    )


def _absolute(path: str, cwd: Path | None) -> str:
    return path if path.startswith("/") or cwd is None else str(cwd / path)


def _of_diffs(content: Any, told: EventRoom) -> Iterator[tuple[str, FileChange]]:
    for diff in diffs_in(content):
        yield short(diff["path"], LONGEST_PATH), _of_diff(diff, told)


def _of_diff(diff: Shape, told: EventRoom) -> FileChange:
    old, new = text(diff.get("oldText")), text(diff.get("newText"))
    kind = shape(diff.get("_meta")).get("kind")
    if kind == "delete" or not isinstance(diff.get("newText"), str):
        return "delete"
    if not old and kind != "update":
        return _add_change(new, told)
    return _update_change(_difference(old, new, told), None)


def _difference(old: str, new: str, told: EventRoom) -> str:
    size = max(len(old), len(new))
    fits = size <= told.room  # a text that doesn't is not even split into lines
    compared = diff_lines(old, new, DIFF_CONTEXT_LINES, most_steps=MOST_STEPS) if fits else (max(old, new, key=len),)
    return told.join_fitting(compared, size, COMMENT)


def _add_change(content: str, told: EventRoom) -> FileChange:
    added: FileAdd = {"add": {"content": told.join_fitting(split_lines(content[: told.room + 1]), len(content))}}
    return added


def _update_change(diff: str, move_path: Path | None) -> FileChange:
    update: FileUpdate = {"update": UpdatedFile(unified_diff=diff, move_path=move_path)}
    return update


def _of_codex(changes: Any, told: EventRoom) -> tuple[tuple[str, FileChange], ...]:
    """Return the changes in the arguments of Codex; nothing if any of them has another form."""
    read = [
        (path, _of_codex_file(shape(change), told)) for path, change in islice(shape(changes).items(), MOST_FILES)
    ]
    return tuple((path, change) for path, change in read if change) if all(change for _, change in read) else ()


def _of_codex_file(change: Shape, told: EventRoom) -> FileChange | None:
    match change.get("type"):
        case "add" if isinstance(change.get("content"), str):
            return _add_change(text(change["content"]), told)
        case "update" if isinstance(change.get("unified_diff"), str):
            diff, moved = text(change["unified_diff"]), short(change.get("move_path"), LONGEST_PATH)
            lines = split_lines(diff[: told.room + 1])
            return _update_change(told.join_fitting(lines, len(diff), COMMENT), Path(moved) if moved else None)
        case "delete":
            return "delete"
        case _:
            return None


def _join_changes(first: FileChange, second: FileChange) -> FileChange | None:
    """Join two changes of one file in one call, hunks after hunks. None if they are no updates and differ."""
    earlier, later = _update_of(first), _update_of(second)
    if earlier is None or later is None:
        return first if first == second else None
    if later.unified_diff in earlier.unified_diff:
        return first
    return _update_change(earlier.unified_diff + later.unified_diff, earlier.move_path or later.move_path)


def _changed_lines(change: FileChange) -> tuple[str, ...]:
    """Return the removed and added lines, whatever the form of the change."""
    match change:
        case {"add": {"content": str(content)}}:
            return tuple(f"+{line}" for line in content.splitlines())
        case {"update": UpdatedFile(unified_diff=diff)}:
            return tuple(line for line in diff.splitlines() if line.startswith(("+", "-")))
        case _:
            return ("-",)


def _update_of(change: FileChange) -> UpdatedFile | None:
    match change:
        case {"update": UpdatedFile() as found}:
            return found
        case _:
            return None
