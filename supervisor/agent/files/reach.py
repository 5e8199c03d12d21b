"""The files that a model may read without a command: those that a command in the sandbox could. Blocking.

A name is resolved first, judged, and then opened without following links, so what is opened is what was judged.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from msgspec import Struct

from supervisor.agent.folders import open_below, open_folder

# The sandbox has its own /proc and /dev. Ours would show the daemon's keys, and reading a device can do something.
NOT_ON_DISK = (Path("/proc"), Path("/sys"), Path("/dev"))
OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
SHOWN = 200  # characters of a name that is no path
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NotReadable(Exception):
    """The path can't be read. The text is for the model and for people: one line, with a way out."""


class Reach(Struct, frozen=True):
    """The directory that names are relative to, the user's home, and the folders that commands can't see."""

    cwd: Path
    home: Path | None = None
    hidden: tuple[Path, ...] = ()

    def find(self, name: str) -> Path:
        """Return the real path of something that is there and may be read. Raises NotReadable."""
        named = self._named(name)
        try:
            real = Path(os.path.realpath(named, strict=True))
        except OSError as error:
            raise NotReadable(_why(name, error)) from None
        if any(_within(real, folder) for folder in self.real_hidden):
            raise NotReadable(f"{name} belongs to Greenroom itself, and no command and no tool may read it")
        if any(_within(real, folder) for folder in NOT_ON_DISK):
            raise NotReadable(f"{name} is not on a disk; a command, such as cat, can read it")
        return real

    def _named(self, name: str) -> Path:
        try:
            os.fsencode(name)
        except UnicodeEncodeError:
            raise NotReadable(f"{name[:SHOWN]!a} is no path: it can't be encoded") from None
        if "\0" in name:
            raise NotReadable(f"{name[:SHOWN]!a} is no path: it has a NUL in it")
        if self.home is not None and (name == "~" or name.startswith("~/")):
            return self.home / name[2:]
        return self.cwd / name

    @property
    def real_cwd(self) -> Path:
        return _real(self.cwd)

    @property
    def real_hidden(self) -> tuple[Path, ...]:
        return tuple(map(_real, self.hidden))

    def shown(self, path: Path) -> str:
        """Return a path as people write it: relative where it lies below the directory."""
        try:
            return str(path.relative_to(self.real_cwd))
        except ValueError:
            return str(path)

    @contextmanager
    def file(self, name: str) -> Iterator[tuple[BufferedReader, Path]]:
        """Open an ordinary file. Raises NotReadable."""
        real = self.find(name)
        try:
            handle = _open(real, name)
        except OSError as error:
            raise NotReadable(_why(name, error)) from None
        with os.fdopen(handle, "rb") as file:
            yield file, real

    @contextmanager
    def folder(self, name: str) -> Iterator[tuple[int, Path]]:
        """Open a folder for listing, as a descriptor. Raises NotReadable."""
        real = self.find(name)
        try:
            handle = open_listed(real)
        except NotADirectoryError:
            raise NotReadable(f"{name} is a file: read it with read_file") from None
        except OSError as error:
            raise NotReadable(_why(name, error)) from None
        try:
            yield handle, real
        finally:
            os.close(handle)


def open_listed(real: Path) -> int:
    """Return a descriptor of a resolved folder that can be listed; the caller closes it."""
    if not real.parts[1:]:
        return os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    return open_below(open_folder(real.parent), (real.name,), flags)


def _open(real: Path, name: str) -> int:
    folder = open_folder(real.parent)
    try:
        _must_be_file(os.stat(real.name, dir_fd=folder, follow_symlinks=False), name)
    except BaseException:
        os.close(folder)
        raise
    handle = open_below(folder, (real.name,), OPEN)
    try:
        _must_be_file(os.fstat(handle), name)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _must_be_file(found: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise NotReadable(f"{name} is a directory: list it with list_dir")
    if not stat.S_ISREG(found.st_mode):
        raise NotReadable(f"{name} is {KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}, not a file")


def _within(path: Path, folder: Path) -> bool:
    """Ignore case, as some file systems do; a match too many only refuses."""
    inner, outer = str(path).casefold(), str(folder).casefold()
    return inner == outer or inner.startswith(f"{outer.rstrip('/')}/")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _why(name: str, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"there is no {name}; list_dir shows what there is"
    return f"{name} can't be read: {error.strerror or error}"
