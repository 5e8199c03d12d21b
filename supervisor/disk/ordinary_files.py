"""Read files that others have named: ordinary files only, because a pipe or a terminal could block for ever.

Standard library alone; blocking. Reads for a model or an agent go through `reach.readable`, which judges the place
first.
"""

import os
import stat
from pathlib import Path


class NotReadable(Exception):
    """The path can't be read. `reason` is a line for people; the text for a model adds a way out, with its tools."""

    def __init__(self, reason: str, way_out: str = "") -> None:
        super().__init__(reason + way_out)
        self.reason = reason


def outside_the_project(name: str, real: object) -> str:
    """Return the reason why a file that a project links to is not read."""
    return f"{name} leads out of the project, to {real}; put a copy in its place if models are to read it"


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
