"""Standard input, output and error, any of which may be closed, full, or unable to show some letters."""

import errno
import os
import sys
from typing import TextIO

from supervisor.cli.kit.problems import Problem

OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO}


def prepare() -> None:
    """Open every descriptor below 3 that is closed, so that no socket gets its number."""
    while True:
        free = os.open(os.devnull, os.O_RDONLY)  # a write to a closed output fails, as it should
        if free > 2:  # no standard descriptor is closed any more
            os.close(free)
            break
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # open until the process ends
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a name may have letters that this terminal lacks


def problem(error: OSError) -> Problem:
    """The problem for an error of the system, and the file or stream it concerns."""
    why = error.strerror or str(error)
    if error.filename is None and error.errno in OUTPUT_ERRORS:  # an error about a file names the file
        discard_buffer(sys.stdout)
        return Problem(f"the output can't be written: {why}", "check where it goes")
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    return Problem(f"{where}{why}", "`greenroom doctor` checks disk and directories")


def discard_output_if_broken() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_buffer(sys.stdout)


def discard_buffer(stream: TextIO) -> None:
    """Drop the text in the buffer: the interpreter would try to write it at its end, and complain."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return  # not a stream of the system
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    stream.flush()
