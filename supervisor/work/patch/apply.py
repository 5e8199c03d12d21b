"""Writes a verified plan to disk: all of it, or nothing. Blocking, for a worker thread; keeps no state.

Between plan and apply an hour may have passed. Every file is compared again, by the inode that its backup keeps
alive, and replaced only while its name still leads to that inode.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from supervisor.disk.umask import USUAL
from supervisor.work.patch.edits import FileEdit
from supervisor.work.patch.errors import PatchError, PatchFailed, PatchStale, os_error_text
from supervisor.work.patch.files import TEMPORARY_PREFIX, FileState, UnfitFile, look
from supervisor.work.patch.plan import PatchPlan
from supervisor.work.patch.transaction import Transaction, put


class _Old(Struct, frozen=True):
    """The file to be replaced or deleted."""

    state: FileState
    identity: tuple[int, ...]
    backup: str


class _Step(Struct, frozen=True):
    edit: FileEdit
    folder: int
    old: _Old | None
    fresh: str | None  # the temporary file with the new content

    @property
    def name(self) -> str:
        return self.edit.path.real.name


def apply_plan(plan: PatchPlan, umask: int = USUAL, pinned: Mapping[Path, tuple[int, int]] | None = None) -> str:
    """Write a plan, and return the success text. `pinned`: folders that must still be these inodes.

    After PatchStale or PatchFailed every file is as it was, or the text names those that are not.
    """
    transaction = Transaction(umask, pinned or {})
    try:
        with transaction:
            for step in [_prepare(transaction, edit) for edit in plan.edits]:
                with _explain_errors(step.edit):
                    _commit(transaction, step)
    except PatchError as error:
        if not transaction.not_undone:
            raise type(error)(f"{error.message}; nothing was written") from error
        left = "; could not ".join(transaction.not_undone)
        raise PatchFailed(f"{error.message}; could not {left}; see the files {TEMPORARY_PREFIX}* there") from error
    return plan.summary


def _prepare(transaction: Transaction, edit: FileEdit) -> _Step:
    """Do everything that needs space or permission, before any file is changed."""
    with _explain_errors(edit):
        real = edit.path.real
        folder = transaction.folder(real.parent)
        old = None
        if edit.before is not None:
            old = _back_up(transaction, folder, edit, edit.before)
        elif look(folder, real.name, most=0) is not None:
            raise _stale(edit)
        fresh = None
        if edit.after is not None:
            mode = old.state.mode if old else edit.after.mode
            fresh = transaction.write_new(folder, edit.after.data, mode)
        return _Step(edit, folder, old, fresh)


def _back_up(transaction: Transaction, folder: int, edit: FileEdit, expected: FileState) -> _Old:
    name = edit.path.real.name
    backup = transaction.link_backup(folder, name)
    identity = _identity(folder, backup or name)
    state = look(folder, backup or name, most=len(expected.data))
    if state is None or state.data != expected.data:
        raise _stale(edit)
    return _Old(state, identity, backup or transaction.write_new(folder, state.data, state.mode))


def _commit(transaction: Transaction, step: _Step) -> None:
    folder, name, old, fresh = step.folder, step.name, step.old, step.fresh
    if old is None:
        if fresh is not None:
            put(folder, fresh, name)
            transaction.on_failure(f"remove {name}", partial(os.unlink, name, dir_fd=folder))
        return
    if _identity(folder, name) != old.identity:
        raise _stale(step.edit)
    if fresh is not None:
        os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        undo = partial(os.replace, old.backup, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
        undo = partial(put, folder, old.backup, name)
    transaction.on_failure(f"put back {name}", undo)
    # A program that had the old file open may have written to it after the comparison; the backup is that same file.
    if look(folder, old.backup, most=len(old.state.data)) != old.state:
        raise _stale(step.edit)


def _identity(folder: int, name: str) -> tuple[int, ...]:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _stale(edit: FileEdit) -> PatchStale:
    return PatchStale(f"{edit.path.shown} has changed since the patch was verified and has to be read again")


@contextmanager
def _explain_errors(edit: FileEdit) -> Iterator[None]:
    verb = "delete" if edit.after is None else "write"
    failure = f"Failed to {verb} file {edit.path.written}"
    try:
        yield
    except (FileNotFoundError, FileExistsError, UnfitFile) as error:
        raise _stale(edit) from error
    except OSError as error:
        raise PatchFailed(f"{failure}: {os_error_text(error)}") from error
