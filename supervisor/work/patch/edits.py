"""The changes of each file, and their description for people, clients and the model. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.events import FileAdd, FileChange, FileUpdate, UpdatedFile
from supervisor.work.patch.diff import COMMENT, diff_lines
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.event_room import EventRoom
from supervisor.work.patch.files import FileState
from supervisor.work.patch.paths import PatchPath
from supervisor.work.patch.text import split_lines

DIFF_CONTEXT_LINES = 1


class FileEdit(Struct, frozen=True):
    """A file before and after the whole patch; None: it doesn't exist. A move is two edits."""

    path: PatchPath
    before: FileState | None
    after: FileState | None


Moves = Mapping[Path, PatchPath]  # the target of each move, by the real path of its source


def event_changes(edits: Sequence[FileEdit], moves: Moves, effort: Effort) -> Iterator[tuple[str, FileChange]]:
    """Yield each path and its change, in the patch's order, cut to the room of an event. A move is at its source."""
    telling = EventRoom(effort.bounds)
    if not all(telling.take(str(edit.path.shown)) for edit in edits):
        raise effort.refusal("patch_event_bytes", "the names of the files alone are too long to be told")
    arrivals = {target.real for target in moves.values()}
    by_path = {edit.path.real: edit for edit in edits}
    for edit in edits:
        target = moves.get(edit.path.real)
        if target is not None:
            arrival = by_path[target.real]
            yield str(edit.path.shown), _update(edit.before, arrival.after, target.shown, telling, effort)
        elif edit.path.real not in arrivals:
            yield str(edit.path.shown), _change(edit, telling, effort)


def summary(edits: Sequence[FileEdit], moves: Moves) -> str:
    """List the files that were added, modified and deleted, as the patch wrote them. A move counts at its target."""
    arrivals = {target.real for target in moves.values()}
    lines: dict[str, list[str]] = {"A": [], "M": [], "D": []}
    for edit in edits:
        if edit.path.real not in moves:
            letter = _letter(edit, moved_here=edit.path.real in arrivals)
            lines[letter].append(f"{letter} {edit.path.written}\n")
    return "Success. Updated the following files:\n" + "".join(line for group in lines.values() for line in group)


def _letter(edit: FileEdit, *, moved_here: bool) -> str:
    if edit.after is None:
        return "D"
    return "A" if edit.before is None and not moved_here else "M"


def _change(edit: FileEdit, telling: EventRoom, effort: Effort) -> FileChange:
    if edit.after is None:
        return "delete"
    if edit.before is None:
        content = telling.join_fitting(effort.walk(split_lines(edit.after.data.decode())), len(edit.after.data))
        added: FileAdd = {"add": {"content": content}}
        return added
    return _update(edit.before, edit.after, None, telling, effort)


def _update(
    before: FileState | None, after: FileState | None, move_path: Path | None, telling: EventRoom, effort: Effort
) -> FileChange:
    # A file that is deleted and added again may not have been text before.
    old, new = (state.data.decode(errors="replace") if state else "" for state in (before, after))
    lines = diff_lines(old, new, DIFF_CONTEXT_LINES, effort.go_on)
    diff = telling.join_fitting(effort.walk(lines), max(len(old), len(new)), COMMENT)
    update: FileUpdate = {"update": UpdatedFile(unified_diff=diff, move_path=move_path)}
    return update
