"""Standard input, output and error as a shell may hand them over: closed, full, or lacking letters."""

import errno
import os
import sys
from typing import TextIO

from supervisor.cli.problems import Problem

OF_THE_OUTPUT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO}


def prepare() -> None:
    """Each descriptor below 3 is open afterwards, so that no socket of ours is taken for one of them."""
    while True:
        free = os.open(os.devnull, os.O_RDONLY)  # what is written to a closed output fails, as it should
        if free > 2:  # of the standard ones none was closed, or none is any more
            os.close(free)
            break
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # for as long as we live
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a name may have letters that this terminal lacks


def problem(error: OSError) -> Problem:
    """What the system refused, and where."""
    why = error.strerror or str(error)
    if error.filename is None and error.errno in OF_THE_OUTPUT:  # files of ours have a name
        let_go(sys.stdout)
        return Problem(f"the output can't be written: {why}", "look at where it goes")
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    return Problem(f"{where}{why}", "`greenroom doctor` looks at disk and directories")


def let_go_if_broken() -> None:
    if _broken(sys.stdout):
        let_go(sys.stdout)


def let_go(stream: TextIO) -> None:
    """What is still in its buffer goes nowhere: the interpreter would try again at its end, and complain."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return  # not one of the system's
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    stream.flush()


def _broken(stream: TextIO) -> bool:
    try:
        stream.flush()
    except (OSError, ValueError):
        return True
    return False
