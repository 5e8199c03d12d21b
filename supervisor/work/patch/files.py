"""Reads a patch's files by folder and name, without following links. Blocking."""

import os
import secrets
import stat
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import open_folder

TEMPORARY_PREFIX = ".greenroom-patch-"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UnfitFile(Exception):
    """The path is not an ordinary file. The text follows a colon."""


class TooLarge(UnfitFile):
    """The file is larger than the bytes that may still be read."""


class FileState(Struct, frozen=True):
    """The content of a regular file. `mode` None: a new file, whose mode follows from the client's umask."""

    data: bytes
    mode: int | None


def look(folder: int, name: str, most: int) -> FileState | None:
    """Read a file; None if there is none. Raises OSError, UnfitFile; TooLarge beyond `most` bytes, holes included."""
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _require_ordinary(before, folder, name, most)
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        opened = os.fstat(descriptor)
        _require_ordinary(opened, folder, name, most)
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLarge(f"it is larger than {most} bytes")
    return FileState(data, stat.S_IMODE(opened.st_mode))


def look_at(path: Path, most: int) -> FileState | None:
    """Read a file by a path with a resolved folder; None if it or its folder is missing."""
    try:
        folder = open_folder(path.parent)
    except FileNotFoundError:
        return None
    try:
        return look(folder, path.name, most)
    finally:
        os.close(folder)


def is_writable(path: Path, mode: int) -> bool:
    """Tell whether a file may be changed, even if it could be replaced. The mode counts for root, too."""
    return bool(mode & 0o222) and os.access(path, os.W_OK)


def temporary_name() -> str:
    return TEMPORARY_PREFIX + secrets.token_hex(8)


def _require_ordinary(found: os.stat_result, folder: int, name: str, most: int) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFLNK:
        target = os.readlink(name, dir_fd=folder)
        raise UnfitFile(f"it is a symbolic link to {target}; patch that file itself")
    if kind == stat.S_IFDIR:
        raise UnfitFile("Is a directory (os error 21)")
    if kind != stat.S_IFREG:
        raise UnfitFile("it is not an ordinary file")
    if found.st_size > most:
        raise TooLarge(f"it has {found.st_size} bytes, and {most} are left")
