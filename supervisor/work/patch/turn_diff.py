"""All changes by a turn's patches, as git would show them.

Remembers the first state of each file, as far as there is room, and reads the last.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.disk.work_tree import is_work_tree
from supervisor.work.patch.diff import COMMENT, GoOn, diff_lines
from supervisor.work.patch.event_room import EventRoom
from supervisor.work.patch.files import FileState, UnfitFile, look_at
from supervisor.work.patch.plan import PatchPlan

BINARY = 8000  # bytes in which git looks for a NUL, to recognise a binary file
CONTEXT_LINES = 3
NO_BLOB = "0" * 40


class TurnChanges:
    """The changed files of a turn. `diff` blocks on the disk, for a worker thread; `remember` doesn't."""

    def __init__(self, cwd: Path, bounds: Bounds = DEFAULTS) -> None:
        self._bounds = bounds
        self._room = bounds.patch_bytes
        self._left_out: set[Path] = set()
        self._base = git_root(cwd) or Path(os.path.realpath(cwd))
        self._before: dict[Path, FileState | None] = {}

    def remember(self, plan: PatchPlan) -> None:
        """Remember an applied plan; of each file the state before the first plan is kept."""
        for edit in plan.edits:
            if edit.path.real not in self._before:
                self._remember(edit.path.real, edit.before)

    def _remember(self, path: Path, before: FileState | None) -> None:
        size = len(before.data) if before else 0
        if size > self._room or len(self._before) >= self._bounds.patch_files:
            self._left_out.add(path)
        else:
            self._room -= size
            self._before[path] = before

    def diff(self, go_on: GoOn = lambda: None) -> str:
        telling = EventRoom(self._bounds)
        return "".join(self._diffs(telling, go_on))

    def _diffs(self, telling: EventRoom, go_on: GoOn) -> Iterator[str]:
        for path, before in sorted(self._before.items()):
            go_on()
            try:
                now = look_at(path, self._bounds.patch_bytes)
            except (OSError, UnfitFile):
                continue  # no longer a file that a patch could have made
            sizes = (len(state.data) for state in (before, now) if state)
            yield telling.join_fitting(
                git_diff_lines(self._name(path), before, now, go_on), max(sizes, default=0), COMMENT
            )
            if telling.room <= 0:
                return
        if self._left_out:
            yield f"{COMMENT}[… {len(self._left_out)} more files are not shown …]\n"

    def _name(self, path: Path) -> str:
        """Return a path relative to the repository or working directory, or absolute without its first slash."""
        base = self._base if path.is_relative_to(self._base) else Path("/")
        return str(path.relative_to(base))


def git_root(cwd: Path) -> Path | None:
    real = Path(os.path.realpath(cwd))
    return next((folder for folder in (real, *real.parents) if is_work_tree(str(folder))), None)


def git_diff_lines(
    name: str, old: FileState | None, new: FileState | None, go_on: GoOn = lambda: None
) -> Iterator[str]:
    """Yield the diff of a file as git writes it; nothing if it is unchanged."""
    same_bytes = old is not None and new is not None and old.data == new.data
    if (old is None and new is None) or (same_bytes and _mode(old) == _mode(new)):
        return
    yield f"diff --git {_quote('a/' + name)} {_quote('b/' + name)}\n"
    if old is None:
        yield f"new file mode {_mode(new)}\n"
    elif new is None:
        yield f"deleted file mode {_mode(old)}\n"
    elif _mode(old) != _mode(new):
        yield f"old mode {_mode(old)}\nnew mode {_mode(new)}\n"
    if not same_bytes:
        yield f"index {blob_id(old)}..{blob_id(new)}\n"
        left = "/dev/null" if old is None else _quote("a/" + name)
        right = "/dev/null" if new is None else _quote("b/" + name)
        yield from _content_diff(left, right, old, new, go_on)


def _content_diff(left: str, right: str, old: FileState | None, new: FileState | None, go_on: GoOn) -> Iterator[str]:
    try:
        before, after = (_text(state) for state in (old, new))
    except UnicodeDecodeError:
        yield f"Binary files {left} and {right} differ\n"
        return
    for number, line in enumerate(diff_lines(before, after, CONTEXT_LINES, go_on)):
        if not number:
            yield f"--- {_mark_end(left)}\n+++ {_mark_end(right)}\n"
        yield line


def _text(state: FileState | None) -> str:
    """Decode a text as git recognises it. Raises UnicodeDecodeError for a binary file."""
    data = state.data if state else b""
    if b"\0" in data[:BINARY]:
        raise UnicodeDecodeError("utf-8", b"\0", 0, 1, "a NUL")
    return data.decode()


def blob_id(state: FileState | None) -> str:
    if state is None:
        return NO_BLOB
    # git names a blob by SHA-1; no security depends on it.
    blob = hashlib.sha1(b"blob %d\0" % len(state.data), usedforsecurity=False)
    blob.update(state.data)
    return blob.hexdigest()


def _mode(state: FileState | None) -> str:
    return "100755" if state is not None and state.mode is not None and state.mode & 0o100 else "100644"


def _quote(name: str) -> str:
    """Quote a name that would break the header's line, in git's C style."""
    if all(character.isprintable() and character not in '"\\' for character in name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    octal = "".join(c if c.isprintable() else "".join(f"\\{byte:03o}" for byte in os.fsencode(c)) for c in escaped)
    return f'"{octal}"'


def _mark_end(name: str) -> str:
    """End a name with blanks by a tab, as git does, so that its end is clear."""
    return name + "\t" if " " in name and not name.startswith('"') else name
