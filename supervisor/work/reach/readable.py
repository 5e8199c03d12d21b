"""Reads files for a model or an agent: only those that a command in the sandbox could read. Blocking.

A name is resolved, checked, and then opened without following links, so that exactly the checked file is opened.
Guides, skills, prompts, pictures, patches and the files of third-party agents are all read here.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from msgspec import Struct

from supervisor.disk.folders import lies_in, open_below, open_folder
from supervisor.disk.ordinary_files import NotReadable, outside_the_project

# The sandbox has its own /proc and /dev. Ours would show the daemon's keys, and reading a device can change it.
NOT_ON_DISK = (Path("/proc"), Path("/sys"), Path("/dev"))
MEMORY = Path("/dev/shm")  # noqa: S108 - no file of ours is made there
OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
Identity = tuple[int, int]  # device and inode
SHOWN = 200  # characters that are shown of a name that is no path
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class OutOfReach(NotReadable):
    """The path leads to a place that must not be read: Greenroom's own folders, /proc, or outside a project."""


class Reach(Struct, frozen=True):
    """The files that may be read. `cwd` and `home` resolve names, `hidden` are the folders that no command sees."""

    cwd: Path
    home: Path | None = None
    hidden: tuple[Path, ...] = ()

    @classmethod
    def for_commands(cls, cwd: Path, env: Mapping[str, str], hidden: tuple[Path, ...]) -> "Reach":
        """Return the reach of a conversation whose commands have this environment."""
        home = Path(env.get("HOME", ""))
        return cls(cwd, home if home.is_absolute() else None, hidden)

    def find(self, name: str, within: str = "") -> Path:
        """Return the real path of an existing file or folder that may be read. Raises NotReadable.

        `within`: a folder that it must lie in, links resolved; OutOfReach if it does not.
        """
        named = self._resolve(name)
        try:
            real = Path(os.path.realpath(named, strict=True))
        except OSError as error:
            raise _not_readable(name, error) from None
        self.check(real, name)
        if within and not lies_in(real, Path(os.path.realpath(within))):
            raise OutOfReach(outside_the_project(name, real))
        return real

    def allows(self, name: str) -> bool:
        """Tell whether a file or folder exists and may be read."""
        try:
            self.find(name)
        except NotReadable:
            return False
        return True

    def check(self, real: Path, name: str) -> None:
        """Raise OutOfReach for a resolved path that must not be read; it need not exist."""
        hidden = self.real_hidden
        if any(_lies_within(real, folder) for folder in hidden) or _hidden_by_another_name(real, hidden):
            raise OutOfReach(f"{name} belongs to Greenroom itself, and no command and no tool may read it")
        if any(_lies_within(real, folder) for folder in NOT_ON_DISK) and not self._is_own_memory(real):
            raise OutOfReach(f"{name} is not on a disk", "; a command, such as cat, can read it")

    def _is_own_memory(self, real: Path) -> bool:
        """Tell whether a path lies in the working directory, if that is in shared memory."""
        return (
            _lies_within(real, MEMORY) and _lies_within(self.real_cwd, MEMORY) and _lies_within(real, self.real_cwd)
        )

    def _resolve(self, name: str) -> Path:
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

    @property
    def hidden_files(self) -> set[Identity]:
        """The files of the hidden folders, by which hard links to them are recognised."""
        return _identities_in(self.real_hidden)

    def display_path(self, path: Path) -> str:
        """Return a path as people write it: relative if it lies below the working directory."""
        try:
            return str(path.relative_to(self.real_cwd))
        except ValueError:
            return str(path)

    def read(self, name: str, most: int, within: str = "") -> bytes:
        """Return the first `most` bytes of an ordinary file. Raises NotReadable; `within` as for `find`."""
        with self.file(name, within) as (file, _):
            try:
                return file.read(min(most, os.fstat(file.fileno()).st_size))
            except OSError as error:
                raise _not_readable(name, error) from None

    @contextmanager
    def file(self, name: str, within: str = "") -> Iterator[tuple[BufferedReader, Path]]:
        """Open an ordinary file. Raises NotReadable; `within` as for `find`."""
        real = self.find(name, within)
        try:
            handle = _open(real, name)
        except OSError as error:
            raise _not_readable(name, error) from None
        with os.fdopen(handle, "rb") as file:
            yield file, real

    @contextmanager
    def folder(self, name: str) -> Iterator[tuple[int, Path]]:
        """Open a folder for listing, as a descriptor. Raises NotReadable."""
        real = self.find(name)
        try:
            handle = open_for_listing(real)
        except NotADirectoryError:
            raise NotReadable(f"{name} is a file", ": read it with read_file") from None
        except OSError as error:
            raise _not_readable(name, error) from None
        try:
            yield handle, real
        finally:
            os.close(handle)


def open_for_listing(real: Path) -> int:
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
        raise NotReadable(f"{name} is a directory", ": list it with list_dir")
    if not stat.S_ISREG(found.st_mode):
        raise NotReadable(f"{name} is {KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}, not a file")


def _lies_within(path: Path, folder: Path) -> bool:
    """Tell whether a path lies in a folder, ignoring case as some file systems do: a false match only refuses."""
    inner, outer = str(path).casefold(), str(folder).casefold()
    return inner == outer or inner.startswith(f"{outer.rstrip('/')}/")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _hidden_by_another_name(real: Path, hidden: tuple[Path, ...]) -> bool:
    """Tell whether a path leads to a hidden folder or file by another mount, another spelling, or a hard link."""
    folders = {_identity(folder) for folder in hidden} - {None}
    if any(_identity(path) in folders for path in (real, *real.parents)):
        return True
    found = _lstat(real)
    if found is None or found.st_nlink == 1 or not stat.S_ISREG(found.st_mode):
        return False
    return (found.st_dev, found.st_ino) in _identities_in(hidden)


def _identities_in(folders: Iterable[Path]) -> set[Identity]:
    inside = (folder / name for folder in folders for name in _names_in(folder))
    return {found for path in inside if (found := _identity(path)) is not None}


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - iterdir gives no names
    except OSError:
        return []


def _identity(path: Path) -> Identity | None:
    found = _lstat(path)
    return None if found is None else (found.st_dev, found.st_ino)


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _not_readable(name: str, error: OSError) -> NotReadable:
    if error.errno == errno.ENOENT:
        return NotReadable(f"there is no {name}", "; list_dir shows what there is")
    return NotReadable(f"{name} can't be read: {error.strerror or error}")
