"""Folders opened component by component without following links: the path that was given is the path that is opened.

Callers pass resolved paths. A link met on the way was put there since, so the open fails with OSError. Blocking.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

# Passing through a folder must not need the right to list it.
PASS = getattr(os, "O_PATH", getattr(os, "O_SEARCH", os.O_RDONLY)) | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER = PASS | os.O_DIRECTORY
STAMP_NS = 1_000_000_007_123_456_789  # of a placeholder's last change, in September 2001; a later write ends it
NAMES = 100  # tried for a file that is set aside; a command may have taken some on purpose


def lies_in(path: Path, folder: Path) -> bool:
    """Tell whether a path is a folder or lies in it. `is_relative_to` is slow: it splits both paths each time."""
    return path == folder or str(path).startswith(f"{folder}/" if folder.parts[1:] else "/")


def open_folder(path: Path) -> int:
    """Return a descriptor of a resolved folder; the caller closes it."""
    return open_below(os.open("/", FOLDER), path.parts[1:])


def open_below(folder: int, names: tuple[str, ...], flags: int = FOLDER) -> int:
    """Open a path below a folder; `flags` are for the last name. Takes `folder` over, and closes it."""
    for number, name in enumerate(names, 1):
        try:
            below = os.open(name, flags if number == len(names) else FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def exists_in(folder: int, name: str) -> bool:
    """Tell whether a folder has the name. A link counts, wherever it leads."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def free_name(folder: int, name: str) -> str:
    """Return the name, or the first free name with a number. Raises FileExistsError."""
    for candidate in (name, *(f"{name}.{number}" for number in range(2, NAMES))):
        if not exists_in(folder, candidate):
            return candidate
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


@contextlib.contextmanager
def passable(folder: int) -> Iterator[None]:
    """Restore the owner's rights in a folder for a while, if a command took them."""
    mode, name = stat.S_IMODE(os.fstat(folder).st_mode), f"/proc/self/fd/{folder}"
    if mode & stat.S_IRWXU == stat.S_IRWXU:
        yield
        return
    with contextlib.suppress(PermissionError):  # another user's folder
        Path(name).chmod(mode | stat.S_IRWXU)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            Path(name).chmod(mode)


def open_up(parent: int, name: str, mode: int) -> None:
    """Give a new folder its rights, and keep its set-group-id bit, which it may have from its parent."""
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.fchmod(descriptor, os.fstat(descriptor).st_mode & 0o7000 | mode)
    finally:
        os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Remove a folder of ours and all that a command left in it, even where it took our rights. Raises nothing."""
    from shutil import rmtree  # with three ways of compression, for which an idle daemon has no use

    for at, below, _ in os.walk(folder):
        for name in below:
            path = Path(at, name)
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(0o700)
        with contextlib.suppress(OSError):
            Path(at).chmod(0o700)
    rmtree(folder, ignore_errors=True)
