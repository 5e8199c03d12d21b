"""Whether the journal's files are still where they were opened: what is written into a deleted file is kept nowhere.

On the committing thread, before each commit and every few seconds; a look costs two calls of the system. SQLite
itself goes on writing into files that have lost their name, and says nothing.
"""

import os
from pathlib import Path

from actors.errors import JournalError, StorageLost
from supervisor.journal.failures import typed

Identity = tuple[int, int]  # device and inode
O_PATH = getattr(os, "O_PATH", None)  # Linux: to close any other descriptor of the file would drop SQLite's locks


class Presence:
    def __init__(self, path: Path) -> None:
        self._file = path
        self._log = path.with_name(f"{path.name}-wal")
        self._ids: dict[Path, Identity] = {}
        self._handle = os.open(path, O_PATH | os.O_CLOEXEC) if O_PATH is not None else None
        self._note(path)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def insist(self) -> None:
        """Raises StorageLost. A file that comes back is there again."""
        for path in (self._file, self._log):
            if path not in self._ids:
                self._note(path)  # the log is made by the first write, and stays as long as we do
                continue
            found = _identity(path)
            if found != self._ids[path]:
                what = "was replaced by another file" if found else self._fate(path)
                raise StorageLost(f"{path} {what} while the daemon had it open; nothing is stored any more")

    def file_is_here(self) -> bool:
        return _identity(self._file) == self._ids[self._file]

    def deleted(self) -> bool:
        """Whether the file itself has no name left, and goes with us."""
        return self._handle is None or os.fstat(self._handle).st_nlink == 0

    def _fate(self, path: Path) -> str:
        if path != self._file or self.deleted():
            return "was deleted"
        there = Path(f"/proc/self/fd/{self._handle}").readlink()
        return f"was moved to {there}" if _identity(there) == self._ids[path] else "went away with its disk"

    def _note(self, path: Path) -> None:
        found = _identity(path)
        if found is not None:
            self._ids[path] = found


def problem(presence: Presence) -> JournalError | None:
    try:
        presence.insist()
    except JournalError as error:
        return error
    return None


def _identity(path: Path) -> Identity | None:
    """None only if it is known that there is no such file; a disk that can't be asked raises what it says."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise typed(error, path) from error
    return found.st_dev, found.st_ino
