"""Records temporary files created for a command, so that the next daemon can remove those of a killed one.

A file for each life, with a line of JSON for each entry, written before the entry is made and after it is gone. It is
not synced: it has to survive the daemon's death, not the machine's. Any thread. An entry is removed only if it is
still empty, or the same file that was noted, so no other program's file is lost.
"""

import contextlib
import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import structlog
from msgspec import Struct, convert, field
from msgspec.structs import asdict

from supervisor.disk.folders import open_folder

log = structlog.get_logger()
LINES = 4_096  # after so many, the file is rewritten with the entries that still exist
READ_BYTES = 16 << 20  # of the ledger of a life; a longer file is no ledger of ours
LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class LeftoverEntry(Struct, frozen=True):
    """An entry of a folder. `inode`: the only file that may be removed; 0: any empty file or folder by that name."""

    folder: str
    device: int
    folder_inode: int
    name: str
    inode: int = 0


def entry_in(folder: int, name: str, inode: int = 0) -> LeftoverEntry:
    found = os.fstat(folder)
    return LeftoverEntry(str(Path(f"/proc/self/fd/{folder}").readlink()), found.st_dev, found.st_ino, name, inode)


class LeftoverLedger(Struct):
    """The ledger of this life, in a folder of such ledgers. Without a folder it writes nothing."""

    folder: Path | None = None
    _standing: dict[LeftoverEntry, int] = field(default_factory=dict)
    _file: int | None = None
    _lines: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, entry: LeftoverEntry) -> None:
        """Note an entry before it is made. Raises OSError if it can't be noted: then it must not be made."""
        with self._lock:
            self._standing[entry] = self._standing.get(entry, 0) + 1
            self._write("made", entry)

    def note_removed(self, entry: LeftoverEntry) -> None:
        with self._lock:
            left = self._standing.pop(entry, 1) - 1
            if left > 0:
                self._standing[entry] = left
                return
            with contextlib.suppress(OSError):  # a full disk: the next start looks for it in vain
                self._write("gone", entry)

    def close(self) -> None:
        """Remove the file of this life, if no entry is left."""
        with self._lock:
            if self._file is not None and not self._standing and self.folder is not None:
                os.close(self._file)
                self._file = None
                self._path.unlink(missing_ok=True)

    @property
    def _path(self) -> Path:
        assert self.folder is not None  # noqa: S101  # callers have checked
        return self.folder / f"{os.getpid()}.{self._life}"

    _life: str = field(default_factory=lambda: os.urandom(4).hex())

    def _write(self, what: str, entry: LeftoverEntry) -> None:
        if self.folder is None:
            return
        if self._file is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o600)
        if not self._standing or self._lines >= LINES:
            os.ftruncate(self._file, 0)
            self._lines = len(self._standing)
            os.write(self._file, b"".join(_line("made", entry) for entry in self._standing))
            return
        self._lines += 1
        os.write(self._file, _line(what, entry))


def clear(folder: Path) -> int:
    """Remove the entries of earlier lives; return the number of their ledgers. Only before the first command."""
    removed = 0
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            left = {entry for entry in _standing_in(file) if not _remove(entry)}
            removed += 1
            if left:
                file.write_bytes(b"".join(_line("made", entry) for entry in left))
            else:
                file.unlink()
        except OSError as error:
            log.warning("sandbox.leftovers_unread", file=str(file), error=str(error))
    return removed


def _standing_in(file: Path) -> Iterator[LeftoverEntry]:
    with file.open("rb") as stream:
        lines = stream.read(READ_BYTES).splitlines()
    standing: dict[LeftoverEntry, None] = {}
    for line in lines:
        try:
            record = json.loads(line)
            entry = convert(record["entry"], LeftoverEntry)
        except (ValueError, TypeError, KeyError):  # the last line of a life that was killed while it wrote
            continue
        if record["what"] == "made":
            standing[entry] = None
        else:
            standing.pop(entry, None)
    yield from standing


def _remove(entry: LeftoverEntry) -> bool:
    """Remove an entry, if it is still the noted one. False: another daemon's command uses it."""
    try:
        folder = open_folder(Path(entry.folder))
    except OSError:
        return True  # the folder is gone, or replaced
    try:
        found = os.fstat(folder)
        if (found.st_dev, found.st_ino) != (entry.device, entry.folder_inode):
            return True
        return remove_empty(folder, entry.name, entry.inode)
    except FileNotFoundError:
        return True
    except OSError as error:
        log.warning("sandbox.leftover_stays", path=f"{entry.folder}/{entry.name}", error=str(error))
        return True
    finally:
        os.close(folder)


def remove_empty(folder: int, name: str, inode: int = 0) -> bool:
    """Remove an empty entry, or the file with this inode. False if another process has locked it."""
    lock = os.open(name, LOOK, dir_fd=folder)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        found = os.fstat(lock)
        if stat.S_ISDIR(found.st_mode):
            if not inode and not os.listdir(lock):  # noqa: PTH208 - of a descriptor
                os.rmdir(name, dir_fd=folder)
        elif stat.S_ISREG(found.st_mode) and (found.st_ino == inode if inode else found.st_size == 0):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(lock)
    return True


def _line(what: str, entry: LeftoverEntry) -> bytes:
    return json.dumps({"what": what, "entry": asdict(entry)}).encode() + b"\n"
