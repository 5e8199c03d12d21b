"""Verifies every operation against the files, before any question or write.

Reads only; blocking, for a worker thread. A plan has each file's state before and after: all operations on a path
become a single edit.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from actors.vocabulary.events import FileChange
from supervisor.work.patch.edits import FileEdit, event_changes, summary
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchMismatch, os_error_text
from supervisor.work.patch.files import FileState, TooLarge, UnfitFile, is_writable, look_at
from supervisor.work.patch.grammar import AddFile, DeleteFile, Operation, UpdateFile
from supervisor.work.patch.locate import apply_chunks
from supervisor.work.patch.missing_files import similar_files_advice
from supervisor.work.patch.paths import PatchPath, readable_path
from supervisor.work.reach.readable import Reach

READ_FAILED = "Failed to read file to update"


class PatchPlan(Struct, frozen=True):
    edits: tuple[FileEdit, ...]
    changes: Mapping[str, FileChange]  # by absolute path, for the events
    summary: str
    empty: bool  # the patch has no operations

    @property
    def touched_paths(self) -> tuple[Path, ...]:
        """The real paths of all files that are written, moved or deleted."""
        return tuple(edit.path.real for edit in self.edits)


def plan_patch(operations: Sequence[Operation], reach: Reach, effort: Effort | None = None) -> PatchPlan:
    """Plan a patch. Raises PatchMismatch or PatchTooLarge if it can't be applied; changes nothing.

    Refusals and previews show the files' content, so no file out of reach is read.
    """
    effort = effort or Effort()
    draft = _Draft(reach, effort)
    for operation in operations:
        effort.go_on()
        match operation:
            case AddFile():
                draft.add(operation)
            case DeleteFile():
                draft.delete(operation)
            case UpdateFile():
                draft.update(operation)
    edits = tuple(edit for edit in draft.edits.values() if edit.before is not None or edit.after is not None)
    changes = dict(event_changes(edits, draft.moves, effort))
    text = summary(edits, draft.moves) + "".join(f"note: {note}\n" for note in effort.notes)
    return PatchPlan(edits, changes, text, empty=not operations)


class _Draft(Struct):
    """The files as they would be after the operations so far."""

    reach: Reach
    effort: Effort
    edits: dict[Path, FileEdit] = field(default_factory=dict)
    on_disk: dict[Path, FileState | None] = field(default_factory=dict)
    moves: dict[Path, PatchPath] = field(default_factory=dict)  # targets by sources

    def add(self, operation: AddFile) -> None:
        path = self._path(operation.path)
        self._require_absent(path, operation.content)
        self._set(path, self._new_state(operation.content, None))

    def delete(self, operation: DeleteFile) -> None:
        path = self._path(operation.path)
        self._existing(path, "Failed to delete file")
        self._set(path, None)

    def update(self, operation: UpdateFile) -> None:
        path = self._path(operation.path)
        failure = READ_FAILED
        old = self._existing(path, failure)
        before = _decode(old.data, f"{failure} {path.shown}")
        new = self._new_state(apply_chunks(before, operation.chunks, str(path.shown), self.effort), old.mode)
        if operation.move_to is None:
            self._set(path, new)
        else:
            self._move(path, self._path(operation.move_to), new)

    def _new_state(self, text: str, mode: int | None) -> FileState:
        data = text.encode()
        self.effort.spend_bytes(len(data))
        return FileState(data, mode)

    def _move(self, source: PatchPath, target: PatchPath, new: FileState) -> None:
        if source.real in self.edits or target.real in self.edits:
            raise PatchMismatch(f"{source.shown} is moved and named again in one patch; use a patch for each step")
        self._require_absent(target)
        self._set(source, None)
        self._set(target, new)
        self.moves[source.real] = target

    def _path(self, written: str) -> PatchPath:
        path = readable_path(written, self.reach)
        self.effort.spend_path(path.real)
        if path.real in self.moves or any(path.real == target.real for target in self.moves.values()):
            raise PatchMismatch(f"{path.shown} is moved and named again in one patch; use a patch for each step")
        return path

    def _set(self, path: PatchPath, after: FileState | None) -> None:
        known = self.edits.get(path.real)
        before = self.on_disk[path.real]
        if before is not None and after is not None:
            after = FileState(after.data, before.mode)  # delete and add again is an update
        self.edits[path.real] = FileEdit(known.path if known else path, before, after)

    def _state(self, path: PatchPath, failure: str) -> FileState | None:
        """Return a file's current state. Each file is read once, so that an edit is compared with its original."""
        if path.real in self.edits:
            return self.edits[path.real].after
        try:
            if path.real not in self.on_disk:
                self.on_disk[path.real] = found = look_at(path.real, self.effort.bytes_left)
                self.effort.spend_bytes(len(found.data) if found else 0)
            return self.on_disk[path.real]
        except OSError as error:
            raise PatchMismatch(f"{failure} {path.shown}: {os_error_text(error)}") from None
        except TooLarge as error:
            raise self.effort.refusal("patch_bytes", f"{failure} {path.shown}: {error}") from None
        except UnfitFile as error:
            raise PatchMismatch(f"{failure} {path.shown}: {error}") from None

    def _existing(self, path: PatchPath, failure: str) -> FileState:
        state = self._state(path, failure)
        if state is None:
            instead = similar_files_advice(path.real, to_update=failure == READ_FAILED)
            raise PatchMismatch(f"{failure} {path.shown}: No such file or directory (os error 2){instead}")
        if state.mode is not None and not is_writable(path.real, state.mode):
            raise PatchMismatch(f"{failure} {path.shown}: it is write-protected")
        return state

    def _require_absent(self, path: PatchPath, content: str | None = None) -> None:
        failure = "Failed to write file"
        found = self._state(path, failure)
        if found is not None and content is not None and found.data == content.encode():
            raise PatchMismatch(
                f"{failure} {path.shown}: it exists already, with this very content: leave it out of the patch"
            )
        if found is not None:
            raise PatchMismatch(f"{failure} {path.shown}: it exists already; update it, or delete it first")


def _decode(data: bytes, failure: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise PatchMismatch(f"{failure}: it is not valid UTF-8 text") from None
