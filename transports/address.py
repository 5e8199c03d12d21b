"""Socket paths that are too long for a system call: the kernel takes about a hundred bytes.

Standard library only, and little of it: the bridge imports this module.
"""

# ruff: noqa: PTH119, PTH120 # importing pathlib takes a third of the bridge's whole start

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # loading collections.abc costs more than this whole module
if TYPE_CHECKING:
    from collections.abc import Callable

LINUX = sys.platform == "linux"
PATH_LIMIT = 107 if LINUX else 103  # bytes; the kernel keeps one more for the NUL


def use_short_path(path: str, use: Callable[[str], object]) -> None:
    """Call `use` (a bind or a connect) with a path that fits: the given one, or one through its open directory."""
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
