"""A log file that can't grow without bound and whose failures never reach the caller.

Only one process writes it, on any thread; logging's own lock makes them take turns. A write is one system call and
waits for nothing but the disk.
"""

import contextlib
import logging
import os
import stat
from pathlib import Path

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_LINE_BYTES = 256 << 10  # fields are cut one by one, but there may be very many of them


class LogFile(logging.Handler):
    """A log file, rotated by size: `x.log`, `x.log.1` (newer) … `x.log.N`. Mode 0600.

    A failure is only counted: a full disk must not stop the turn that logs. The next record tries again, on a line of
    its own.
    """

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes
        self._backups = backups
        self._handle: int | None = None
        self._size = 0
        self._torn = False
        self.failures = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode("utf-8", "backslashreplace") + b"\n"
            if len(line) > _LINE_BYTES:
                line = b'{"event": "log.record_too_long", "bytes": %d}\n' % len(line)
            handle = self._current_handle()
            if self._size and self._size + len(line) > self._max_bytes:
                handle = self._rotate()
            self._write(handle, line)
        except Exception:  # noqa: BLE001 - no failure of a log may stop the caller; it is counted
            self.failures += 1

    def close(self) -> None:
        self.acquire()
        try:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
        finally:
            self.release()
        super().close()

    def _current_handle(self) -> int:
        """A handle to the file with our name: the old file may have been deleted or moved."""
        if self._handle is None:
            return self._open()
        try:
            lost = not os.path.samestat(self._path.lstat(), os.fstat(self._handle))
        except OSError:
            lost = True
        if lost:
            before = self._handle
            with contextlib.suppress(OSError):  # if its directory is gone as well, the old file is better than none
                self._open()
                os.close(before)
        return self._handle

    def _open(self) -> int:
        handle = os.open(self._path, _FLAGS, 0o600)
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode):
            os.fchmod(handle, 0o600)
            size = _whole_lines(handle, found.st_size)
            if size < found.st_size:
                os.ftruncate(handle, size)
        else:
            size = 0
        self._handle, self._size = handle, size
        return handle

    def _rotate(self) -> int:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        for index in range(self._backups - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._backup(index).replace(self._backup(index + 1))
        if self._backups:
            self._path.replace(self._backup(1))
        else:
            self._path.unlink()
        return self._open()

    def _write(self, handle: int, line: bytes) -> None:
        if self._torn:
            line = b"\n" + line
        written = os.write(handle, line)
        self._size += written
        if written == len(line):
            self._torn = False
            return
        # A disk that is nearly full takes a part. It is cut off again; if that fails, the next record begins a line.
        self.failures += 1
        self._torn = not self._take_back(handle, written)

    def _take_back(self, handle: int, size: int) -> bool:
        """Cut the last `size` bytes off again, if they are still the end of the file; false if that is impossible."""
        try:
            if os.fstat(handle).st_size != self._size:
                return False
            os.ftruncate(handle, self._size - size)
        except OSError:
            return False
        self._size -= size
        return True

    def _backup(self, index: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{index}")


def _whole_lines(handle: int, size: int) -> int:
    """The size up to the last whole line. A process that was killed may have left half a line."""
    start = max(0, size - _LINE_BYTES - 1)
    tail = os.pread(handle, size - start, start)
    end = tail.rfind(b"\n") + 1
    return start + end if end or start == 0 else size
