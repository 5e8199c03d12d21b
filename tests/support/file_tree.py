"""A directory as a value, so that a test can say `nothing changed`."""

import os
import stat
from pathlib import Path

FileTree = dict[str, tuple[int, bytes | str]]


def file_tree(root: Path) -> FileTree:
    """Every name below, with its mode and content: bytes, a link's target, or nothing."""
    return {str(path.relative_to(root)): _entry(path) for path in sorted(root.rglob("*"))}


def _entry(path: Path) -> tuple[int, bytes | str]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return mode, str(path.readlink())
    return mode, path.read_bytes() if stat.S_ISREG(mode) else os.fsencode("")
