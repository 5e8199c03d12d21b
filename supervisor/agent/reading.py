"""Reads a file that somebody else has named: ordinary ones only, so that nobody waits for a pipe or a terminal."""

import os
import stat
from pathlib import Path


class NoOrdinaryFile(OSError):
    """A directory, a pipe, a device, a socket."""


def read_ordinary(path: Path, max_bytes: int) -> bytes:
    """The first `max_bytes` of it. Blocking, for a worker thread; OSError where there is nothing to read."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer would hold the open
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise NoOrdinaryFile(0, "is not a file")
        return os.read(handle, min(max_bytes, found.st_size))
    finally:
        os.close(handle)
