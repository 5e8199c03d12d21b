"""The private directory of the socket, and the socket file: prepare, clear, bind. Files only."""

import contextlib
import os
import socket
import stat
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.errors import ConfigError
from transports.address import use_short_path


class Inode(Struct, frozen=True):
    """The identity of a file, whatever its name."""

    device: int
    number: int


def inode_of(path: Path) -> Inode | None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        status = path.lstat()
        return Inode(status.st_dev, status.st_ino)
    return None


def prepare(directory: Path) -> None:
    """Make the directory, or check that it is ours, and keep others out."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.lstat()
    except OSError as error:
        raise ConfigError(f"no directory for the socket: {directory}: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise ConfigError(f"{directory} is not a directory that Greenroom may use")
    if stat.S_IMODE(status.st_mode) & 0o077:
        directory.chmod(0o700)


def clear(path: Path, *, lock_held: bool) -> None:
    """Remove the socket of a daemon that is gone. Only the holder of the daemon's lock can know that it is."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} is in the way and is not a socket; remove it")
    if not lock_held:
        raise ConfigError(f"{path} exists; another daemon may be using it")
    path.unlink()


def bind(path: Path) -> tuple[socket.socket, Inode]:
    """Bind a listening socket that nobody else can open at any moment. It gets its name when it takes clients."""
    if inode_of(path) is not None:
        raise ConfigError(f"can't listen on {path}: something is there")
    fresh = path.with_suffix(".new")  # no longer than the name itself
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        umask = os.umask(0o177)  # for the whole process, but only ever stricter than it was
        try:
            fresh.unlink(missing_ok=True)
            use_short_path(os.fspath(fresh), sock.bind)
        finally:
            os.umask(umask)
        sock.listen(socket.SOMAXCONN)
        fresh.rename(path)
        inode = inode_of(path)
    except OSError as error:
        sock.close()
        raise ConfigError(f"can't listen on {path}: {error.strerror}") from error
    if inode is None:
        sock.close()
        raise ConfigError(f"{path} was deleted while it was made")
    return sock, inode
