"""The place of a daemon's socket: in its home, or in a fresh directory if the home can hold no socket.

Some file systems have no sockets (shares of a virtual machine, FAT, some of FUSE), and macOS takes no long path. The
lock file then has the address. Only the holder of the home's lock may call this.
"""

# ruff: noqa: PTH106, PTH108, PTH118, PTH120 # pathlib is slow to import, and most starts need nothing of this

import contextlib
import errno
import os
import socket

from supervisor.paths import Paths, UnsafePath, remember
from transports.address import use_short_path

NO_HELP_ELSEWHERE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES}  # the journal would fail by the same
TEMP_ROOT = "/tmp"  # noqa: S108 - the name below it is random, made by us or not at all


def place_for(paths: Paths) -> Paths:
    """The paths with a socket that can be made. Also notes where XDG variables moved the home (see `remember`)."""
    # A HOME that can't be written keeps no note; then only the variables count.
    with contextlib.suppress(OSError, UnsafePath):
        remember(paths)
    return paths if _holds_sockets(paths.run) else paths.listening_at(_temporary_socket())


def remove_own_directory(paths: Paths) -> None:
    """Remove the directory if it was made for the socket alone."""
    directory = os.path.dirname(paths.socket)
    if directory != paths.run:
        with contextlib.suppress(OSError):
            os.rmdir(directory)


def _holds_sockets(directory: str) -> bool:
    """Whether a socket can be made there; found out by making one."""
    path = os.path.join(directory, "greenroom.try")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            use_short_path(path, probe.bind)
        os.unlink(path)
    except OSError as error:
        if error.errno in NO_HELP_ELSEWHERE:
            raise OSError(error.errno, error.strerror, path) from error
        return False
    return True


def _temporary_socket() -> str:
    import tempfile

    return os.path.join(tempfile.mkdtemp(prefix="greenroom-", dir=TEMP_ROOT), "greenroom.sock")
