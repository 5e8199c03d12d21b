"""Finds the unix sockets on this machine, for a command that may use only some of them. Reads /proc."""

import os
import stat
from collections.abc import Collection
from pathlib import Path

LISTED = Path("/proc/net/unix")
NAME = 7  # the column of the path
# Folders in which a user's programs put their sockets; later sockets are covered with the folder.
FOLDERS = ("/run/user/{uid}", "/tmp/tmux-{uid}", "/tmp/.X11-unix", "/tmp/.ICE-unix")  # noqa: S108 - looked at only


def sockets_to_cover(named: Collection[Path]) -> tuple[list[Path], list[Path]]:
    """Return the folders, and the socket files outside of them, that must be covered."""
    wanted = (Path(folder.format(uid=os.getuid())) for folder in FOLDERS)
    folders = [folder for folder in wanted if folder.is_dir() and not folder.is_symlink()]
    lines = LISTED.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    listed = {Path(os.path.realpath(row[NAME])) for line in lines if (row := line.split(maxsplit=NAME))[NAME:]}
    files = sorted(path for path in listed if path not in named and _is_socket(path))
    return folders, [path for path in files if not any(path.is_relative_to(folder) for folder in folders)]


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except (OSError, ValueError):  # gone, of another mount namespace, or an abstract name
        return False
