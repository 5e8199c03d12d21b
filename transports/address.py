"""The name of a socket for a system call: the kernel takes about a hundred bytes, directories may be deeper.

Standard library only, and little of it: the bridge imports this.
"""

# ruff: noqa: PTH119, PTH120 # pathlib alone takes a third of the time that the bridge may take

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # loading collections.abc costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Callable

LINUX = sys.platform == "linux"
PATH_LIMIT = 107 if LINUX else 103  # bytes; the kernel keeps one more for the NUL


def reached(path: str, use: Callable[[str], object]) -> None:
    """Call `use` (a bind or a connect) with a name of this path that fits: through its open directory, if need be."""
    if len(os.fsencode(path)) <= PATH_LIMIT:
        use(path)
        return
    if not LINUX:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        use(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
    finally:
        os.close(directory)
