"""A check that the journal's files are still in place, because everything written into a deleted file is lost.

Runs on the committing thread, before each commit and every few seconds, at the cost of two system calls, and two more
after the commit. SQLite itself writes to deleted and shortened files without any error.
"""

import os
from pathlib import Path
from typing import NoReturn

from actors.vocabulary.errors import JournalError, StorageLost
from supervisor.journal.journal_errors import journal_error

Identity = tuple[int, int]  # device and inode
O_PATH = getattr(os, "O_PATH", None)  # Linux only; closing any other descriptor of the file would drop SQLite's locks


class Presence:
    def __init__(self, path: Path) -> None:
        self._file, self._log = str(path), f"{path}-wal"  # as text: this runs at every commit, and a Path is slow
        self._ids: dict[str, Identity] = {}
        self._sizes: dict[str, int] = {}
        self._handles: dict[str, int] = {}
        self.shortened_file: str | None = None
        self._note(self._file)

    def close(self) -> None:
        while self._handles:
            os.close(self._handles.popitem()[1])

    def insist(self) -> None:
        """Raise StorageLost if a file is not in place. A file that was put back is accepted. Any thread."""
        for name in (self._file, self._log):
            self._status_in_place(name)

    def insist_whole(self) -> None:
        """Raise StorageLost also if a file was cut short. It stays lost, like anything written after the hole."""
        if self.shortened_file is None and self._as_they_were():
            return
        for name in (self._file, self._log):
            found = self._status_in_place(name)
            if found is not None and found.st_size < self._sizes.get(name, 0):
                self.shortened_file = name
        if self.shortened_file is not None:
            self._raise_lost(self.shortened_file, "was cut short")

    def measure(self) -> None:
        """Note the sizes after a commit. Until the next commit only another program can make the files shorter."""
        for name in self._ids:
            handle = self._handles.get(name)
            found = _look(name) if handle is None else os.fstat(handle)
            if found is not None:
                self._sizes[name] = found.st_size

    def _as_they_were(self) -> bool:
        """Whether nothing has changed, by the fastest check. If not, a closer look is needed."""
        try:
            for name in (self._file, self._log):
                found = os.stat(name)  # noqa: PTH116  # a Path takes as long as the call
                if (found.st_dev, found.st_ino) != self._ids.get(name) or found.st_size < self._sizes.get(name, 0):
                    return False
        except OSError:
            return False
        return True

    def _status_in_place(self, name: str) -> os.stat_result | None:
        if name not in self._ids:
            self._note(name)  # the first write creates the log, which stays until the journal is closed
            return None
        found = _look(name)
        if _identity(found) != self._ids[name]:
            self._raise_lost(name, "was replaced by another file" if found else self._fate(name))
        return found

    def _raise_lost(self, name: str, fate: str) -> NoReturn:
        raise StorageLost(f"{name} {fate} while the daemon had it open; nothing is stored any more")

    def file_is_here(self) -> bool:
        return _identity(_look(self._file)) == self._ids[self._file]

    def is_deleted(self) -> bool:
        """Whether the file has no name left, and so ends with this process."""
        handle = self._handles.get(self._file)
        return handle is None or os.fstat(handle).st_nlink == 0

    def _fate(self, name: str) -> str:
        if name != self._file or self.is_deleted():
            return "was deleted"
        place = str(Path(f"/proc/self/fd/{self._handles[self._file]}").readlink())
        return f"was moved to {place}" if _identity(_look(place)) == self._ids[name] else "went away with its disk"

    def _note(self, name: str) -> None:
        found = _identity(_look(name))
        if found is None:
            return
        self._ids[name] = found
        if O_PATH is not None:
            handle = os.open(name, O_PATH | os.O_CLOEXEC)
            right = _identity(os.fstat(handle)) == found
            if not right or self._handles.setdefault(name, handle) != handle:  # another thread was quicker
                os.close(handle)


def problem(presence: Presence) -> JournalError | None:
    try:
        presence.insist_whole()
    except JournalError as error:
        return error
    return None


def _look(name: str) -> os.stat_result | None:
    """The file's status; None only if there is certainly no such file. Errors of the disk are raised."""
    try:
        return Path(name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise journal_error(error, Path(name)) from error


def _identity(found: os.stat_result | None) -> Identity | None:
    return None if found is None else (found.st_dev, found.st_ino)
