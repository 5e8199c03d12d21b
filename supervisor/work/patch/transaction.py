"""A sequence of changes to disk with their undos: on failure the finished changes are undone in reverse. Blocking.

Owns open folders, temporary files and backups for the time of a `with` block. Knows nothing of patches.
"""

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from supervisor.disk.folders import FOLDER, exists_in, open_up
from supervisor.work.patch.files import temporary_name

Undo = Callable[[], object]


class Transaction:
    def __init__(self, umask: int, pinned: Mapping[Path, tuple[int, int]]) -> None:
        self._umask = umask  # of the conversation's client; this process has a stricter one
        self._pinned = pinned
        self.not_undone: list[str] = []
        self._stack = ExitStack()
        self._finished = False
        self._folders: dict[Path, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._finished = kind is None
        self._stack.close()

    def on_failure(self, description: str, undo: Undo) -> None:
        """Register an undo. If that fails as well, its description goes into `not_undone`."""
        self._stack.callback(self._undo, description, undo)

    def folder(self, path: Path) -> int:
        """Return a descriptor of this resolved folder; make it with its parents if it is missing."""
        for at in (*reversed(path.parents), path):
            if at not in self._folders:
                above = self._folders.get(at.parent)
                descriptor = os.open("/", FOLDER) if above is None else self._open_or_make(above, at.name)
                self._stack.callback(os.close, descriptor)
                self._require_pinned(at, descriptor)
                self._folders[at] = descriptor
        return self._folders[path]

    def write_new(self, folder: int, data: bytes, mode: int | None) -> str:
        """Write a temporary file into its final folder. It is deleted at the end, unless it was renamed."""
        name = temporary_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
        self._stack.callback(self._discard, folder, name)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fchmod(descriptor, 0o666 & ~self._umask if mode is None else mode)
        finally:
            os.close(descriptor)
        return name

    def link_backup(self, folder: int, name: str) -> str | None:
        """Give the file a second name, which is kept if it can't be put back; None if it can't have another name."""
        backup = temporary_name()
        try:
            os.link(name, backup, src_dir_fd=folder, dst_dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError:  # no hard links here, too many of them, or not for this file
            return None
        self._stack.callback(self._discard, folder, backup)
        return backup

    def _open_or_make(self, parent: int, name: str) -> int:
        try:
            return os.open(name, FOLDER, dir_fd=parent)
        except FileNotFoundError:
            os.mkdir(name, 0o700, dir_fd=parent)
            self.on_failure(f"remove {name}", partial(os.rmdir, name, dir_fd=parent))
            open_up(parent, name, 0o777 & ~self._umask)
            return os.open(name, FOLDER, dir_fd=parent)

    def _require_pinned(self, path: Path, folder: int) -> None:
        found = os.fstat(folder)
        if self._pinned.get(path, (found.st_dev, found.st_ino)) != (found.st_dev, found.st_ino):
            raise OSError(errno.ESTALE, "the directory was replaced by another", str(path))

    def _undo(self, description: str, undo: Undo) -> None:
        if self._finished:
            return
        try:
            undo()
        except OSError as error:
            self.not_undone.append(f"{description}: {error.strerror}")

    def _discard(self, folder: int, name: str) -> None:
        """Delete a temporary file. A failure is ignored: by now the patch is applied, or undone."""
        if not self.not_undone:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def put(folder: int, temporary: str, name: str) -> None:
    """Give the file its name, which must be free: a link never overwrites, and is made in one step with the check."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if exists_in(folder, name):
            raise FileExistsError from None
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
