"""Read files that somebody else has named: ordinary files only, because a pipe or a terminal could block for ever."""

import os
import stat
from pathlib import Path


class NoOrdinaryFile(OSError):
    """The path is a directory, a pipe, a device or a socket."""


def read_ordinary(path: Path | str, max_bytes: int) -> bytes:
    """Read the first `max_bytes` of a file. Blocking, for a worker thread; OSError where there is nothing to read."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # opening a pipe without a writer would block
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise NoOrdinaryFile(0, "is not a file")
        return os.read(handle, min(max_bytes, found.st_size))
    finally:
        os.close(handle)
